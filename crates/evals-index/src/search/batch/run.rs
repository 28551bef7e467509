//! Runs a batch: embeds the questions, searches all of them at once, and ranks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evals_models::{EmbedError, Failure};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tokio::task;

use super::observer::{BatchObserver, BatchStage, Progress};
use super::{QuestionBatch, terms, vectors};
use crate::error::IndexError;
use crate::profile::Profile;
use crate::search::cache::{Cached, Embedded};
use crate::search::fusion::fused;
use crate::search::hit::{self, FoundChunks, Hit};
use crate::search::searcher::{IndexSearcher, deeper};
use crate::search::timings::Timings;

/// Bytes that the results of one group of questions may need while they are made. More questions mean more passes over the vectors.
const GROUP_BYTES: usize = 64 << 20;
/// Bytes for each chunk that a question may find: in the pass, and in the results of both searches and their fusion.
const BYTES_OF_A_HIT: usize = 64;
/// Fewest questions of a group: fewer would read the vectors more often than they save.
const FEWEST_IN_A_GROUP: usize = 64;
/// Most questions of a group, whose vectors stay in memory.
const MOST_IN_A_GROUP: usize = 4096;

/// The results of one question.
#[derive(Debug)]
pub(super) struct Answer {
    /// The best chunk of each of the best documents, in order.
    pub(super) documents: Vec<Hit>,
    /// The chunks whose texts are wanted, in order.
    pub(super) passages: Vec<Hit>,
    /// How long the model took for the question, if it was embedded.
    pub(super) timings: Timings,
    /// The embedding for a separate search, if the run times this question.
    pub(super) timed: Option<Timed>,
}

/// The embedding of a question that the run searches again separately, unless it has no text. So the model embeds the question once.
#[derive(Debug)]
pub(super) struct Timed(pub(super) Option<Cached<Embedded>>);

/// A question without results so far.
struct Pending<'q> {
    question: &'q str,
    /// `None` if the profile needs none, and for a question without text, to which nothing is similar.
    embedded: Option<Cached<Embedded>>,
}

/// The results of a group of questions. A question that the model cannot embed has no result.
pub(super) async fn run(
    searcher: &IndexSearcher,
    batch: &QuestionBatch,
    group: &[&str],
    is_model_down: &AtomicBool,
    observer: &dyn BatchObserver,
) -> Result<HashMap<String, Answer>, IndexError> {
    let k = batch.k.min(searcher.contents.positions.documents());
    let mut round = Round {
        searcher,
        batch,
        k,
        depth: searcher.first_depth(k),
        progress: Progress {
            observer,
            searched: 0,
            questions: group.len(),
        },
    };
    let mut pending = round.embed(group, is_model_down).await;
    let mut answers = HashMap::new();
    while !pending.is_empty() {
        pending = round.search(pending, &mut answers).await?;
        round.depth = deeper(round.depth);
    }
    Ok(answers)
}

/// How many questions of the batch are compared with the vectors in one pass.
pub(super) fn group_size(searcher: &IndexSearcher, batch: &QuestionBatch) -> usize {
    let k = batch.k.min(searcher.contents.positions.documents());
    let fitting = GROUP_BYTES / BYTES_OF_A_HIT / searcher.first_depth(k).max(1);
    fitting.clamp(FEWEST_IN_A_GROUP, MOST_IN_A_GROUP)
}

/// Searches at one depth.
struct Round<'a> {
    searcher: &'a IndexSearcher,
    batch: &'a QuestionBatch,
    k: usize,
    depth: usize,
    progress: Progress<'a>,
}

