//! Makes test sets: draws passages, has questions written and filters them, until there are enough.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use evals_messages::chain;
use evals_models::ChatModel;
use evals_rag::judging::{Judge, JudgeFailure};
use evals_rag::{Document, SearchError, Searcher};
use futures::StreamExt as _;

use crate::drawing::Drawing;
use crate::generation::Draft;
use crate::mix::in_turns;
use crate::query::Stop;
use crate::{
    Coverage, DropReason, Dropped, Item, Kind, MixError, PlainFilters, QuestionPrompts,
    QuestionSettings,
};

/// Makes a test set from a corpus.
#[expect(
    missing_debug_implementations,
    reason = "functions do not implement Debug"
)]
pub struct Generator<'a> {
    /// The model that writes questions and answers.
    pub writer: &'a dyn ChatModel,
    /// The model that filters them.
    pub judge: &'a dyn ChatModel,
    /// Decides whether two answers say the same.
    pub equivalence: &'a dyn Judge,
    /// Searches the corpus for further passages. It has to return passages, not only the ranking.
    pub searcher: &'a dyn Searcher,
    /// The documents.
    pub corpus: &'a [Document],
    /// The prompts.
    pub prompts: &'a QuestionPrompts,
    /// How many questions are worked on at the same time.
    pub concurrency: NonZeroUsize,
    /// Called after each question with how far the set is, in words.
    pub progress: &'a (dyn Fn(String) + Sync),
}

/// A test set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GeneratedSet {
    /// The questions.
    pub kept: Vec<Item>,
    /// The questions that a filter dropped, with why.
    pub dropped: Vec<Dropped>,
    /// How many were wanted.
    pub wanted: usize,
    /// How much of each part of the corpus the questions are about; empty for questions of a log.
    pub coverage: Vec<Coverage>,
    /// How many replies in a row were unreadable last.
    pub unreadable: usize,
}

