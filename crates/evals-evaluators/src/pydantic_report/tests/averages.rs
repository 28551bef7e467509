//! Averages by the rules of pydantic-evals.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::super::{Entries, EvaluationReport, ReportCase};

/// The averages of a report by the rules of pydantic-evals.
///
/// - A score, a metric and a label is averaged over the cases that have it; assertions are pooled.
/// - A case whose task failed is in no average, and neither is an evaluator that failed.
/// - If cases ran several times, the runs of a case are averaged first, and then the cases. A case without a successful run is
///   in no average.
///
/// A summary of our own counts failures; [`evals::Summary`] makes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Averages {
    /// Mean scores.
    pub(super) scores: Entries<f64>,
    /// For each label the share of each of its classes.
    pub(super) labels: Entries<Entries<f64>>,
    /// Mean metrics.
    pub(super) metrics: Entries<f64>,
    /// The share of assertions that passed; `None` if there are none.
    pub(super) assertions: Option<f64>,
    /// Mean seconds of the task.
    pub(super) task_duration: f64,
    /// Mean seconds of the task and the evaluators.
    pub(super) total_duration: f64,
}

/// A sum with the number of its terms.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    n: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.n += 1.0;
    }

    fn value(self) -> Option<f64> {
        (self.n > 0.0).then(|| self.sum / self.n)
    }
}

impl FromIterator<f64> for Mean {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut mean = Self::default();
        for value in values {
            mean.add(value);
        }
        mean
    }
}

impl EvaluationReport {
    /// The averages of the report; `None` if no case succeeded.
    pub(super) fn averages(&self) -> Option<Averages> {
        if self.cases.is_empty() {
            return None;
        }
        let repeated = self
            .cases
            .iter()
            .any(|case| case.source_case_name.is_some())
            || self
                .failures
                .iter()
                .any(|case| case.source_case_name.is_some());
        if !repeated {
            return Some(of_cases(self.cases.iter()));
        }
        let mut groups: Entries<Vec<&ReportCase>> = Entries::default();
        for case in &self.cases {
            let name = case.source_case_name.as_ref().unwrap_or(&case.name);
            groups.entry(name).push(case);
        }
        let groups = groups.values().map(|runs| of_cases(runs.iter().copied()));
        Some(of_averages(&groups.collect::<Vec<_>>()))
    }
}

fn of_cases<'c>(cases: impl Iterator<Item = &'c ReportCase> + Clone) -> Averages {
    let scores = cases.clone().map(|case| {
        let scores = case.scores.iter();
        scores.map(|(name, result)| (name, float(&result.value)))
    });
    let metrics = cases.clone().map(|case| {
        let metrics = case.metrics.iter();
        metrics.map(|(name, metric)| (name, float(metric)))
    });
    let mut labels: Entries<Entries<f64>> = Entries::default();
    for (name, label) in cases.clone().flat_map(|case| case.labels.iter()) {
        *labels.entry(name).entry(&label.value) += 1.0;
    }
    let assertions = cases.clone().flat_map(|case| case.assertions.values());
    let assertions: Mean = assertions
        .map(|assertion| f64::from(u8::from(assertion.value)))
        .collect();
    Averages {
        scores: means(scores.flatten()),
        labels: labels
            .iter()
            .map(|(name, counts)| (name, shares(counts)))
            .collect(),
        metrics: means(metrics.flatten()),
        assertions: assertions.value(),
        task_duration: mean(cases.clone().map(|case| case.task_duration)),
        total_duration: mean(cases.map(|case| case.total_duration)),
    }
}

fn of_averages(all: &[Averages]) -> Averages {
    let scores = all.iter().flat_map(|one| one.scores.iter());
    let metrics = all.iter().flat_map(|one| one.metrics.iter());
    let copied = |(name, value): (_, &f64)| (name, *value);
    let mut labels: Entries<(f64, Entries<f64>)> = Entries::default();
    for (name, shares) in all.iter().flat_map(|one| one.labels.iter()) {
        let (n, sums) = labels.entry(name);
        *n += 1.0;
        for (class, share) in shares.iter() {
            *sums.entry(class) += share;
        }
    }
    let labels = labels.iter().map(|(name, (n, sums))| {
        let shares = sums.iter().map(|(class, sum)| (class, sum / n));
        (name, shares.collect::<Entries<f64>>())
    });
    let assertions: Mean = all.iter().filter_map(|one| one.assertions).collect();
    Averages {
        scores: means(scores.map(copied)),
        labels: labels.collect(),
        metrics: means(metrics.map(copied)),
        assertions: assertions.value(),
        task_duration: mean(all.iter().map(|one| one.task_duration)),
        total_duration: mean(all.iter().map(|one| one.total_duration)),
    }
}

fn means<'n>(values: impl Iterator<Item = (&'n str, f64)>) -> Entries<f64> {
    let mut means: Entries<Mean> = Entries::default();
    for (name, value) in values {
        means.entry(name).add(value);
    }
    let means = means
        .iter()
        .filter_map(|(name, mean)| Some((name, mean.value()?)));
    means.collect()
}

fn shares(counts: &Entries<f64>) -> Entries<f64> {
    let all: f64 = counts.values().sum();
    let shares = counts.iter().map(|(class, count)| (class, count / all));
    shares.collect()
}

/// The mean of one duration for each of at least one case.
fn mean(seconds: impl Iterator<Item = f64>) -> f64 {
    let mean: Mean = seconds.collect();
    mean.value().expect("there is at least one case")
}

fn float(number: &Number) -> f64 {
    number.as_f64().expect("every number of JSON is a float")
}
