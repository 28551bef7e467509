//! Runs a batch: embeds the questions, compares them with all vectors at once, and ranks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use evals_models::{EmbedError, Failure};
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt, stream};

use super::observer::{BatchObserver, BatchStage, Progress};
use super::{QuestionBatch, vectors};
use crate::error::IndexError;
use crate::profile::Profile;
use crate::search::cache::{Cached, Embedded};
use crate::search::fusion::fused;
use crate::search::hit::{self, FoundChunks, Hit};
use crate::search::leg::Leg;
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
    /// `None` for a question without text, to which nothing is similar.
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
        let semantic = self.nearest(&group).await?;
        let total = group.len();
        let this = &*self;
        // Boxed: the compiler cannot tell that these futures may move between threads otherwise.
        let mut rankings: Vec<BoxFuture<'_, Result<_, IndexError>>> = Vec::new();
        for (pending, semantic) in group.into_iter().zip(semantic) {
            rankings.push(Box::pin(async move {
                let found = this.rank(pending.question, semantic).await?;
                Ok((pending, found))
            }));
        }
        let mut ranked = stream::iter(rankings).buffered(this.concurrency());
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

    /// The semantic search of each question of the group, in one pass.
    async fn nearest(&self, group: &[Pending<'_>]) -> Result<Vec<Arc<FoundChunks>>, IndexError> {
        let mut found: Vec<Option<Arc<FoundChunks>>> = Vec::with_capacity(group.len());
        let (mut asked, mut values) = (Vec::new(), Vec::new());
        for (place, pending) in group.iter().enumerate() {
            let cached = self.cached("semantic", pending.question);
            found.push(match &pending.embedded {
                _ if cached.is_some() => cached,
                None => Some(Arc::new(FoundChunks::nothing())),
                Some(embedded) => {
                    asked.push(place);
                    values.extend_from_slice(&embedded.value.vector);
                    None
                }
            });
        }
        if !asked.is_empty() {
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
        }
        let found = found.into_iter();
        Ok(found
            .map(|it| it.expect("a search that was not cached was asked for"))
            .collect())
    }

    async fn full_text(&self, question: &str) -> Result<Arc<FoundChunks>, IndexError> {
        if let Some(found) = self.cached("bm25", question) {
            return Ok(found);
        }
        let leg = Leg::Bm25 { question };
        let mut found = self.searcher.search_leg(leg, self.depth).await?;
        found.duration = None;
        let found = Arc::new(found);
        self.offer("bm25", question, &found);
        Ok(found)
    }

    /// The profile's ranking of one question, made of the results of its searches.
    async fn rank(
        &self,
        question: &str,
        semantic: Arc<FoundChunks>,
    ) -> Result<Arc<FoundChunks>, IndexError> {
        let Profile::Hybrid(method) = self.searcher.profile else {
            return Ok(semantic);
        };
        let lexical = self.full_text(question).await?;
        let positions = &self.searcher.contents.positions;
        Ok(Arc::new(fused(method, &lexical, &semantic, positions)))
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

    fn cached(&self, leg: &'static str, question: &str) -> Option<Arc<FoundChunks>> {
        let cache = self.searcher.cache.as_ref()?;
        let key = self.searcher.leg_key(leg, question, self.depth);
        cache.legs.peek(&key)
    }

    /// Caches a result for the other searchers of the index, unless the run times the question: its separate search has to reach the engine.
    fn offer(&self, leg: &'static str, question: &str, found: &Arc<FoundChunks>) {
        if let Some(cache) = &self.searcher.cache
            && !self.batch.timed.contains(question)
        {
            let key = self.searcher.leg_key(leg, question, self.depth);
            cache.legs.offer(key, Arc::clone(found));
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
