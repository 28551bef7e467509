//! Makes test sets: draws passages, has questions written and filters them, until there are enough.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use evals_models::ChatModel;
use evals_rag::judging::{Judge, JudgeFailure};
use evals_rag::{Call, Document, FoldedText, SearchError, Searcher};
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
    /// The calls of each of the [`STEPS`](Generator::STEPS).
    pub calls: BTreeMap<&'static str, Vec<Call>>,
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
    /// A model fails, and would fail again.
    #[error(transparent)]
    Model(#[from] JudgeFailure),
    /// The search fails.
    #[error("the search for passages failed")]
    Search(#[from] SearchError),
}

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
        let mut drawing = Drawing::of(self.corpus, settings.spread_over.as_deref(), seed)?;
        let mut wanted = settings.apportion(count, drawing.documents() == 1)?;
        let mut set = GeneratedSet {
            wanted: count,
            ..GeneratedSet::default()
        };
        let mut sources = BTreeSet::new();
        let (mut number, most) = (0, count.saturating_mul(Self::ATTEMPTS));
        loop {
            let mut kinds = in_turns(&wanted, seed.wrapping_add(number as u64));
            kinds.truncate(most - number);
            if kinds.is_empty() {
                break;
            }
            let drawn = drawing.draw(kinds.len());
            let drafts = kinds.into_iter().zip(drawn).map(|(kind, drawn)| {
                number += 1;
                let mut item = Item::new(format!("q{number:04}"), "", kind);
                // With the turn, so that a document does not always meet the same asker.
                let asker = settings.asker(number + drawn.turn as usize);
                item.asker = Some(asker.to_owned());
                Draft {
                    item,
                    start: Some(drawn.start),
                    passages: vec![drawn.passage],
                    repeat: drawn.turn,
                    calls: Vec::new(),
                }
            });
            let drafts = drafts.collect();
            let [writing, filtering] = Self::STEPS;
            let written = self.each(writing, &mut set, drafts, async |it| self.write(it).await);
            let passed = filtered(written.await?, &mut set);
            let checked = self.each(filtering, &mut set, passed, async |it| self.check(it).await);
            for draft in checked.await? {
                let left = wanted.get_mut(&draft.item.kind);
                *left.expect("only wanted kinds are written") -= 1;
                sources.insert(draft.passages[0].document.clone());
                set.kept.push(draft.item);
            }
        }
        set.coverage = drawing.coverage(&sources);
        self.place(&mut set.kept);
        Ok(set)
    }

    /// Looks for the answers to questions of users.
    pub async fn answer(&self, questions: &[String]) -> Result<GeneratedSet, GenerateError> {
        let mut set = GeneratedSet {
            wanted: questions.len(),
            ..GeneratedSet::default()
        };
        let drafts = (1..).zip(questions).map(|(number, question)| Draft {
            item: Item::new(format!("q{number:04}"), question, Kind::Logged),
            start: None,
            passages: Vec::new(),
            repeat: 1,
            calls: Vec::new(),
        });
        let drafts = drafts.collect();
        let [writing, filtering] = Self::STEPS;
        let answered = self.each(writing, &mut set, drafts, async |it| {
            self.find_answer(it).await
        });
        let answered = answered.await?;
        let checked = self.each(filtering, &mut set, answered, async |it| {
            self.check(it).await
        });
        set.kept = checked.await?.into_iter().map(|it| it.item).collect();
        self.place(&mut set.kept);
        Ok(set)
    }

    /// Does a step with all drafts, and returns those that it does not drop, in order. After an error no step begins, but those that run are
    /// finished: what they ask for is paid, and its reply belongs into the cache.
    async fn each(
        &self,
        step: &'static str,
        set: &mut GeneratedSet,
        drafts: Vec<Draft>,
        work: impl AsyncFn(&mut Draft) -> Result<(), Stop>,
    ) -> Result<Vec<Draft>, GenerateError> {
        let (failed, finished, of) = (AtomicBool::new(false), AtomicUsize::new(0), drafts.len());
        let (kept, dropped, wanted) = (set.kept.len(), set.dropped.len(), set.wanted);
        let running = drafts.into_iter().enumerate().map(|(place, mut draft)| {
            let (failed, finished, work) = (&failed, &finished, &work);
            async move {
                if failed.load(Ordering::Relaxed) {
                    return None;
                }
                let result = work(&mut draft).await;
                failed.fetch_or(matches!(result, Err(Stop::End(_))), Ordering::Relaxed);
                let done = finished.fetch_add(1, Ordering::Relaxed) + 1;
                (self.progress)(format!(
                    "{step} {done} of {of}; {kept} of {wanted} kept, {dropped} dropped"
                ));
                Some((place, draft, result))
            }
        });
        let done = futures::stream::iter(running).buffer_unordered(self.concurrency.get());
        let mut done: Vec<_> = done.filter_map(|it| async move { it }).collect().await;
        done.sort_by_key(|(place, ..)| *place);
        let mut passed = Vec::new();
        for (_, mut draft, result) in done {
            let calls = set.calls.entry(step).or_default();
            calls.append(&mut draft.calls);
            match result {
                Ok(()) => passed.push(draft),
                Err(Stop::Drop(reason, detail)) => set.drop(draft, reason, detail),
                Err(Stop::End(error)) => return Err(error),
            }
        }
        Ok(passed)
    }

    /// Gives the spans that were found by a search their place in the document.
    fn place(&self, items: &mut [Item]) {
        let spans = items.iter().flat_map(|item| &item.evidence);
        let unplaced = spans.filter(|span| span.start.is_none());
        let ids: BTreeSet<String> = unplaced.map(|span| span.document.clone()).collect();
        for document in self.corpus.iter().filter(|it| ids.contains(&it.uri)) {
            let text = FoldedText::new(&document.text);
            let spans = items.iter_mut().flat_map(|item| &mut item.evidence);
            for span in spans.filter(|it| it.document == document.uri && it.start.is_none()) {
                if let Some(range) = text.anchor(span) {
                    let start = document.text[..range.start].chars().count();
                    document.text[range].clone_into(&mut span.quote);
                    span.start = Some(start);
                    span.end = Some(start + span.quote.chars().count());
                }
            }
        }
    }
}

/// The drafts that the filters without a model let pass.
fn filtered(drafts: Vec<Draft>, set: &mut GeneratedSet) -> Vec<Draft> {
    let mut filters = PlainFilters::of(&set.kept);
    let mut passed = Vec::new();
    for draft in drafts {
        let passages: Vec<&str> = draft.passages.iter().map(|it| &*it.text).collect();
        match filters.check(&draft.item, &passages) {
            None => passed.push(draft),
            Some((reason, detail)) => set.drop(draft, reason, detail),
        }
    }
    passed
}

impl GeneratedSet {
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
