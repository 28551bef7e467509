//! The report of a pool as sentences and tables, and what a reader has to know before trusting its numbers.

use evals::render::percent;
use evals::render::tables::Table;
use evals_messages::quantity;
use evals_metrics::{Estimate, GradedAgreement, Interval, Mean};
use evals_models::ModelIdentity;

use super::judgement::Assessor;
use super::pool::PooledRun;
use super::report::{Judges, PoolReport, PooledMeasure, RELEVANT_FROM};

/// Shown in place of an undefined number.
const NONE: &str = "–";
/// Below this weighted kappa, agreement is no better than "fair": Landis and Koch, "The Measurement of Observer Agreement for Categorical
/// Data", Biometrics 33 (1977).
const FAIR: f64 = 0.4;
/// Below this, it is no better than "slight".
const SLIGHT: f64 = 0.2;
/// The roles whose models write or rank what the judge grades.
const JUDGED_ROLES: [(&str, &str); 2] = [("answerer", "answers"), ("reranker", "reranks")];

impl PoolReport {
    /// What was judged, in a few sentences.
    pub fn opening(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{}: top {} of {}, {} and {}; version {}",
            self.dataset,
            self.depth,
            quantity::of(self.runs.len(), "run"),
            quantity::of(self.questions, "question"),
            quantity::of(self.pairs, "pair"),
            self.version
        )];
        if let Some(judge) = &self.judge {
            lines.push(format!("{judge} judged {} of them", self.by_model));
        }
        if self.by_people > 0 {
            lines.push(format!(
                "people judged {} of them, {} in full",
                self.by_people,
                quantity::of(self.drawn.questions, "drawn question")
            ));
        }
        if let Some(agreement) = &self.agreement {
            let kappa = agreement.kappa.map_or(NONE.to_owned(), estimate);
            lines.push(format!(
                "model and people agree on {} of {}; weighted kappa {kappa}",
                percent(agreement.equal.value),
                quantity::of(agreement.equal.n, "passage")
            ));
        }
        if let Some((question, document)) = &self.drawn.next {
            lines.push(format!(
                "next for people: document `{document}` for question `{question}`, of which {} to judge",
                match self.drawn.next_pairs {
                    1 => "1 passage is".to_owned(),
                    n => format!("{n} passages are"),
                }
            ));
        }
        lines
    }

    /// The measures, how much is judged, and whether the judgements order the runs equally. A table without rows is left out.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.measures(), self.judged(), self.orders()];
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    fn measures(&self) -> Table {
        let all = || self.runs.iter().flat_map(|run| &run.measures);
        let rows = self.runs.iter().flat_map(|run| {
            let measures = run.measures.iter();
            measures.map(|measure| self.row(&run.run, measure))
        });
        let method = match self.judge {
            Some(_) => "prediction-powered inference",
            None => "inverse probabilities",
        };
        let mut notes = vec![format!(
            "relevant is what has grade {RELEVANT_FROM} or more; corrected: what people would have found, by {method} \
             over whole questions; needed: how many questions people have to judge for an interval {} wide",
            self.width
        )];
        let reasons = all().filter_map(|it| it.corrected.as_ref().err());
        let mut reasons: Vec<String> = reasons.map(|it| format!("not corrected: {it}")).collect();
        let excluded = all().flat_map(|it| it.model.excluded.keys());
        reasons.extend(excluded.map(|it| format!("n leaves out questions with {it}")));
        reasons.sort();
        reasons.dedup();
        notes.extend(reasons);
        if self.parts > 0 {
            notes.push(format!(
                "of {} a passage is judged, because the document is long or not in the corpus",
                quantity::of(self.parts, "pair")
            ));
        }
        if self.drawn.not_counted > 0 {
            notes.push(format!(
                "{} that people judged only in part, or ahead of the drawn order, correct nothing yet",
                quantity::of(self.drawn.not_counted, "question")
            ));
        }
        Table {
            heads: texts([
                "Run",
                "Measure",
                "by model",
                "n",
                "corrected",
                "needed",
                "by dataset",
            ]),
            rows: rows.collect(),
            notes,
        }
    }

    fn row(&self, run: &str, it: &PooledMeasure) -> Vec<String> {
        let corrected = it.corrected.as_ref().ok();
        let shown = corrected.map(|it| with_interval(it.value, it.interval));
        let needed = corrected.and_then(|it| it.drawn_for(self.width));
        let none = || NONE.to_owned();
        vec![
            run.to_owned(),
            it.measure.clone(),
            mean(&it.model),
            it.model.n.to_string(),
            shown.unwrap_or_else(none),
            needed.map_or_else(none, |needed| needed.to_string()),
            mean(&it.dataset),
        ]
    }

    fn judged(&self) -> Table {
        let rows = self.runs.iter().map(|run| {
            let [all, judged @ ..] = run.judged;
            let share = |part: usize| match all {
                0 => NONE.to_owned(),
                all => percent(evals_metrics::as_f64(part) / evals_metrics::as_f64(all)),
            };
            let mut row = vec![run.run.clone(), all.to_string()];
            row.extend(judged.map(share));
            row
        });
        let top = format!("top {}", self.depth);
        Table {
            heads: texts(["Judged", &top, "by model", "by people", "by dataset"]),
            rows: rows.collect(),
            notes: Vec::new(),
        }
    }

    fn orders(&self) -> Table {
        let rows = self.orders.iter().map(|order| {
            let with = match order.with {
                Judges::Dataset => "dataset",
                _ => "people",
            };
            let [tau, tau_ap] = match &order.agreement {
                Ok(found) => [estimate(found.tau), estimate(found.tau_ap)],
                Err(reason) => [reason.to_string(), NONE.to_owned()],
            };
            texts([&*order.measure, with, &*tau, &*tau_ap])
        });
        Table {
            heads: texts(["Order of the runs", "model and", "Kendall's τ", "τ_AP"]),
            rows: rows.collect(),
            notes: Vec::new(),
        }
    }

    pub(super) fn warn(&self, runs: &[PooledRun], judge: Option<&Assessor>) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(Assessor::Model { identity, .. }) = judge {
            warnings.extend(runs.iter().filter_map(|run| own_work(run, identity)));
        }
        warnings.extend(self.agreement.as_ref().and_then(bad_agreement));
        if self.judge.is_some() && self.by_model < self.pairs {
            warnings.push(format!(
                "the model has not judged {} of the pool's {}: questions with such holes do not count in its means",
                self.pairs - self.by_model,
                quantity::of(self.pairs, "pair")
            ));
        }
        if self.without_text > 0 {
            warnings.push(format!(
                "{} without a text, in the corpus or in a run, cannot be judged and count as not relevant",
                quantity::of(self.without_text, "pair")
            ));
        }
        warnings
    }
}

