//! The report of a pool as sentences and tables, and what a reader has to know before trusting its numbers.

use evals::render::percent;
use evals::render::tables::Table;
use evals_messages::quantity;
use evals_metrics::{Estimate, GradedAgreement, Interval};
use evals_models::ModelIdentity;

use super::judgement::Assessor;
use super::pool::PooledRun;
use super::report::{PoolReport, PooledMeasure, RELEVANT_FROM};

/// Shown in place of an undefined number.
const NONE: &str = "–";
/// Below this weighted kappa, agreement is no better than "fair": Landis and Koch, "The Measurement of Observer Agreement for Categorical
/// Data", Biometrics 33 (1977).
const FAIR: f64 = 0.4;
/// Below this, it is no better than "slight".
const SLIGHT: f64 = 0.2;
/// The roles whose models write or rank what the judge grades.
const JUDGED_ROLES: [(&str, &str); 2] = [("answerer", "answers"), ("reranker", "reranks")];

impl PoolReport<'_> {
    /// What was judged, in a few sentences.
    pub fn opening(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{}: top {} of {}, {} and {}; version {}",
            self.pool.dataset,
            self.pool.depth,
            quantity::of(self.runs, "run"),
            quantity::of(self.pool.questions.len(), "question"),
            quantity::of(self.pool.pairs().count(), "pair"),
            self.version
        )];
        if let Some(judge) = &self.judge {
            lines.push(format!("{judge} judged {} of them", self.by_model));
        }
        if self.by_people > 0 {
            lines.push(format!(
                "people judged {} of them, {} in full",
                self.by_people,
                quantity::of(self.drawn, "drawn question")
            ));
        }
        if let Some(agreement) = &self.agreement {
            let kappa = shown(agreement.kappa);
            lines.push(format!(
                "model and people agree on {} of {}; weighted kappa {kappa}",
                percent(agreement.equal.value),
                quantity::of(agreement.equal.n, "passage")
            ));
        }
        if let Some((question, document, open)) = &self.next {
            let verb = if *open == 1 { "is" } else { "are" };
            lines.push(format!(
                "next for people: document `{document}` for question `{question}`, of which {} {verb} to judge",
                quantity::of(*open, "passage")
            ));
        }
        lines
    }

    /// The measures, and whether the judgements order the runs equally. A table without rows is left out. `width` is that of a corrected interval
    /// that is wanted.
    pub fn tables(&self, width: f64) -> Vec<Table> {
        let mut tables = vec![self.of_measures(width), self.of_orders()];
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    fn of_measures(&self, width: f64) -> Table {
        let rows = self.measures.iter().map(|it| {
            let corrected = it.corrected.as_ref().ok();
            let needed = corrected.and_then(|it| it.drawn_for(width));
            vec![
                format!("{}, {}", it.run, it.measure),
                shown(it.model),
                counted(it).to_string(),
                corrected.map_or_else(
                    || NONE.to_owned(),
                    |it| with_interval(it.value, it.interval),
                ),
                needed.map_or_else(|| NONE.to_owned(), |needed| needed.to_string()),
                shown(it.dataset),
            ]
        });
        Table {
            rows: rows.collect(),
            heads: texts(["Run", "by model", "n", "corrected", "needed", "by dataset"]),
            notes: self.notes(width),
        }
    }

    /// What the table of measures means, and what its numbers leave out.
    fn notes(&self, width: f64) -> Vec<String> {
        let method = match self.judge {
            Some(_) => "prediction-powered inference",
            None => "inverse probabilities",
        };
        let mut notes = vec![format!(
            "relevant is what has grade {RELEVANT_FROM} or more; corrected: what people would have found, by {method} \
             over whole questions; needed: how many questions people have to judge for an interval {width} wide"
        )];
        let all = self.pool.questions.len();
        if self.judge.is_some() && self.measures.iter().any(|it| counted(it) < all) {
            notes.push(
                "n leaves out questions without a ranking, of which the model has not judged every passage, or in which it finds none relevant"
                    .to_owned(),
            );
        }
        let reasons = self
            .measures
            .iter()
            .filter_map(|it| it.corrected.as_ref().err());
        let mut reasons: Vec<String> = if self.by_people == 0 {
            let advice = "not corrected: nobody has graded yet; `--view` or `--export FILE` has people grade";
            vec![advice.to_owned()]
        } else {
            reasons.map(|it| format!("not corrected: {it}")).collect()
        };
        reasons.dedup();
        notes.extend(reasons);
        if self.not_counted > 0 {
            notes.push(format!(
                "{} that people judged only in part, or ahead of the drawn order, correct nothing yet",
                quantity::of(self.not_counted, "question")
            ));
        }
        notes
    }

    fn of_orders(&self) -> Table {
        let rows = self.orders.iter().map(|order| {
            let found = order.agreement.as_ref().ok();
            let [tau, tau_ap] = [found.map(|it| it.tau), found.map(|it| it.tau_ap)].map(shown);
            let name = format!("{}, model and {}", order.measure, order.with);
            vec![name, tau, tau_ap]
        });
        let reasons = self.orders.iter();
        let reasons = reasons.filter_map(|it| it.agreement.as_ref().err());
        let mut notes: Vec<String> = reasons.map(|it| format!("no agreement: {it}")).collect();
        notes.dedup();
        Table {
            rows: rows.collect(),
            heads: texts(["Order of the runs", "Kendall's τ", "τ_AP"]),
            notes,
        }
    }

    pub(super) fn warn(&self, runs: &[PooledRun], judge: Option<&Assessor>) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(Assessor::Model { identity, .. }) = judge {
            warnings.extend(runs.iter().filter_map(|run| own_work(run, identity)));
        }
        warnings.extend(self.agreement.as_ref().and_then(bad_agreement));
        let pairs = self.pool.pairs().count();
        if self.judge.is_some() && self.by_model < pairs {
            warnings.push(format!(
                "the model has not judged {} of the pool's {}: questions with such holes do not count in its means",
                pairs - self.by_model,
                quantity::of(pairs, "pair")
            ));
        }
        if self.pool.without_text > 0 {
            warnings.push(format!(
                "{} without a text, in the corpus or in a run, cannot be judged and count as not relevant",
                quantity::of(self.pool.without_text, "pair")
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

/// Warns of a weighted kappa below [`FAIR`], and of one whose interval reaches below [`SLIGHT`].
fn bad_agreement(agreement: &GradedAgreement) -> Option<String> {
    let kappa = agreement.kappa?;
    let low = kappa.interval.map_or(kappa.value, |interval| interval.low);
    let certainty = if kappa.value < FAIR {
        "agrees badly"
    } else if low < SLIGHT {
        "may agree badly"
    } else {
        return None;
    };
    Some(format!(
        "the model {certainty} with people: weighted kappa {}; trust the corrected values, not the model's",
        shown(Some(kappa))
    ))
}

/// The number of questions in the model's mean.
fn counted(measure: &PooledMeasure) -> usize {
    measure.model.map_or(0, |mean| mean.n)
}

fn shown(estimate: Option<Estimate>) -> String {
    let shown = estimate.map(|it| with_interval(it.value, it.interval));
    shown.unwrap_or_else(|| NONE.to_owned())
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
