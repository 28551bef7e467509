//! Runs a batch: embeds the questions, compares them with all vectors at once, and ranks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use evals_models::{EmbedError, Failure};
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};

use super::observer::{BatchObserver, BatchStage};
use super::progress::Progress;
use super::questions::QuestionBatch;
use super::vectors;
use crate::error::IndexError;
use crate::search::cache::{Cached, Embedded, LegKey};
use crate::search::hit::{self, Found, Hit};
use crate::search::inquiry::Inquiry;
use crate::search::leg::Leg;
use crate::search::searcher::{IndexSearcher, deeper};
use crate::search::timings::Timings;
use crate::search::{Cache, unranked};

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

/// The embedding, if the profile needs one, of a question that the run searches again separately. So the model embeds the question once.
#[derive(Debug)]
pub(super) struct Timed(pub(super) Option<Cached<Embedded>>);

/// A question without results so far.
#[derive(Debug)]
struct Pending<'a> {
    question: &'a str,
    embedding: Embedding,
}

#[derive(Debug)]
enum Embedding {
    NotYet,
    Done(Option<Cached<Embedded>>),
    /// The model failed. The question is left to the search of one question, which reports why.
    Failed,
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
        is_model_down,
        progress: Progress {
            observer,
            searched: 0,
            questions: group.len(),
        },
    };
    let mut answers = HashMap::new();
    let pending = group.iter().map(|question| Pending {
        question,
        embedding: Embedding::NotYet,
    });
    let mut pending: Vec<_> = pending.collect();
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
#[derive(Debug)]
struct Round<'a> {
    searcher: &'a IndexSearcher,
    batch: &'a QuestionBatch,
    k: usize,
    depth: usize,
    progress: Progress<'a>,
    /// Whether the model failed in a way that the next question would meet, too.
    is_model_down: &'a AtomicBool,
}