/// Why no test set could be made. What the models replied so far is in the cache, if there is one, so the same command goes on from here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The settings do not say which questions to write.
    #[error(transparent)]
    Mix(#[from] MixError),
    /// No document has a passage to ask about.
    #[error("no document has a passage of at least 32 letters, so there is nothing to ask about")]
    EmptyCorpus,
    /// A model does not reply in the form that it is asked for.
    #[error(
        "{} replies in a row could not be read, so nothing further was asked; the last one begins: `{reply}`",
        MOST_UNREADABLE
    )]
    Unreadable {
        /// The beginning of the last reply.
        reply: String,
        /// Why it could not be read.
        source: Box<JudgeFailure>,
    },
    /// A model fails, and would fail again.
    #[error(transparent)]
    Model(#[from] JudgeFailure),
    /// The search fails.
    #[error("the search for passages failed")]
    Search(#[from] SearchError),
}

/// After this many unreadable replies in a row, nothing further is asked. A poor model, half of whose replies are unreadable, seldom comes so far.
const MOST_UNREADABLE: usize = 10;

impl Generator<'_> {
    /// How many passages the searcher has to return.
    pub const PASSAGES: usize = 10;
    /// After this many attempts for each question that is wanted, a set stays short.
    pub const ATTEMPTS: usize = 3;
    /// What the writer does, and what the judge does.
    pub const STEPS: [&'static str; 2] = ["writing", "filtering"];

    /// Has `count` questions written. What a filter drops is replaced by a question of the same kind about the next passage, until three times
    /// `count` were tried; then the set is [short](GeneratedSet::shortage).
    ///
    /// Equal documents, settings and seeds give equal requests to the models.
    pub async fn generate(
        &self,
        settings: &QuestionSettings,
        count: usize,
        seed: u64,
    ) -> Result<GeneratedSet, GenerateError> {
        let drawing = Drawing::of(self.corpus, settings.spread_over.as_deref(), seed)?;
        let mut wanted = settings.apportion(count, drawing.documents() == 1)?;
        let mut set = GeneratedSet::of(count);
        let (mut passages, mut asked_about) = (drawing.passages(), BTreeSet::new());
        let (mut number, most) = (0, count.saturating_mul(Self::ATTEMPTS));
        loop {
            let mut kinds = in_turns(&wanted, seed.wrapping_add(number as u64));
            kinds.truncate(most - number);
            if kinds.is_empty() {
                break;
            }
            let drafts = kinds.into_iter().zip(passages.by_ref());
            let drafts = drafts.map(|(kind, drawn)| {
                number += 1;
                let mut draft = Draft::new(number, "", kind);
                // With the turn, so that a document does not always meet the same asker.
                let asker = settings.asker(number + drawn.turn as usize);
                draft.item.asker = Some(asker.to_owned());
                draft.passages.push(drawn.passage);
                draft.repeat = drawn.turn;
                draft
            });
            let drafts = drafts.collect();
            let write = async |it: &mut Draft| self.write(it).await;
            for draft in self.pass(&mut set, drafts, write).await? {
                let left = wanted.get_mut(&draft.item.kind);
                *left.expect("only wanted kinds are written") -= 1;
                asked_about.insert(draft.passages[0].document.clone());
                set.kept.push(draft.item);
            }
        }
        set.coverage = drawing.coverage(&asked_about);
        Ok(set)
    }

    /// Looks for the answers to questions of users.
    pub async fn answer(&self, questions: &[String]) -> Result<GeneratedSet, GenerateError> {
        let mut set = GeneratedSet::of(questions.len());
        let drafts = (1..).zip(questions);
        let drafts = drafts.map(|(number, question)| Draft::new(number, question, Kind::Logged));
        let drafts = drafts.collect();
        let answer = async |it: &mut Draft| self.find_answer(it).await;
        let answered = self.pass(&mut set, drafts, answer).await?;
        set.kept = answered.into_iter().map(|it| it.item).collect();
        Ok(set)
    }

    /// Has drafts written, and returns those that no filter drops, in order. Questions of users may copy a passage or repeat one another.
    async fn pass(
        &self,
        set: &mut GeneratedSet,
        drafts: Vec<Draft>,
        write: impl AsyncFn(&mut Draft) -> Result<(), Stop>,
    ) -> Result<Vec<Draft>, GenerateError> {
        let [writing, filtering] = Self::STEPS;
        let mut filters = PlainFilters::of(&set.kept);
        let mut passed = Vec::new();
        for draft in self.each(writing, set, drafts, write).await? {
            let passages: Vec<&str> = draft.passages.iter().map(|it| &*it.text).collect();
            match filters.check(&draft.item, &passages) {
                Some((reason, detail)) if draft.item.kind != Kind::Logged => {
                    set.drop(draft, reason, detail);
                }
                _ => passed.push(draft),
            }
        }
        let check = async |it: &mut Draft| self.check(it).await;
        self.each(filtering, set, passed, check).await
    }

    /// Does a step with all drafts, and returns those that it does not drop, in order. After an error no step begins, but those that run are
    /// finished: what they ask for is paid, and its reply belongs into the cache. Several unreadable replies in a row are an error: a model that
    /// only writes prose would do so for every question.
    async fn each(
        &self,
        step: &'static str,
        set: &mut GeneratedSet,
        drafts: Vec<Draft>,
        work: impl AsyncFn(&mut Draft) -> Result<(), Stop>,
    ) -> Result<Vec<Draft>, GenerateError> {
        let (failed, finished, of) = (AtomicBool::new(false), AtomicUsize::new(0), drafts.len());
        let unreadable = AtomicUsize::new(set.unreadable);
        let (kept, dropped, wanted) = (set.kept.len(), set.dropped.len(), set.wanted);
        let running = drafts.into_iter().enumerate().map(|(place, mut draft)| {
            let (failed, finished, unreadable, work) = (&failed, &finished, &unreadable, &work);
            async move {
                if failed.load(Ordering::Relaxed) {
                    return None;
                }
                let result = work(&mut draft).await;
                let in_a_row = if matches!(result, Err(Stop::Unreadable { .. })) {
                    unreadable.fetch_add(1, Ordering::Relaxed) + 1
                } else {
                    unreadable.store(0, Ordering::Relaxed);
                    0
                };
                let ends = in_a_row >= MOST_UNREADABLE || matches!(result, Err(Stop::End(_)));
                failed.fetch_or(ends, Ordering::Relaxed);
                let done = finished.fetch_add(1, Ordering::Relaxed) + 1;
                (self.progress)(format!(
                    "{step} {done} of {of}; {kept} of {wanted} kept, {dropped} dropped"
                ));
                Some((place, draft, result, in_a_row))
            }
        });
        let done = futures::stream::iter(running).buffer_unordered(self.concurrency.get());
        let mut done: Vec<_> = done.filter_map(|it| async move { it }).collect().await;
        done.sort_by_key(|(place, ..)| *place);
        set.unreadable = unreadable.into_inner();
        let mut passed = Vec::new();
        for (_, draft, result, in_a_row) in done {
            match result {
                Ok(()) => passed.push(draft),
                Err(Stop::Drop(reason, detail)) => set.drop(draft, reason, detail),
                Err(Stop::Unreadable { reply, source }) if in_a_row >= MOST_UNREADABLE => {
                    return Err(GenerateError::Unreadable { reply, source });
                }
                Err(Stop::Unreadable { source, .. }) => {
                    set.drop(draft, DropReason::Unusable, chain(&*source));
                }
                Err(Stop::End(error)) => return Err(error),
            }
        }
        Ok(passed)
    }
}

impl GeneratedSet {
    /// An empty set of which `wanted` questions are wanted.
    fn of(wanted: usize) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    fn drop(&mut self, Draft { item, .. }: Draft, reason: DropReason, detail: String) {
        self.dropped.push(Dropped {
            reason,
            detail,
            item,
        });
    }

    /// How many questions were dropped for each reason.
    pub fn dropped_by_reason(&self) -> BTreeMap<DropReason, usize> {
        let mut counts = BTreeMap::new();
        for dropped in &self.dropped {
            *counts.entry(dropped.reason).or_default() += 1;
        }
        counts
    }

    /// A message that the set has fewer questions than wanted, with the most frequent reason; `None` if it has enough.
    pub fn shortage(&self) -> Option<String> {
        let (kept, wanted) = (self.kept.len(), self.wanted);
        let attempts = kept + self.dropped.len();
        let counts = self.dropped_by_reason();
        let (reason, count) = counts.iter().max_by_key(|(_, count)| **count)?;
        let last = self.dropped.iter().rfind(|it| it.reason == *reason)?;
        (kept < wanted).then(|| {
            format!(
                "only {kept} of {wanted} questions passed all filters after {attempts} attempts; most were dropped as `{reason}` ({count}), \
                 the last because: {}",
                last.detail
            )
        })
    }
}
