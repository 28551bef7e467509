//! `Faithfulness` and the other judges that decide claim by claim.

use evals_rag::rag_judges::{Decomposed, JudgedMeasure};

use super::converted::Converted;
use super::panel;
use crate::{Entry, Resources};

/// The names of the evaluators with what they score.
const NAMES: [(&str, &str, JudgedMeasure); 8] = [
    (
        "Faithfulness",
        "Scores the share of the answer's claims that the texts of the documents support.",
        JudgedMeasure::Faithfulness,
    ),
    (
        "AnswerRelevance",
        "Scores the share of the answer's claims that help to answer the question.",
        JudgedMeasure::AnswerRelevance,
    ),
    (
        "ContextPrecision",
        "Scores, by average precision, whether the documents that help to give the reference answer come first.",
        JudgedMeasure::ContextPrecision,
    ),
    (
        "ContextRecall",
        "Scores the share of the reference's claims that the texts of the documents support.",
        JudgedMeasure::ContextRecall,
    ),
    (
        "FactualCorrectness",
        "Scores precision, recall and F1 of the answer's claims against the reference answer.",
        JudgedMeasure::FactualCorrectness,
    ),
    (
        "Completeness",
        "Scores the share of requested points that the answer covers.",
        JudgedMeasure::Completeness,
    ),
    (
        "CitationSupport",
        "Scores the share of sentences with citations that are supported by the cited documents.",
        JudgedMeasure::CitationSupport,
    ),
    (
        "Nuggets",
        "Scores how many of the facts of a good answer the answer has.",
        JudgedMeasure::Nuggets,
    ),
];

/// The measure of the evaluator of this name.
pub(super) fn measure(name: &str) -> Option<JudgedMeasure> {
    let found = NAMES.iter().find(|(known, ..)| *known == name);
    found.map(|(_, _, measure)| *measure)
}

/// The entries of all measures.
pub(super) fn entries() -> impl Iterator<Item = Entry> {
    NAMES.into_iter().map(|(name, description, measure)| {
        Entry::evaluation(
            name,
            description,
            panel::parameters(),
            move |arguments, resources| {
                let judges = panel::opened(arguments, resources)?;
                let version = version(measure, resources);
                Ok(Converted::of_texts(
                    Decomposed::new(measure, judges),
                    version,
                ))
            },
        )
    })
}

/// The prompts that verdicts depend on.
fn version(measure: JudgedMeasure, resources: &Resources) -> String {
    let prompts = resources.prompts.decomposed.of(measure);
    let digests: Vec<&str> = prompts
        .iter()
        .map(|prompt| &prompt.digest()[..12])
        .collect();
    format!("prompts {}", digests.join(" "))
}