impl Round<'_> {
    /// Searches a group of questions. Returns those whose chunks belong to too few documents.
    async fn search<'q>(
        &mut self,
        mut group: Vec<Pending<'q>>,
        answers: &mut HashMap<String, Answer>,
    ) -> Result<Vec<Pending<'q>>, IndexError> {
        if self.searcher.profile.needs_embeddings() {
            self.embed(&mut group).await;
            group.retain(|pending| matches!(pending.embedding, Embedding::Done(_)));
        }
        let semantic = self.nearest(&group).await?;
        let unranked = self.unranked().await?;
        let total = group.len();
        let this = &*self;
        // Boxed: the compiler cannot tell that these futures may move between threads otherwise.
        let mut rankings: Vec<BoxFuture<'_, Result<_, IndexError>>> = Vec::new();
        for (pending, semantic) in group.into_iter().zip(semantic) {
            let unranked = unranked.clone();
            rankings.push(Box::pin(async move {
                let found = this.rank(&pending, semantic, unranked).await?;
                Ok((pending, found))
            }));
        }
        let mut ranked = stream::iter(rankings).buffer_unordered(this.concurrency());
        let (mut done, mut unfinished, mut searched) = (0, Vec::new(), this.progress.searched);
        while let Some((pending, found)) = ranked.try_next().await? {
            done += 1;
            let positions = &this.searcher.contents.positions;
            if found.exhausted || hit::distinct_documents(&found.hits, positions) >= this.k {
                searched += 1;
                let (question, answer) = (pending.question, this.answer(pending, &found));
                answers.insert(question.to_owned(), answer);
            } else {
                unfinished.push(pending);
            }
            Progress {
                searched,
                ..this.progress
            }
            .tell(BatchStage::Ranking, done, total);
        }
        drop(ranked);
        self.progress.searched = searched;
        Ok(unfinished)
    }

    /// As many as the processor has cores, or as the run asks at once if that is more.
    fn concurrency(&self) -> usize {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        cores.max(self.batch.concurrency.get())
    }

    /// Embeds the questions that are not embedded yet, each on its own as a search of one question does: a model may return other bits
    /// for a batch.
    async fn embed(&self, group: &mut [Pending<'_>]) {
        let total = group.len();
        let missing = group.iter_mut();
        let mut missing: Vec<_> = missing
            .filter(|pending| matches!(pending.embedding, Embedding::NotYet))
            .collect();
        let mut done = total - missing.len();
        let searcher = self.searcher;
        let is_model_down = self.is_model_down;
        let mut embeddings: Vec<BoxFuture<'_, ()>> = Vec::new();
        for pending in &mut missing {
            embeddings.push(Box::pin(async move {
                // A model that is down is not asked for every question.
                if is_model_down.load(Ordering::Relaxed) {
                    pending.embedding = Embedding::Failed;
                    return;
                }
                let cache = searcher.cache.clone().unwrap_or_default();
                pending.embedding = match searcher.embed(pending.question, &cache).await {
                    Ok(embedded) => Embedding::Done(embedded),
                    Err(error) => {
                        if !concerns_one_question(&error) {
                            is_model_down.store(true, Ordering::Relaxed);
                        }
                        Embedding::Failed
                    }
                };
            }));
        }
        let mut embedded = stream::iter(embeddings).buffer_unordered(self.batch.concurrency.get());
        self.progress.tell(BatchStage::Embedding, done, total);
        while embedded.next().await.is_some() {
            done += 1;
            self.progress.tell(BatchStage::Embedding, done, total);
        }
    }

    /// The semantic search of each question of the group, in one pass. `None` where the profile has no semantic search.
    async fn nearest(&self, group: &[Pending<'_>]) -> Result<Vec<Option<Arc<Found>>>, IndexError> {
        let mut found: Vec<Option<Arc<Found>>> = vec![None; group.len()];
        if !self.searcher.profile.needs_embeddings() {
            return Ok(found);
        }
        let mut asked = Vec::new();
        let mut values = Vec::new();
        for (place, pending) in group.iter().enumerate() {
            let Embedding::Done(embedded) = &pending.embedding else {
                continue;
            };
            found[place] = self.cached("semantic", pending.question);
            match embedded {
                _ if found[place].is_some() => {}
                None => found[place] = Some(Arc::new(Found::nothing())),
                Some(embedded) => {
                    asked.push(place);
                    values.extend_from_slice(&embedded.value.vector);
                }
            }
        }
        if asked.is_empty() {
            return Ok(found);
        }
        let contents = &self.searcher.contents;
        let nearest = vectors::nearest(
            contents,
            &self.searcher.filter,
            values.into(),
            contents.embedder()?.dimension(),
            self.depth,
            &self.progress,
        );
        for (place, nearest) in asked.into_iter().zip(nearest.await?) {
            let nearest = Arc::new(nearest);
            self.offer("semantic", group[place].question, &nearest);
            found[place] = Some(nearest);
        }
        Ok(found)
    }

    /// The ranking that is the same for all questions, if the profile is that one.
    async fn unranked(&self) -> Result<Option<Arc<Found>>, IndexError> {
        if self.searcher.profile != crate::Profile::Unranked {
            return Ok(None);
        }
        let contents = &self.searcher.contents;
        let found = unranked::search(
            &contents.table,
            &contents.positions,
            &self.searcher.filter,
            self.depth,
        );
        Ok(Some(Arc::new(found.await?)))
    }

    async fn full_text(&self, question: &str) -> Result<Arc<Found>, IndexError> {
        if let Some(found) = self.cached("bm25", question) {
            return Ok(found);
        }
        let searcher = self.searcher;
        let leg = Leg::Bm25 { question };
        let found = leg.search(
            &searcher.contents.table,
            &searcher.contents.positions,
            &searcher.filter,
            self.depth,
            &searcher.ties,
        );
        let mut found = found.await?;
        found.duration = None;
        let found = Arc::new(found);
        self.offer("bm25", question, &found);
        Ok(found)
    }

    /// The profile's ranking of one question, made of the results of its searches.
    async fn rank(
        &self,
        pending: &Pending<'_>,
        semantic: Option<Arc<Found>>,
        unranked: Option<Arc<Found>>,
    ) -> Result<Arc<Found>, IndexError> {
        let (searcher, question) = (self.searcher, pending.question);
        let lexical = if searcher.profile.needs_full_text() {
            Some(self.full_text(question).await?)
        } else {
            None
        };
        let results = Cache::default();
        let legs = [
            ("semantic", question, semantic),
            ("bm25", question, lexical),
            ("unranked", "", unranked),
        ];
        for (leg, question, found) in legs {
            if let Some(found) = found {
                results.legs.offer(self.key(leg, question), found);
            }
        }
        let embedded = match &pending.embedding {
            Embedding::Done(Some(embedded)) => Some(embedded.value.as_ref()),
            _ => None,
        };
        let mut inquiry = Inquiry {
            contents: &searcher.contents,
            filter: &searcher.filter,
            ties: &searcher.ties,
            approximate: None,
            cache: &results,
            question,
            embedded,
            depth: self.depth,
            timings: &mut Timings::default(),
        };
        Box::pin(inquiry.find(searcher.profile)).await
    }

    fn answer(&self, pending: Pending<'_>, found: &Found) -> Answer {
        let searcher = self.searcher;
        let embedded = match pending.embedding {
            Embedding::Done(embedded) => embedded,
            Embedding::NotYet | Embedding::Failed => None,
        };
        let mut timings = Timings::default();
        if let Some(embedded) = &embedded {
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
                .then_some(Timed(embedded)),
        }
    }

    fn cached(&self, leg: &'static str, question: &str) -> Option<Arc<Found>> {
        let cache = self.searcher.cache.as_ref()?;
        cache.legs.peek(&self.key(leg, question))
    }

    /// Caches a result for the other searchers of the index, unless the run times the question: its separate search has to reach the engine.
    fn offer(&self, leg: &'static str, question: &str, found: &Arc<Found>) {
        if let Some(cache) = &self.searcher.cache
            && !self.batch.timed.contains(question)
        {
            cache.legs.offer(self.key(leg, question), Arc::clone(found));
        }
    }

    fn key(&self, leg: &'static str, question: &str) -> LegKey {
        LegKey::new(leg, question, &self.searcher.filter, self.depth)
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
