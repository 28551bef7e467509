//! Reads the questions of a run, and notes which others are skipped.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_data::{Collection, Manifest, QuestionCounts};
use evals_index::Index;
use evals_messages::quantity;
use evals_models::Role;
use evals_rag::Question;
use evals_rag::rag_judges::LastTurns;
use evals_rag::targets::{Conversations, Script};
use evals_runs::run_record::{LimitRecord, SelectionRecord};
use evals_runs::shards::{Shard, ShardRecord};
use evals_terminal::Printer;

use crate::case_selection::{Candidate, ChosenCases, Selection};
use crate::options::RunArgs;

/// The questions of a run.
pub(crate) struct Asked {
    pub(crate) questions: Vec<Question>,
    /// Which of the dataset's questions they are.
    pub(crate) chosen: ChosenCases,
    /// `None` if the run is no shard.
    pub(crate) shard: Option<ShardRecord>,
    /// The questions of all shards; `None` if the run is no shard.
    pub(crate) all: Option<Vec<Question>>,
    /// The turns of all conversations of the dataset.
    pub(crate) script: Script,
}

/// The ids of the corpus, where somebody has read them before.
#[derive(Clone)]
pub(crate) enum KnownIds {
    /// Nobody has.
    None,
    /// An index of the corpus has them.
    Index(Box<Index>),
    /// All of them.
    Set(Arc<HashSet<String>>),
}

/// The chosen questions, up to `--limit`, and of these the ones of `--shard`.
pub(crate) async fn read(
    printer: &Printer,
    manifest: &Manifest,
    collection: &Collection,
    known: KnownIds,
    arguments: &RunArgs,
    selection: Option<&Selection>,
) -> Result<Asked> {
    // On another thread, because this may read the whole corpus, and this thread has to notice an interruption.
    let reading = collection.clone();
    let read = tokio::task::spawn_blocking(move || match known {
        KnownIds::None => reading.questions(),
        KnownIds::Index(index) => reading.questions_for(index.documents()),
        KnownIds::Set(ids) => reading.questions_for(ids.iter().map(String::as_str)),
    })
    .await;
    let read = read.context("the task that reads the questions was cancelled")??;
    note_counts(printer, &read.counts, manifest);
    let mut questions = read.questions;
    let script = Conversations::script(&questions);
    let last_turns = |all: &[Question]| LastTurns::of(all.iter().map(|it| &it.metadata));
    let ends = last_turns(&questions);
    let selection = selection.map(|it| choose(it, &mut questions)).transpose()?;
    if let Some(record) = &selection {
        printer.note(&format!("questions: {}", record.text()));
    }
    let limit = arguments.control.limit;
    let limit = limit.and_then(|first| LimitRecord::truncate(first.get(), &mut questions));
    if let Some(LimitRecord { first, of }) = limit {
        printer.note(&format!(
            "asking {first} of {} (--limit)",
            quantity::of(of, "question")
        ));
    }
    let cut = ends.cut_in(&last_turns(&questions));
    let all = arguments.selection.shard.map(|_| questions.clone());
    let shard = arguments.selection.shard;
    let shard = shard.map(|it| keep_shard(it, &mut questions, printer));
    let chosen = ChosenCases {
        selection,
        limit,
        shard: shard.as_ref().map(|it| it.shard),
        count: questions.len(),
        filter: arguments.retrieval.filter.clone(),
        defects: match collection.reviewed_set() {
            Some(set) => set.defects()?,
            None => None,
        },
        cut,
    };
    Ok(Asked {
        questions,
        chosen,
        shard,
        all,
        script,
    })
}

/// Removes the questions of other shards. Conversations stay whole, so that a shard can ask and judge them as one machine would.
fn keep_shard(shard: Shard, questions: &mut Vec<Question>, printer: &Printer) -> ShardRecord {
    let record = shard.retain(
        questions,
        |question| &question.id,
        |question| Some(question.turn.as_ref()?.conversation.as_str()),
    );
    record.note(printer, questions.len());
    record
}

/// Says which rows of the dataset are not asked, and which count as not retrieved.
fn note_counts(printer: &Printer, counts: &QuestionCounts, manifest: &Manifest) {
    if let Some(summary) = skipped_questions(counts) {
        printer.note(&summary);
    }
    if counts.judged_elsewhere > 0 {
        printer.note(&format!(
            "{} not asked: missing from the table of questions, or excluded from it",
            quantity::of(counts.judged_elsewhere, "judged question")
        ));
    }
    if counts.unknown_documents > 0 {
        printer.warn(&format!(
            "{} missing from the corpus or without text; they count as not retrieved",
            quantity::of(counts.unknown_documents, "judged document")
        ));
    }
    if counts.without_relevant > 0 && manifest.has_documents() {
        printer.warn(&format!(
            "{} without a relevant document; rank measures exclude them. If the documents do not answer them, set `unanswerable` in the manifest",
            quantity::of(counts.without_relevant, "question")
        ));
    }
    let columns = &manifest.questions.columns;
    let is_marked = !manifest.unanswerable.is_empty() || !columns.unanswerable.is_empty();
    if is_marked && counts.unanswerable == 0 {
        printer.note(
            "no question is what `unanswerable` in the manifest describes, so all count as answerable",
        );
    }
}

/// Keeps the chosen questions. What follows from their judgements can be chosen by, too, although it is no metadata.
fn choose(selection: &Selection, questions: &mut Vec<Question>) -> Result<SelectionRecord> {
    let candidates = std::mem::take(questions).into_iter();
    let mut candidates: Vec<_> = candidates.map(|it| (it.facts(), it)).collect();
    let record = selection.retain(&mut candidates, |(facts, question)| Candidate {
        id: &question.id,
        metadata: facts,
    })?;
    questions.extend(candidates.into_iter().map(|(_, question)| question));
    Ok(record)
}

/// Summarises the skipped questions in one line; `None` if none were skipped.
fn skipped_questions(counts: &QuestionCounts) -> Option<String> {
    let parts = [
        (counts.filtered, "excluded by `where`"),
        (counts.unjudged, "without judgements"),
        (counts.empty, "without text"),
        (counts.dropped_in_review, "dropped in review"),
    ];
    let reasons = parts.into_iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!reasons.is_empty()).then(|| {
        let all = quantity::of(counts.rows, "question");
        format!(
            "using {} of {all}: {}",
            counts.questions,
            reasons.join(", ")
        )
    })
}

/// Warns of histories in which earlier questions have no reference answer, so that they stand there without a reply.
pub(super) fn warn_unanswered(printer: &Printer, questions: &[Question]) {
    let turns = questions.iter().filter_map(|it| it.turn.as_ref());
    let lacks_answers = turns.filter(|turn| {
        let by_users = turn.history.iter().map(|it| it.role == Role::User);
        let by_users: Vec<bool> = by_users.chain([true]).collect();
        by_users.windows(2).any(|pair| pair == [true, true])
    });
    match lacks_answers.count() {
        0 => {}
        count => printer.warn(&format!(
            "{} with earlier turns that have no reference answer: the history contains them without a reply",
            quantity::of(count, "question")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_questions_are_summarised_in_one_line() {
        let counts = QuestionCounts {
            rows: 1109,
            questions: 300,
            unjudged: 809,
            ..QuestionCounts::default()
        };
        assert_eq!(
            skipped_questions(&counts).unwrap(),
            "using 300 of 1109 questions: 809 without judgements"
        );
        assert_eq!(skipped_questions(&QuestionCounts::default()), None);
    }
}
