//! How much of the top of a run's rankings the dataset judges.

use evals::Report;
use evals::render::percent;
use evals_data::Manifest;
use evals_metrics::{Measure, as_f64};
use evals_rag::{Missing, Retrieval};
use serde_json::{Value, json};

/// The label of the line in a report.
pub(crate) const LABEL: &str = "judged";

/// The entry in the metadata of a report whose dataset has holes.
const INCOMPLETE: &str = "incomplete_judgements";

/// The entry of a report's metadata, if the dataset says that its judgements are incomplete.
pub(crate) fn incompleteness(manifest: &Manifest) -> Option<(&'static str, Value)> {
    let is_incomplete = manifest.retrieval.incomplete_judgements;
    is_incomplete.then(|| (INCOMPLETE, true.into()))
}

/// Whether the dataset of a report says that its judgements are incomplete.
pub(crate) fn is_incomplete(report: &Report<Retrieval>) -> bool {
    report.metadata.get(INCOMPLETE) == Some(&true.into())
}

/// Adds the line below the title: a document without a judgement counts as not relevant, and nobody should have to guess how many do.
pub(crate) fn enter(report: &mut Report<Retrieval>) {
    let mut measures = report.cases.iter().flat_map(|case| &case.outcomes);
    let depth = measures.find_map(|it| it.name.parse::<Measure>().ok()?.cutoff());
    let (mut all, mut judged) = (0, 0);
    for case in report.cases.iter().filter(|it| it.metadata.answerable) {
        let found = case.result.output().zip(case.expected.as_ref());
        let found = found.filter(|(found, _)| !found.missing.contains(&Missing::Documents));
        let Some((found, judgements)) = found else {
            continue;
        };
        let top = found.ranking.iter();
        for document in top.take(depth.map_or(usize::MAX, Into::into)) {
            all += 1;
            judged += usize::from(judgements.grade(&document.id).is_some());
        }
    }
    if all == 0 {
        return;
    }
    let share = percent(as_f64(judged) / as_f64(all));
    let top = depth.map_or("documents found".to_owned(), |depth| format!("top {depth}"));
    let note = if is_incomplete(report) {
        "; the dataset says that its judgements are incomplete: the rest counts as not relevant until `evaluations pool` has it judged"
    } else {
        ""
    };
    let fact = json!([LABEL, format!("{share} of the {top}{note}")]);
    let facts = report.metadata.entry(Report::<Retrieval>::FACTS);
    if let Value::Array(facts) = facts.or_insert_with(|| json!([])) {
        facts.push(fact);
    }
}
