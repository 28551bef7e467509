//! A judge against the labels that a dataset holds: agreement, ROC, and by kind of error.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use evals::{
    Analysis, CaseId, CaseReport, EvaluatorError, Report, ReportEvaluator, Value as Verdict,
};
use evals_data::Labels;
use evals_messages::quantity;
use evals_metrics::{
    Agreement, Bootstrap, Confusion, Estimate, Scale, as_f64, mean_interval, roc_area,
};
use evals_rag::Question;
use evals_rag::qa::Qa;
use evals_runs::annotations::estimates;
use serde_json::{Value, json};

const LEVEL: f64 = 0.95;

/// The lowest scores that count as a pass, in the table of the ROC curve.
const THRESHOLDS: [f64; 4] = [1.0, 0.9, 0.75, 0.5];

/// A case with the judge's score, from 0 to 1, and what people found wrong with its answer.
struct Labelled {
    score: f64,
    kinds: Vec<String>,
    /// The number of its cluster.
    cluster: usize,
}

impl Labelled {
    /// Whether all that the answer says was judged right.
    fn passes(&self, least: f64) -> bool {
        self.score >= least
    }
}

/// Refuses labels that cannot be read, before anything is judged.
pub(crate) fn check(labels: &Labels, questions: &[Question]) -> Result<()> {
    for question in questions {
        let read = labels.kinds(&question.metadata);
        read.with_context(|| format!("question `{}`", question.id))?;
    }
    Ok(())
}

/// How far the judge of a report agrees with the labels that its dataset holds: counts, statistics with their intervals, points of the ROC
/// curve, and the errors that the judge found, by kind.
#[derive(Debug)]
pub(crate) struct LabelAgreement(pub(crate) Labels);

#[async_trait]
impl ReportEvaluator<Qa> for LabelAgreement {
    fn name(&self) -> &'static str {
        "agreement with labels"
    }

    async fn evaluate(&self, report: &Report<Qa>) -> Result<Vec<Analysis>, EvaluatorError> {
        let Self(labels) = self;
        let (answers, left_out) = labelled(labels, report);
        let counted = confusion(&answers, THRESHOLDS[0]);
        let count = |number: usize| number as u64;
        let matrix = Analysis::ConfusionMatrix {
            title: format!("`{}` against the labels of people", labels.measure),
            description: Some(notes(labels, report, &answers, left_out)),
            class_labels: ["pass", "fail"].map(str::to_owned).into(),
            matrix: vec![
                vec![count(counted.true_passes), count(counted.false_fails)],
                vec![count(counted.false_passes), count(counted.true_fails)],
            ],
        };
        Ok(vec![
            matrix,
            statistics(&answers, &counted),
            thresholds(&answers),
            by_kind(&answers),
        ])
    }
}

/// What the counts are of, and what a reader has to know about them.
fn notes(
    labels: &Labels,
    report: &Report<Qa>,
    answers: &[Labelled],
    left_out: [usize; 2],
) -> String {
    let mut notes =
        vec!["Rows: people. Columns: the judge, which passes an answer with score 1.".to_owned()];
    let metadata = || report.cases.iter().map(|case| &case.metadata.0);
    let unknown = labels.errors.iter();
    let unknown = unknown.filter(|name| metadata().all(|facts| !facts.contains_key(*name)));
    notes.extend(unknown.map(|name| format!("No question has a label `{name}`.")));
    for (count, lack) in left_out.into_iter().zip(["a verdict", "a label"]) {
        if count > 0 {
            let answers = quantity::of(count, "answer");
            notes.push(format!("{answers} without {lack} left out."));
        }
    }
    let clusters: BTreeSet<usize> = answers.iter().map(|it| it.cluster).collect();
    if clusters.len() < answers.len() {
        notes.push(format!(
            "The answers come in {}: the intervals of kappa and of the ROC area ignore that, and are too narrow.",
            quantity::of(clusters.len(), "cluster")
        ));
    }
    notes.join(" ")
}

