//! Makes test sets: draws passages, has questions written and filters them, until there are enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use evals_models::ChatModel;
use evals_rag::judging::{Judge, JudgeFailure};
use evals_rag::{Call, Document, FoldedText, SearchError, Searcher};
use futures::StreamExt as _;

use crate::drawing::{self, Drawing};
use crate::generation::{Draft, FOUND, Slot, Writing, dropped};
use crate::mix::in_turns;
use crate::model_filters::Checking;
use crate::{
    Corpus, CorpusError, Coverage, DropReason, Dropped, Item, MixError, QuestionPrompts,
    QuestionSettings,
};

/// A filter that needs no model. It gets a question, and the ids and texts of the documents of its evidence; for an unanswerable question,
/// those of the passage that it was written from. It is called in the order of the questions.
pub type PlainFilter<'a> =
    dyn FnMut(&Item, &[(&str, &str)]) -> Option<(DropReason, String)> + Send + 'a;

/// Makes a test set from a corpus.
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
    pub corpus: &'a dyn Corpus,
    /// The prompts.
    pub prompts: &'a QuestionPrompts,
    /// How many questions are worked on at the same time.
    pub concurrency: NonZeroUsize,
    /// Called with the progress after each question.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far a test set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Questions that passed all filters.
    pub kept: usize,
    /// Questions that a filter dropped.
    pub dropped: usize,
    /// Questions that are wanted.
    pub wanted: usize,
    /// What is done now, `writing` or `checking`, with how many questions, and how many of these are done.
    pub step: (&'static str, usize, usize),
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
    /// How much of each part of the corpus was drawn; empty for questions of a log.
    pub coverage: Vec<Coverage>,
    /// The calls of the writer.
    pub written: Vec<Call>,
    /// The calls of the judge.
    pub judged: Vec<Call>,
}