impl Round<'_> {
    /// Searches a group of questions. Returns those whose chunks belong to too few documents.
    async fn search<'q>(
        &mut self,
        group: Vec<Pending<'q>>,
        answers: &mut HashMap<String, Answer>,
    ) -> Result<Vec<Pending<'q>>, IndexError> {
        let profile = self.searcher.profile;
        let (mut lexical, mut semantic) = (Vec::new(), Vec::new());
        if profile.needs_full_text() {
            lexical = self.lexical(&group).await?;
        }
        if profile.needs_embeddings() {
            semantic = self.nearest(&group).await?;
        }
        let total = group.len();
        let (mut unfinished, mut searched) = (Vec::new(), self.progress.searched);
        let contents = Arc::clone(&self.searcher.contents);
        let positions = &contents.positions;
        for (place, pending) in group.into_iter().enumerate() {
            let found = match profile {
                Profile::Hybrid(method) => {
                    let legs = (&lexical[place], &semantic[place]);
                    Arc::new(fused(method, legs.0, legs.1, positions))
                }
                Profile::Bm25 => Arc::clone(&lexical[place]),
                _ => Arc::clone(&semantic[place]),
            };
            if found.exhausted || hit::has_documents(&found.hits, self.k, positions) {
                searched += 1;
                let (question, answer) = (pending.question, self.answer(pending, &found));
                answers.insert(question.to_owned(), answer);
            } else {
                unfinished.push(pending);
            }
            Progress {
                searched,
                ..self.progress
            }
            .tell(BatchStage::Ranking, place + 1, total);
            task::yield_now().await;
        }
        self.progress.searched = searched;
        Ok(unfinished)
    }

    /// Embeds the questions, each on its own as a search of one question does: a model may return other bits for a batch. A question that the
    /// model cannot embed is left to the search of one question, which reports why. `is_model_down` tells whether the model failed in a way
    /// that the next question would meet, too.
    async fn embed<'q>(&self, group: &[&'q str], is_model_down: &AtomicBool) -> Vec<Pending<'q>> {
        let searcher = self.searcher;
        let mut embeddings: Vec<BoxFuture<'_, Option<Pending<'q>>>> = Vec::new();
        for &question in group {
            embeddings.push(Box::pin(async move {
                // A model that is down is not asked for every question.
                if is_model_down.load(Ordering::Relaxed) {
                    return None;
                }
                let cache = searcher.cache.clone().unwrap_or_default();
                let embedded = searcher.embed(question, &cache).await;
                let embedded = embedded.inspect_err(|error| {
                    if !concerns_one_question(error) {
                        is_model_down.store(true, Ordering::Relaxed);
                    }
                });
                let embedded = embedded.ok()?;
                Some(Pending { question, embedded })
            }));
        }
        let mut embeddings = stream::iter(embeddings).buffered(self.batch.concurrency.get());
        let (mut pending, mut done) = (Vec::new(), 0);
        let tell = |done| {
            self.progress.tell(BatchStage::Embedding, done, group.len());
        };
        tell(done);
        while let Some(embedded) = embeddings.next().await {
            pending.extend(embedded);
            done += 1;
            tell(done);
        }
        pending
    }

    /// The semantic search of each question of the group, in one pass. Nothing is similar to a question without text.
    async fn nearest(&self, group: &[Pending<'_>]) -> Result<Vec<Arc<FoundChunks>>, IndexError> {
        let mut found = self.cached("semantic", group);
        let mut values = Vec::new();
        for (found, pending) in found.iter_mut().zip(group) {
            match &pending.embedded {
                _ if found.is_some() => {}
                Some(embedded) => values.extend_from_slice(&embedded.value.vector),
                None => *found = Some(Arc::new(FoundChunks::nothing())),
            }
        }
        let mut results = Vec::new();
        if !values.is_empty() {
            let contents = &self.searcher.contents;
            let chunks = contents.positions.chunks();
            let tell = |read: usize| {
                let read = read.min(chunks);
                self.progress.tell(BatchStage::Vectors, read, chunks);
            };
            tell(0);
            let (filter, dimension) = (&self.searcher.filter, contents.embedder()?.dimension());
            let values = values.into();
            results =
                vectors::nearest(contents, filter, values, dimension, self.depth, tell).await?;
        }
        Ok(self.completed("semantic", group, found, results))
    }

    /// The full-text search of each question of the group, in one pass.
    async fn lexical(&self, group: &[Pending<'_>]) -> Result<Vec<Arc<FoundChunks>>, IndexError> {
        let found = self.cached("bm25", group);
        let missing = found.iter().zip(group).filter(|(found, _)| found.is_none());
        let asked: Vec<&str> = missing.map(|(_, pending)| pending.question).collect();
        let mut results = Vec::new();
        if !asked.is_empty() {
            let (contents, filter) = (&self.searcher.contents, &self.searcher.filter);
            results = terms::best(contents, filter, &asked, self.depth).await?;
        }
        Ok(self.completed("bm25", group, found, results))
    }

    /// What the cache has for each question.
    fn cached(&self, leg: &'static str, group: &[Pending<'_>]) -> Vec<Option<Arc<FoundChunks>>> {
        let cached = |pending: &Pending<'_>| {
            let cache = self.searcher.cache.as_ref()?;
            let key = self.searcher.leg_key(leg, pending.question, self.depth);
            cache.legs.peek(&key)
        };
        group.iter().map(cached).collect()
    }

    /// The results of all questions, with those of the questions that were searched for. The cache has them for the other searchers of the
    /// index, unless the run times the question: its separate search has to reach the engine.
    fn completed(
        &self,
        leg: &'static str,
        group: &[Pending<'_>],
        found: Vec<Option<Arc<FoundChunks>>>,
        results: Vec<FoundChunks>,
    ) -> Vec<Arc<FoundChunks>> {
        let mut results = results.into_iter();
        let mut searched = |question: &str| {
            let result = results.next();
            let result = Arc::new(result.expect("a search that was not cached was asked for"));
            if let Some(cache) = &self.searcher.cache
                && !self.batch.timed.contains(question)
            {
                let key = self.searcher.leg_key(leg, question, self.depth);
                cache.legs.offer(key, Arc::clone(&result));
            }
            result
        };
        let found = found.into_iter().zip(group);
        found
            .map(|(found, pending)| found.unwrap_or_else(|| searched(pending.question)))
            .collect()
    }

    fn answer(&self, pending: Pending<'_>, found: &FoundChunks) -> Answer {
        let searcher = self.searcher;
        let mut timings = Timings::default();
        if let Some(embedded) = &pending.embedded {
            timings.add_embedding(embedded);
        }
        Answer {
            documents: hit::best_of_documents(&found.hits, self.k, &searcher.contents.positions),
            passages: searcher.passages_among(&found.hits, self.k),
            timings,
            timed: self
                .batch
                .timed
                .contains(pending.question)
                .then_some(Timed(pending.embedded)),
        }
    }
}

/// Whether another question may be embedded although this one could not.
fn concerns_one_question(error: &IndexError) -> bool {
    match error {
        IndexError::Question { source, .. } => match source.downcast_ref() {
            Some(EmbedError::Model { failure, .. }) => *failure == Failure::Content,
            _ => true,
        },
        _ => false,
    }
}
