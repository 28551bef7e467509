//! The questions of a run, with what became of the others on screen.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use anyhow::{Context as _, Result};
use evals_data::{Collection, Manifest, QuestionCounts};
use evals_index::Index;
use evals_messages::quantity;
use evals_rag::Question;

use crate::cli::RunArgs;
use crate::terminal::Printer;

/// The questions of a run, after `--limit`.
pub(super) async fn read(
    printer: &Printer,
    manifest: &Manifest,
    collection: &Collection,
    index: Option<&Index>,
    arguments: &RunArgs,
) -> Result<Vec<Question>> {
    // Not on this thread, which has to hear of an interruption: the whole corpus may have to be read.
    let reading = collection.clone();
    let index = index.cloned();
    let read = tokio::task::spawn_blocking(move || match index {
        Some(index) => reading.questions_for(index.documents()),
        None => reading.questions(),
    })
    .await;
    let read = read.context("reading the questions was given up")??;
    if let Some(summary) = left_out(&read.counts) {
        printer.note(&summary);
    }
    if read.counts.judged_elsewhere > 0 {
        printer.note(&format!(
            "{} not asked: not in the table of questions, or left out of it",
            quantity::of(read.counts.judged_elsewhere, "judged question")
        ));
    }
    if read.counts.unknown_documents > 0 {
        printer.warn(&format!(
            "{} not in the corpus, or without text there; these count as never found",
            quantity::of(read.counts.unknown_documents, "judged document")
        ));
    }
    if read.counts.misread_documents > 0 {
        printer.warn(&format!(
            "{} of these would be found if read otherwise, as a list for instance; without `--allow-missing-judged` the first is shown",
            read.counts.misread_documents
        ));
    }
    if read.counts.without_relevant > 0 {
        printer.warn(&format!(
            "{} without a relevant document; rank measures leave these out",
            quantity::of(read.counts.without_relevant, "question")
        ));
    }
    if !manifest.unanswerable.is_empty() && read.counts.unanswerable == 0 {
        printer.note(
            "no question has the answer that the manifest's `unanswerable` names, so that all count as answerable",
        );
    }
    let mut questions = read.questions;
    let all = questions.len();
    if let Some(limit) = arguments.control.limit.map(NonZeroUsize::get)
        && limit < all
    {
        questions.truncate(limit);
        printer.note(&format!(
            "the first {limit} of {}",
            quantity::of(all, "question")
        ));
    }
    Ok(questions)
}

/// What was not taken, in one line, or nothing where everything was.
fn left_out(counts: &QuestionCounts) -> Option<String> {
    let parts = [
        (counts.filtered, "left out by `where`"),
        (counts.unjudged, "without judgements"),
        (counts.empty, "without text"),
    ];
    let mut text = String::new();
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        write!(text, ", {count} {what}").expect("a string takes any text");
    }
    (!text.is_empty()).then(|| {
        let all = quantity::of(counts.rows, "question");
        format!("{} of {all}{text}", counts.questions)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_one_line() {
        let counts = QuestionCounts {
            rows: 1109,
            questions: 300,
            unjudged: 809,
            ..QuestionCounts::default()
        };
        assert_eq!(
            left_out(&counts).unwrap(),
            "300 of 1109 questions, 809 without judgements"
        );
        assert_eq!(left_out(&QuestionCounts::default()), None);
    }
}
