//! Measures one setting after the other.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use evals_index::{Approximation, IndexError, VectorCollection, VectorNeighbour};
use evals_load::{ClosedLoop, OpenLoop, Served, ThreadPace};
use evals_metrics::{NeighbourHits, PairedTest, Percentiles, Scale};
use evals_pipeline::peak_memory;
use evals_rag::VectorSearch;
use futures::future::BoxFuture;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use indicatif::ProgressBar;

use super::asked::Asked;
use super::figures::{ClosedFigures, OpenFigures, SettingFigures};
use crate::options::BenchIndexArgs;

/// Exact search finds so many neighbours more than the search to measure, to include ties with the last one.
const TIES: usize = 100;
/// The rates of searches as shares of the highest rate of the callers.
const SHARES: [f64; 2] = [0.5, 0.8];
/// Concurrent searches for the measurement of recall.
const AT_ONCE: usize = 4;

/// How many connections to measure: the fewest that give percentiles.
const CONNECTIONS: usize = Percentiles::FEWEST_SAMPLES;

/// The results of exact search, and the options of the measurement.
pub(super) struct Measurement<'m> {
    asked: &'m Asked,
    arguments: &'m BenchIndexArgs,
    bar: &'m ProgressBar,
    /// The neighbours of each question.
    exact: Vec<Vec<VectorNeighbour>>,
    /// nDCG@10 of exact search for each question; `None` without judgements.
    ndcg: Option<Vec<Option<f64>>>,
}

impl<'m> Measurement<'m> {
    /// Finds the neighbours of all questions exactly.
    pub(super) async fn new(
        asked: &'m Asked,
        arguments: &'m BenchIndexArgs,
        bar: &'m ProgressBar,
    ) -> Result<Self> {
        let count = asked.vectors.count();
        let deepest = arguments.k.iter().map(|k| k.get()).max().unwrap_or(1);
        let exact = asked
            .vectors
            .exact(Arc::clone(&asked.questions), deepest + TIES, |read| {
                bar.set_message(format!("exact search, {read} of {count} vectors"));
            })
            .await?;
        let mut this = Self {
            asked,
            arguments,
            bar,
            exact,
            ndcg: None,
        };
        this.ndcg = this.scores(&this.exact)?;
        Ok(this)
    }

    /// The number of chunks to find for latency, load and nDCG.
    pub(super) fn k(&self) -> usize {
        self.arguments.k[0].get()
    }

    /// Measures exact search through the engine, whose recall is 1 by definition.
    pub(super) async fn exact(&self) -> Result<SettingFigures> {
        let has_neighbours = self.exact.iter().any(|found| !found.is_empty());
        let ks = self.arguments.k.iter().map(|k| k.get());
        let mut figures = SettingFigures {
            label: "exact".to_owned(),
            settings: VectorSearch::default(),
            recall: ks.filter(|_| has_neighbours).map(|k| (k, 1.0)).collect(),
            ..SettingFigures::default()
        };
        self.load(None, &mut figures).await?;
        Ok(figures)
    }

    /// Builds an index, and then measures the searches that share it.
    pub(super) async fn of_index(
        &self,
        searches: &[Approximation],
        number: &mut usize,
        of: usize,
    ) -> Result<Vec<SettingFigures>> {
        let Some(first) = searches.first() else {
            return Ok(Vec::new());
        };
        let vectors = &self.asked.vectors;
        self.bar
            .set_message(format!("{number}/{of} {}: building", first.built));
        let has_peak = peak_memory::reset();
        let took = vectors.build(&first.built).await?;
        let build_peak_bytes = peak_memory::bytes().filter(|_| has_peak);
        let (_, index_bytes) = vectors.bytes();
        let mut measured = Vec::new();
        for search in searches {
            self.bar.set_message(format!("{number}/{of} {search}"));
            *number += 1;
            let mut figures = SettingFigures {
                label: label(search),
                settings: search.settings(),
                build_seconds: Some(took.as_secs_f64()),
                index_bytes,
                build_peak_bytes,
                ..SettingFigures::default()
            };
            self.fill(search, &mut figures)
                .await
                .with_context(|| format!("cannot measure `{search}`"))?;
            measured.push(figures);
        }
        Ok(measured)
    }