/// The labelled cases, each once: of its repetitions, the score that more than half reach. And how many cases have no verdict, and how many
/// others no label.
fn labelled(labels: &Labels, report: &Report<Qa>) -> (Vec<Labelled>, [usize; 2]) {
    let mut cases = BTreeMap::<&CaseId, (&CaseReport<Qa>, Vec<f64>)>::new();
    for case in &report.cases {
        let (_, scores) = cases.entry(&case.id).or_insert((case, Vec::new()));
        scores.extend(score(case, &labels.measure));
    }
    let mut answers = Vec::new();
    let [mut unjudged, mut unlabelled] = [0, 0];
    let mut clusters = BTreeMap::new();
    for (case, mut scores) in cases.into_values() {
        // A case without a cluster is alone.
        let id = (case.cluster.is_none()).then_some(&case.id);
        let next = clusters.len();
        let cluster = *clusters
            .entry((case.cluster.as_deref(), id))
            .or_insert(next);
        scores.sort_by(f64::total_cmp);
        let Some(&score) = scores.get(scores.len().saturating_sub(1) / 2) else {
            unjudged += 1;
            continue;
        };
        match labels.kinds(&case.metadata.0) {
            Ok(Some(kinds)) => answers.push(Labelled {
                score,
                kinds,
                cluster,
            }),
            // Labels that cannot be read were refused before.
            Ok(None) | Err(_) => unlabelled += 1,
        }
    }
    (answers, [unjudged, unlabelled])
}

fn score(case: &CaseReport<Qa>, measure: &str) -> Option<f64> {
    let outcome = case.outcomes.iter().find(|it| it.name == measure)?;
    match outcome.value {
        Verdict::Score(score) => Some(score),
        Verdict::Assertion(passes) => Some(f64::from(u8::from(passes))),
        _ => None,
    }
}

/// The agreement, whose shares have intervals that know clusters.
fn agreement(answers: &[Labelled], counted: &Confusion) -> Agreement {
    let mut agreement = Agreement::of_sample(counted, LEVEL);
    let shares = [
        (&mut agreement.agreement, None),
        (&mut agreement.true_pass_rate, Some(true)),
        (&mut agreement.true_fail_rate, Some(false)),
    ];
    for (estimate, people_pass) in shares {
        if let Ok(estimate) = estimate {
            let of = answers.iter();
            let of = of.filter(|it| people_pass.is_none_or(|pass| pass == it.kinds.is_empty()));
            let agreeing = of.map(|it| (it, it.kinds.is_empty() == it.passes(THRESHOLDS[0])));
            estimate.interval = share(agreeing).interval;
        }
    }
    agreement
}

/// The share of answers of which something holds, with its interval.
fn share<'l>(answers: impl Iterator<Item = (&'l Labelled, bool)>) -> Estimate {
    let values = answers.map(|(it, holds)| (it.cluster, f64::from(holds)));
    let (clusters, values): (Vec<usize>, Vec<f64>) = values.unzip();
    let settings = Bootstrap::default();
    let interval = mean_interval(&values, Some(&clusters), Scale::Share, &settings);
    Estimate {
        value: values.iter().sum::<f64>() / as_f64(values.len().max(1)),
        n: values.len(),
        interval: interval.ok(),
    }
}