/// Why no test set could be made. What the models replied so far is in the cache, if there is one, so the same command goes on from here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The settings do not say which questions to write.
    #[error(transparent)]
    Mix(#[from] MixError),
    /// No document has a passage to ask about.
    #[error("no document has a passage of at least 8 words, so there is nothing to ask about")]
    EmptyCorpus,
    /// The documents cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// A model fails, and would fail again.
    #[error(transparent)]
    Model(#[from] JudgeFailure),
    /// The search fails.
    #[error("the search for passages failed")]
    Search(#[from] SearchError),
}

/// After this many attempts for each question that is wanted, a set stays short.
const MOST_ATTEMPTS: usize = 3;

impl Generator<'_> {
    /// How many passages the searcher has to return.
    pub const PASSAGES: usize = FOUND;

    /// Has `count` questions written. What a filter drops is replaced by a question of the same kind about the next passage, until three times
    /// `count` were tried; then the set is [short](GeneratedSet::shortage).
    ///
    /// Equal documents, settings and seeds give equal requests to the models.
    pub async fn generate(
        &self,
        settings: &QuestionSettings,
        count: usize,
        seed: u64,
        plain: &mut PlainFilter<'_>,
    ) -> Result<GeneratedSet, GenerateError> {
        let mut drawing = Drawing::of(self.corpus, settings.spread_over.as_deref(), seed)?;
        if drawing.documents() == 0 {
            return Err(GenerateError::EmptyCorpus);
        }
        let mut wanted = settings.apportion(count, drawing.documents() == 1)?;
        let mut set = GeneratedSet {
            wanted: count,
            ..GeneratedSet::default()
        };
        let mut number = 0;
        loop {
            let left = count.saturating_mul(MOST_ATTEMPTS) - number;
            let kinds = in_turns(&wanted, seed.wrapping_add(number as u64));
            let slots = kinds.into_iter().zip(&mut drawing).take(left);
            let slots: Vec<Slot> = slots
                .map(|(kind, passage)| {
                    number += 1;
                    Slot {
                        number,
                        kind,
                        // With the turn, so that a document does not always meet the same asker.
                        asker: settings.asker(number + passage.turn).to_owned(),
                        passage,
                    }
                })
                .collect();
            if slots.is_empty() {
                break;
            }
            for item in self.attempt(slots, &mut set, plain).await? {
                if let Some(left) = wanted.get_mut(&item.kind) {
                    *left -= 1;
                }
                set.kept.push(item);
            }
        }
        set.coverage = drawing.coverage();
        self.place(&mut set.kept)?;
        Ok(set)
    }

    /// Looks for the answers to questions of users.
    pub async fn answer(&self, questions: &[String]) -> Result<GeneratedSet, GenerateError> {
        let mut set = GeneratedSet {
            wanted: questions.len(),
            ..GeneratedSet::default()
        };
        let writing = self.writing();
        let numbered: Vec<(usize, &String)> = (1..).zip(questions).collect();
        let step = ("writing", &set);
        let drafts = self.each(step, numbered, |(number, question)| async move {
            let mut calls = Vec::new();
            let draft = writing.answer(number, question, &mut calls).await?;
            Ok((draft, calls))
        });
        let mut passed = Vec::new();
        for (draft, calls) in drafts.await? {
            set.written.extend(calls);
            match draft {
                Ok(draft) => passed.push(draft),
                Err(dropped) => set.dropped.push(*dropped),
            }
        }
        let items = self.checked(passed, &mut set).await?;
        set.kept.extend(items);
        self.place(&mut set.kept)?;
        Ok(set)
    }

    /// Has the questions of `slots` written, and filters them. Returns those to keep.
    async fn attempt(
        &self,
        slots: Vec<Slot>,
        set: &mut GeneratedSet,
        plain: &mut PlainFilter<'_>,
    ) -> Result<Vec<Item>, GenerateError> {
        let ids = slots.iter().map(|slot| slot.passage.document.clone());
        let documents = drawing::documents(self.corpus, &ids.collect())?;
        let (writing, texts) = (self.writing(), &documents);
        let drafts = self.each(("writing", &*set), slots, |slot| async move {
            let mut calls = Vec::new();
            let document = texts.get(&slot.passage.document);
            let document = document.filter(|it| it.text.get(slot.passage.range.clone()).is_some());
            let document = document.ok_or_else(|| {
                let id = &slot.passage.document;
                CorpusError::new(format!("document `{id}` changed while it was read"))
            })?;
            let draft = writing.write(&slot, document, &mut calls).await?;
            Ok((draft, calls))
        });
        let mut passed = Vec::new();
        for (draft, calls) in drafts.await? {
            set.written.extend(calls);
            match draft.and_then(|draft| filtered(draft, &documents, plain)) {
                Ok(draft) => passed.push(draft),
                Err(dropped) => set.dropped.push(*dropped),
            }
        }
        self.checked(passed, set).await
    }

    /// The items of the drafts that the judge finds no fault with.
    async fn checked(
        &self,
        drafts: Vec<Draft>,
        set: &mut GeneratedSet,
    ) -> Result<Vec<Item>, GenerateError> {
        let checking = Checking {
            judge: self.judge,
            equivalence: self.equivalence,
            searcher: self.searcher,
            prompts: self.prompts,
        };
        let checked = self.each(("checking", &*set), drafts, |draft| async move {
            let mut calls = Vec::new();
            let item = checking.check(draft, &mut calls).await?;
            Ok((item, calls))
        });
        let mut kept = Vec::new();
        for (item, calls) in checked.await? {
            set.judged.extend(calls);
            match item {
                Ok(item) => kept.push(item),
                Err(dropped) => set.dropped.push(*dropped),
            }
        }
        Ok(kept)
    }

    /// Gives the spans that were found by a search their place in the document.
    fn place(&self, items: &mut [Item]) -> Result<(), CorpusError> {
        let spans = items.iter().flat_map(|item| &item.evidence);
        let unplaced = spans.filter(|span| span.start.is_none());
        let ids: BTreeSet<String> = unplaced.map(|span| span.document.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.corpus.read(&mut |document| {
            if !ids.contains(&document.uri) {
                return;
            }
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
        })
    }

    fn writing(&self) -> Writing<'_> {
        Writing {
            writer: self.writer,
            searcher: self.searcher,
            prompts: self.prompts,
        }
    }

    /// Does the work of all jobs, and returns the results in their order. After an error no job begins, but those that run are finished: what
    /// they ask for is paid, and its reply belongs into the cache.
    async fn each<J, T, F: Future<Output = Result<T, GenerateError>>>(
        &self,
        (step, set): (&'static str, &GeneratedSet),
        jobs: Vec<J>,
        work: impl Fn(J) -> F,
    ) -> Result<Vec<T>, GenerateError> {
        let failed = AtomicBool::new(false);
        let (of, finished) = (jobs.len(), AtomicUsize::new(0));
        let tell = |done| {
            (self.progress)(Progress {
                kept: set.kept.len(),
                dropped: set.dropped.len(),
                wanted: set.wanted,
                step: (step, of, done),
            });
        };
        let running = jobs.into_iter().enumerate().map(|(place, job)| {
            let (failed, work, finished, tell) = (&failed, &work, &finished, &tell);
            async move {
                if failed.load(Ordering::Relaxed) {
                    return None;
                }
                let result = work(job).await;
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
                tell(finished.fetch_add(1, Ordering::Relaxed) + 1);
                Some((place, result))
            }
        });
        let done = futures::stream::iter(running).buffer_unordered(self.concurrency.get());
        let mut done: Vec<_> = done.filter_map(|it| async move { it }).collect().await;
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// The texts of the passages that a set of `count` questions begins with, as an estimate needs them.
///
/// # Errors
///
/// The documents cannot be read, or have no passage.
pub fn first_passages(
    corpus: &dyn Corpus,
    settings: &QuestionSettings,
    count: usize,
    seed: u64,
) -> Result<Vec<String>, GenerateError> {
    let drawing = Drawing::of(corpus, settings.spread_over.as_deref(), seed)?;
    let drawn: Vec<_> = drawing.take(count).collect();
    if drawn.is_empty() {
        return Err(GenerateError::EmptyCorpus);
    }
    let ids = drawn.iter().map(|passage| passage.document.clone());
    let documents = drawing::documents(corpus, &ids.collect())?;
    let texts = drawn.iter().filter_map(|passage| {
        let document = documents.get(&passage.document)?;
        document.text.get(passage.range.clone()).map(str::to_owned)
    });
    Ok(texts.collect())
}

/// Applies the filters without a model.
fn filtered(
    draft: Draft,
    documents: &BTreeMap<String, Document>,
    plain: &mut PlainFilter<'_>,
) -> Result<Draft, Box<Dropped>> {
    let text = |passage: usize| {
        let passage = &draft.passages[passage];
        let whole = documents.get(&passage.document);
        match whole.filter(|_| draft.item.is_answerable()) {
            Some(document) => (&*passage.document, &*document.text),
            None => (&*passage.document, &*passage.text),
        }
    };
    let texts: Vec<(&str, &str)> = (0..draft.passages.len()).map(text).collect();
    match plain(&draft.item, &texts) {
        None => Ok(draft),
        Some((reason, detail)) => Err(dropped(draft.item, reason, detail)),
    }
}

impl GeneratedSet {
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
        let counts = self.dropped_by_reason();
        let (reason, count) = counts.iter().max_by_key(|(_, count)| **count)?;
        let last = self.dropped.iter().rfind(|it| it.reason == *reason)?;
        (kept < wanted).then(|| {
            format!(
                "only {kept} of {wanted} questions passed all filters after {} attempts; most were dropped as `{reason}` ({count}), \
                 the last because: {}",
                kept + self.dropped.len(),
                last.detail
            )
        })
    }
}

/// The calls that a set of `count` questions costs: from every question kept at once, to each kept at the last attempt. Replies that are sent
/// back for their form are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EstimatedCalls {
    /// Calls of the writer.
    pub writer: RangeInclusive<u64>,
    /// Calls of the judge.
    pub judge: RangeInclusive<u64>,
}

impl EstimatedCalls {
    /// For questions that a model writes.
    pub fn of_written(count: u64) -> Self {
        let attempts = count.saturating_mul(MOST_ATTEMPTS as u64);
        Self {
            writer: count..=attempts.saturating_mul(2),
            // An unanswerable question has no evidence to check, and only a known answer is compared.
            judge: count.saturating_mul(2)..=attempts.saturating_mul(4),
        }
    }

    /// For questions of a log.
    pub fn of_logged(count: u64) -> Self {
        Self {
            writer: count..=count.saturating_mul(2),
            judge: 0..=count,
        }
    }
}

impl fmt::Debug for Generator<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Generator")
            .field("writer", self.writer.identity())
            .field("judge", self.judge.identity())
            .finish_non_exhaustive()
    }
}