    async fn fill(&self, search: &Approximation, figures: &mut SettingFigures) -> Result<()> {
        self.asked.vectors.check(search).await?;
        for k in self.arguments.k.iter().map(|k| k.get()) {
            let found = self.all(search, k).await?;
            if let Some(recall) = self.recall(&found, k) {
                figures.recall.insert(k, recall);
            }
            if k == self.k() {
                figures.ndcg = self.change(&found)?;
            }
        }
        self.load(Some(search), figures).await
    }

    /// The results of each question.
    async fn all(&self, search: &Approximation, k: usize) -> Result<Vec<Vec<VectorNeighbour>>> {
        let asker = Arc::new(Asker::new(self.asked, k, Some(search)));
        let searches = (0..self.asked.questions()).map(|number| {
            let asker = Arc::clone(&asker);
            let vectors = self.asked.vectors.clone();
            let found: BoxFuture<'_, _> =
                Box::pin(async move { asker.ask(&vectors, number).await });
            found
        });
        let found = stream::iter(searches).buffered(AT_ONCE);
        Ok(found.try_collect().await?)
    }

    /// The recall of all questions; `None` if there are no neighbours.
    fn recall(&self, found: &[Vec<VectorNeighbour>], k: usize) -> Option<f64> {
        let hits = self.exact.iter().zip(found).map(|(exact, found)| {
            let exact: Vec<(u32, f32)> = exact.iter().map(|it| (it.number, it.score)).collect();
            let found: Vec<u32> = found.iter().map(|it| it.number).collect();
            NeighbourHits::of(&found, &exact, k)
        });
        hits.sum::<NeighbourHits>().recall()
    }

    fn scores(&self, found: &[Vec<VectorNeighbour>]) -> Result<Option<Vec<Option<f64>>>> {
        let Some(judged) = &self.asked.judged else {
            return Ok(None);
        };
        let cut = found.iter().map(|it| {
            let k = self.k().min(it.len());
            it[..k].to_vec()
        });
        judged.scores(&cut.collect::<Vec<_>>()).map(Some)
    }

    /// The change of nDCG@10 from exact search, paired by question.
    fn change(
        &self,
        found: &[Vec<VectorNeighbour>],
    ) -> Result<Option<evals_metrics::PairedDifference>> {
        let (Some(exact), Some(scores)) = (&self.ndcg, self.scores(found)?) else {
            return Ok(None);
        };
        let pairs = exact.iter().zip(scores);
        let pairs: Vec<(f64, f64)> = pairs
            .filter_map(|(exact, score)| (*exact).zip(score))
            .collect();
        let test = PairedTest {
            seed: self.arguments.seed,
            ..PairedTest::default()
        };
        Ok(test.compare(&pairs, None, Scale::Share))
    }