/// The statistics of agreement, and how well the judge finds the answers that people failed.
fn statistics(answers: &[Labelled], counted: &Confusion) -> Analysis {
    let shown = estimates(&agreement(answers, counted)).into_iter();
    let mut rows: Vec<Vec<Value>> = shown
        .map(|it| {
            let cells = [it.name, &it.value, &it.n, &it.interval, it.meaning];
            cells.map(Value::from).into()
        })
        .collect();
    let (failed, wrong) = (counted.judge_fails(), counted.people_fail());
    let both = failed + wrong;
    for (name, found, of, meaning) in [
        (
            "precision",
            counted.true_fails,
            failed,
            "people fail what the judge fails",
        ),
        (
            "recall",
            counted.true_fails,
            wrong,
            "the judge fails what people fail, as TNR",
        ),
        (
            "F1",
            2 * counted.true_fails,
            both,
            "the harmonic mean of precision and recall",
        ),
    ] {
        let share = (of > 0).then(|| format!("{:.4}", as_f64(found) / as_f64(of)));
        rows.push(vec![
            json!(name),
            json!(share),
            json!(of.to_string()),
            Value::Null,
            json!(meaning),
        ]);
    }
    let scores = |wanted: bool| -> Vec<f64> {
        let wanted = answers.iter().filter(|it| it.kinds.is_empty() == wanted);
        wanted.map(|it| it.score).collect()
    };
    let area = roc_area(&scores(true), &scores(false), LEVEL);
    let area = area.map(|it| value_and_interval(&it)).unwrap_or_default();
    let meaning = "a right answer has a higher score than a wrong one";
    let [value, interval] = area;
    rows.push(vec![
        json!("ROC area"),
        value,
        json!(answers.len().to_string()),
        interval,
        json!(meaning),
    ]);
    let columns = ["statistic", "value", "labels", "95 % interval", "meaning"];
    table("agreement with the labels", &columns, rows)
}

fn confusion(answers: &[Labelled], least: f64) -> Confusion {
    let pairs = answers.iter();
    pairs
        .map(|it| (it.kinds.is_empty(), it.passes(least)))
        .collect()
}

/// Some points of the ROC curve.
fn thresholds(answers: &[Labelled]) -> Analysis {
    let mut rows = Vec::new();
    let mut last = None;
    for least in THRESHOLDS {
        let counted = confusion(answers, least);
        if last.replace(counted) == Some(counted) {
            continue;
        }
        let found = Agreement::of_sample(&counted, LEVEL);
        let value = |it: Result<Estimate, _>| json!(it.ok().map(|it| format!("{:.4}", it.value)));
        rows.push(vec![
            json!(format!("≥ {least}")),
            value(found.true_pass_rate),
            value(found.true_fail_rate),
            value(found.kappa),
        ]);
    }
    let columns = ["judge passes", "TPR", "TNR", "kappa"];
    table("if the judge passed lower scores", &columns, rows)
}

/// For each kind of error, and for answers without one, how often the judge failed the answer.
fn by_kind(answers: &[Labelled]) -> Analysis {
    let mut kinds = BTreeMap::<&str, Vec<(&Labelled, bool)>>::new();
    for answer in answers {
        let none = answer.kinds.is_empty().then_some("(none)");
        for kind in answer.kinds.iter().map(String::as_str).chain(none) {
            let failed = !answer.passes(THRESHOLDS[0]);
            kinds.entry(kind).or_default().push((answer, failed));
        }
    }
    let rows = kinds.into_iter().map(|(kind, answers)| {
        let failed = answers.iter().filter(|(_, failed)| *failed).count();
        let [share, interval] = value_and_interval(&share(answers.iter().copied()));
        vec![
            json!(kind),
            json!(answers.len()),
            json!(failed),
            share,
            interval,
        ]
    });
    let columns = ["error", "answers", "judge fails", "share", "95 % interval"];
    table("errors that the judge found", &columns, rows.collect())
}

fn table(title: &str, columns: &[&str], rows: Vec<Vec<Value>>) -> Analysis {
    Analysis::Table {
        title: title.to_owned(),
        description: None,
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
        rows,
    }
}

fn value_and_interval(estimate: &Estimate) -> [Value; 2] {
    let interval = estimate.interval;
    let interval = interval.map(|it| format!("[{:.4}, {:.4}]", it.low, it.high));
    [json!(format!("{:.4}", estimate.value)), json!(interval)]
}