/// Whether the judge grades what it ranked, or ranked for.
fn own_work(run: &PooledRun, judge: &ModelIdentity) -> Option<String> {
    let is_same =
        |model: &ModelIdentity| (&model.provider, &model.name) == (&judge.provider, &judge.name);
    let mut roles = JUDGED_ROLES.into_iter();
    let (_, does) = roles.find(|(role, _)| run.models.get(*role).is_some_and(is_same))?;
    Some(format!(
        "`{judge}` judges and also {does} in run `{}`: a model favours what it chose itself; judge with a different model",
        run.name
    ))
}

/// Warns of a weighted kappa below [`FAIR`], of one whose interval reaches below [`SLIGHT`], and of none.
fn bad_agreement(agreement: &GradedAgreement) -> Option<String> {
    let Some(kappa) = agreement.kappa else {
        return Some(
            "model and people gave every passage one grade, so their agreement cannot be told from chance"
                .to_owned(),
        );
    };
    let reaches = kappa.interval.map_or(kappa.value, |interval| interval.low);
    if kappa.value < FAIR {
        return Some(format!(
            "the model agrees badly with people: weighted kappa {:.2} is below {FAIR}; trust the corrected values, not the model's",
            kappa.value
        ));
    }
    (reaches < SLIGHT).then(|| {
        format!(
            "the model may agree badly with people: the interval of weighted kappa {:.2} reaches {reaches:.2}; let people judge more questions",
            kappa.value
        )
    })
}

fn mean(mean: &Mean) -> String {
    let value = mean.value.map(|value| with_interval(value, mean.interval));
    value.unwrap_or_else(|| NONE.to_owned())
}

fn estimate(found: Estimate) -> String {
    with_interval(found.value, found.interval)
}

fn with_interval(value: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high, .. }) => format!("{value:.3} [{low:.3}, {high:.3}]"),
        None => format!("{value:.3}"),
    }
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}