    /// Measures latency and throughput.
    async fn load(
        &self,
        search: Option<&Approximation>,
        figures: &mut SettingFigures,
    ) -> Result<()> {
        let has_peak = peak_memory::reset();
        let asker = Arc::new(Asker::new(self.asked, self.k(), search));
        let vectors = &self.asked.vectors;
        let open = async || Ok(vectors.reopened().await?);
        let search = async |vectors: VectorCollection, number| {
            asker.ask(&vectors, number).await?;
            Ok(())
        };
        figures.cold = cold(open, search).await?;
        let time = Duration::from_secs_f64(self.arguments.seconds);
        for callers in &self.arguments.concurrency {
            let load = ClosedLoop {
                callers: *callers,
                time,
                least: Percentiles::FEWEST_SAMPLES,
                ..ClosedLoop::default()
            };
            let served = load.run(caller(&asker, vectors)).await?;
            figures.closed.push(ClosedFigures {
                concurrency: callers.get(),
                searches: served.requests(),
                per_second: served.per_second(),
                seconds: served.percentiles(),
            });
        }
        let most = figures.most_per_second().unwrap_or(1.0);
        let shares = SHARES.map(|share| (most * share, Some(share)));
        let own = self.arguments.rates.iter().map(|rate| (*rate, None));
        let rates: Vec<_> = if self.arguments.rates.is_empty() {
            shares.to_vec()
        } else {
            own.collect()
        };
        for (rate, share) in rates {
            let mut load = OpenLoop::lasting(rate, time);
            load.requests = load.requests.max(Percentiles::FEWEST_SAMPLES);
            let served: Served = load.run(ThreadPace, caller(&asker, vectors)).await?;
            figures.open.push(OpenFigures {
                rate,
                share,
                searches: served.requests(),
                per_second: served.per_second(),
                seconds: served.percentiles(),
            });
        }
        figures.search_peak_bytes = peak_memory::bytes().filter(|_| has_peak);
        Ok(())
    }
}

/// Asks the questions in turn.
#[derive(Debug)]
struct Asker {
    questions: Arc<[f32]>,
    dimension: usize,
    k: usize,
    search: Option<Approximation>,
}

impl Asker {
    fn new(asked: &Asked, k: usize, search: Option<&Approximation>) -> Self {
        Self {
            questions: Arc::clone(&asked.questions),
            dimension: asked.vectors.dimension(),
            k,
            search: search.cloned(),
        }
    }

    async fn ask(
        &self,
        vectors: &VectorCollection,
        number: usize,
    ) -> Result<Vec<VectorNeighbour>, IndexError> {
        let start = number * self.dimension % self.questions.len();
        let question = &self.questions[start..start + self.dimension];
        vectors
            .nearest(question, self.k, self.search.as_ref())
            .await
    }
}

/// A search as a load sends it.
fn caller(
    asker: &Arc<Asker>,
    vectors: &VectorCollection,
) -> impl Fn(usize) -> BoxFuture<'static, Result<(), IndexError>> + Clone + Send + 'static {
    let (asker, vectors) = (Arc::clone(asker), vectors.clone());
    move |number| {
        let (asker, vectors) = (Arc::clone(&asker), vectors.clone());
        Box::pin(async move { asker.ask(&vectors, number).await.map(drop) })
    }
}

/// The type and the parameters of the search. The settings have the parameters of the index.
fn label(search: &Approximation) -> String {
    let mut label = search.built.kind.to_string();
    for (name, value) in search.search_parameters() {
        // A graph has one partition for each million of vectors.
        if name != "probes" || search.ef.is_none() {
            write!(label, " {name} {value}").expect("a string takes any text");
        }
    }
    label
}

/// Percentiles of the seconds from the start of `open` to the end of the first search, over several connections one after the other.
/// `search` gets the connection and its number. Returns the first failure.
async fn cold<C>(
    open: impl AsyncFn() -> Result<C>,
    search: impl AsyncFn(C, usize) -> Result<()>,
) -> Result<Percentiles> {
    let mut seconds = Vec::with_capacity(CONNECTIONS);
    for number in 0..CONNECTIONS {
        let started = Instant::now();
        let connection = open().await?;
        search(connection, number).await?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    Ok(Percentiles::of(seconds))
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test]
    async fn the_time_contains_opening_and_searching() {
        let step = Duration::from_millis(2);
        let open = async || {
            sleep(step).await;
            Ok(())
        };
        let search = async |(), _| {
            sleep(step).await;
            Ok(())
        };
        let seconds = cold(open, search).await.unwrap();
        assert!(seconds.p50.unwrap() >= 2.0 * step.as_secs_f64());
    }
}
