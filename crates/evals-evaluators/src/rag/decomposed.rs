//! `Faithfulness` and the other judges that decide claim by claim.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_rag::Missing;
use evals_rag::answering::Refusals;
use evals_rag::qa::Reference;
use evals_rag::rag_judges::{
    CitedSentence, JudgedMeasure, Judgement, Material, Passage, RagJudges,
};

use super::expectation::Expectation;
use super::output::CaseOutput;
use super::panel;
use crate::evaluation::Evaluation;
use crate::{Entry, Resources, Untyped};

/// The names of the evaluators with what they score.
const NAMES: [(&str, &str, JudgedMeasure); 7] = [
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
];

/// The measure of the evaluator of this name.
pub(super) fn measure(name: &str) -> Option<JudgedMeasure> {
    let found = NAMES.iter().find(|(known, ..)| *known == name);
    found.map(|(_, _, measure)| *measure)
}

/// Judges one measure claim by claim.
#[derive(Debug)]
struct Decomposed {
    measure: JudgedMeasure,
    judges: Arc<RagJudges>,
    version: String,
    refusals: Refusals,
}

/// The entries of all measures.
pub(super) fn entries() -> impl Iterator<Item = Entry> {
    NAMES.into_iter().map(|(name, description, measure)| {
        Entry::evaluation(
            name,
            description,
            panel::parameters(),
            move |arguments, resources| {
                Ok(Decomposed {
                    measure,
                    judges: panel::opened(arguments, resources)?,
                    version: version(measure, resources),
                    refusals: Refusals::default(),
                })
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

#[async_trait]
impl Evaluation for Decomposed {
    async fn evaluate(
        &self,
        _name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let expectation = Expectation(context.case);
        let reference = expectation.reference(&self.refusals)?;
        let output = CaseOutput::of(context);
        let refused = output.refused(&self.refusals)? == Some(true);
        let plain = output.plain_answer()?;
        // A refusal is an answer, even without words.
        let plain = plain.or_else(|| refused.then(String::new));
        let documents = output.passages()?;
        let passages: Result<Vec<Passage<'_>>, String> = match &documents {
            None => Err(Missing::Documents.reason().to_owned()),
            Some(Err(reason)) => Err(reason.clone()),
            Some(Ok(documents)) => Ok((1..)
                .zip(documents)
                .map(|(number, document)| Passage {
                    number,
                    title: document.title.as_deref(),
                    text: &document.text,
                })
                .collect()),
        };
        let count = output.documents()?.map_or(0, |documents| documents.len());
        let cited = CitedSentence::all(&output.answer().unwrap_or_default(), count);
        let question = expectation.question();
        let material = Material {
            question: &question,
            answerable: reference
                .as_ref()
                .is_none_or(|reference| reference.answerable),
            reference: reference
                .as_ref()
                .and_then(|reference| reference.answer.as_deref()),
            answer: plain.as_deref().ok_or(Missing::Answer.reason()),
            refused,
            passages: passages.as_deref().map_err(String::as_str),
            cited: &cited,
            repeat: context.repeat,
        };
        let judged = self.judges.judge(self.measure, &material).await;
        Judgement::record(judged, &context.scope)
    }

    fn concerns(&self, _name: &str, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        let expectation = Expectation(case);
        let reference = expectation.reference(&self.refusals).ok().flatten();
        let has_reference = |reference: &Reference| reference.answer.is_some();
        let concerned = (expectation.may_be_answerable(&self.refusals)
            || self.measure.judges_unanswerable())
            && (!self.measure.needs_reference() || reference.as_ref().is_some_and(has_reference));
        let names = self.measure.outcomes().iter().filter(|_| concerned);
        Some(names.map(|name| Concern::score(*name)).collect())
    }

    fn version(&self) -> Option<&str> {
        Some(&self.version)
    }
}
