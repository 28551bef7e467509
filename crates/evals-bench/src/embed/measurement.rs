//! Measures latency and throughput of a model within a time limit.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use evals_metrics::Percentiles;
use evals_models::{EmbedError, Embedder, TextKind};
use tokio::task::JoinSet;

use super::figures::{Latency, LeftOut, ModelFigures, Throughput};
use super::texts::Texts;

/// Most calls that are timed for one batch size.
const MOST_CALLS: usize = 200;
/// Time that is long enough to measure the throughput of quick calls.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// Calls that are enough to measure throughput once `LONG_ENOUGH` has passed.
const ENOUGH_CALLS: usize = 100;

/// The measurements of each model.
#[derive(Debug)]
pub(super) struct BenchPlan {
    pub(super) texts: Arc<Texts>,
    /// Ascending, and at least one.
    pub(super) batches: Vec<NonZeroUsize>,
    /// Ascending.
    pub(super) concurrency: Vec<NonZeroUsize>,
    /// Time limit for each model.
    pub(super) time: Duration,
}

/// The measurement of one model.
///
/// Three fifths of the time go to latency. First, each batch size, the smallest first, gets enough calls for percentiles. Then all sizes
/// share the remaining time equally. The other two fifths go to throughput, with more time for higher concurrency, whose calls take
/// longer. Time that one measurement does not use goes to the next ones. A measurement that would not end in time, judged by earlier
/// calls, is skipped. Each batch size that is started has at least one timed call.
pub(super) struct Measurement<'m> {
    embedder: Arc<dyn Embedder>,
    plan: &'m BenchPlan,
    figures: &'m mut ModelFigures,
    started: Instant,
    /// The duration of the last call of each batch size.
    took: BTreeMap<NonZeroUsize, Duration>,
    /// Number of the next call.
    call: usize,
}

/// The calls of one batch size.
#[derive(Debug)]
struct Samples {
    batch: NonZeroUsize,
    seconds: Vec<f64>,
    together: Duration,
}

/// The state that concurrent calls share.
#[derive(Debug)]
struct Round {
    embedder: Arc<dyn Embedder>,
    texts: Arc<Texts>,
    batch: NonZeroUsize,
    /// Calls begun and ended.
    begun: AtomicUsize,
    ended: AtomicUsize,
    tokens: AtomicUsize,
    deadline: Instant,
    long_enough: Instant,
}

impl<'m> Measurement<'m> {
    pub(super) fn new(
        embedder: Arc<dyn Embedder>,
        plan: &'m BenchPlan,
        figures: &'m mut ModelFigures,
    ) -> Self {
        Self {
            embedder,
            plan,
            figures,
            started: Instant::now(),
            took: BTreeMap::new(),
            call: 0,
        }
    }

    pub(super) async fn run(mut self) -> Result<()> {
        self.latencies().await?;
        let BenchPlan {
            batches,
            concurrency,
            time,
            ..
        } = self.plan;
        // The middle size: small batches limit throughput, and few large ones fit into the time.
        let batch = *batches.get(batches.len() / 2).context("no batch size")?;
        let begun = self.started.elapsed();
        let rest = time.saturating_sub(begun);
        let weight = |at_once: &NonZeroUsize| f64::from(number(*at_once)) + 1.0;
        let all: f64 = concurrency.iter().map(weight).sum();
        let mut until = begun;
        for at_once in concurrency {
            until += rest.mul_f64(weight(at_once) / all);
            if self.fits(batch, *at_once) {
                self.throughput(batch, *at_once, self.started + until)
                    .await?;
            }
        }
        Ok(())
    }

    async fn latencies(&mut self) -> Result<()> {
        let until = self.started + self.plan.time * 3 / 5;
        let mut samples: Vec<Samples> = Vec::new();
        for batch in &self.plan.batches {
            if self.fits(*batch, NonZeroUsize::MIN) {
                // Warm-up: the first call of a size also allocates memory.
                self.timed(*batch).await?;
                samples.push(Samples::of(*batch));
            }
        }
        while let Some(next) = self.next(&mut samples, until) {
            let took = self.timed(next.batch).await?;
            next.seconds.push(took.as_secs_f64());
            next.together += took;
        }
        let latencies = samples.into_iter().map(|samples| Latency {
            batch: samples.batch,
            seconds: Percentiles::of(samples.seconds),
        });
        self.figures.latency.extend(latencies);
        Ok(())
    }

    /// The batch size to call next, or `None` if the time is over. Each size gets at least one call.
    fn next<'s>(&self, samples: &'s mut [Samples], until: Instant) -> Option<&'s mut Samples> {
        if let Some(empty) = samples.iter().position(|it| it.seconds.is_empty()) {
            return samples.get_mut(empty);
        }
        let left = until.saturating_duration_since(Instant::now());
        samples
            .iter_mut()
            .filter(|it| it.seconds.len() < MOST_CALLS && self.expected(it.batch) <= left)
            .min_by_key(|it| {
                let has_percentiles = it.seconds.len() >= Percentiles::FEWEST_SAMPLES;
                let together = if has_percentiles {
                    it.together
                } else {
                    Duration::ZERO
                };
                (has_percentiles, together, it.batch)
            })
    }

    /// The expected duration of a batch: that of the last batch of its size, else extrapolated from the largest batch so far.
    fn expected(&self, batch: NonZeroUsize) -> Duration {
        let known = self.took.get(&batch).copied();
        known.unwrap_or_else(|| match self.took.last_key_value() {
            Some((texts, took)) => took.saturating_mul(number(batch)) / number(*texts),
            None => Duration::ZERO,
        })
    }

    /// Whether concurrent calls would end in time even if the model served them one after another. Records the measurement as skipped
    /// if not.
    fn fits(&mut self, batch: NonZeroUsize, concurrency: NonZeroUsize) -> bool {
        let expected = self.expected(batch).saturating_mul(number(concurrency));
        let left = self.plan.time.saturating_sub(self.started.elapsed());
        if expected > left {
            self.figures.left_out.push(LeftOut {
                batch,
                concurrency,
                reason: format!(
                    "would take about {:.1} s, but only {:.1} s were left",
                    expected.as_secs_f64(),
                    left.as_secs_f64()
                ),
            });
        }
        expected <= left
    }

    async fn timed(&mut self, batch: NonZeroUsize) -> Result<Duration, EmbedError> {
        let most = self.embedder.max_tokens();
        let (texts, tokens) = self.plan.texts.batch(self.call, batch, most);
        self.call += 1;
        self.figures.spend(tokens);
        let started = Instant::now();
        self.embedder.embed(&texts, TextKind::Document).await?;
        let took = started.elapsed();
        self.took.insert(batch, took);
        Ok(took)
    }

    async fn throughput(
        &mut self,
        batch: NonZeroUsize,
        concurrency: NonZeroUsize,
        until: Instant,
    ) -> Result<()> {
        let started = Instant::now();
        let round = Arc::new(Round {
            embedder: Arc::clone(&self.embedder),
            texts: Arc::clone(&self.plan.texts),
            batch,
            begun: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            tokens: AtomicUsize::new(0),
            deadline: until,
            long_enough: started + LONG_ENOUGH,
        });
        let mut callers = JoinSet::new();
        for _ in 0..concurrency.get() {
            callers.spawn(Arc::clone(&round).call_on());
        }
        let ended = all(callers).await;
        let seconds = started.elapsed().as_secs_f64().max(f64::EPSILON);
        let texts = round.ended.load(Ordering::Relaxed) * batch.get();
        let tokens = round.tokens.load(Ordering::Relaxed);
        // The calls before a failure cost money too.
        self.figures.spend(tokens);
        ended?;
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52")]
        let rate = |count: usize| count as f64 / seconds;
        self.figures.throughput.push(Throughput {
            concurrency,
            batch,
            texts,
            tokens,
            seconds,
            texts_per_second: rate(texts),
            tokens_per_second: rate(tokens),
        });
        Ok(())
    }
}

impl Samples {
    fn of(batch: NonZeroUsize) -> Self {
        Self {
            batch,
            seconds: Vec::new(),
            together: Duration::ZERO,
        }
    }
}

impl Round {
    /// Makes one call after another until the time is over, and at least one.
    async fn call_on(self: Arc<Self>) -> Result<(), EmbedError> {
        loop {
            let call = self.begun.fetch_add(1, Ordering::Relaxed);
            let most = self.embedder.max_tokens();
            let (texts, tokens) = self.texts.batch(call, self.batch, most);
            self.embedder.embed(&texts, TextKind::Document).await?;
            self.tokens.fetch_add(tokens, Ordering::Relaxed);
            let ended = 1 + self.ended.fetch_add(1, Ordering::Relaxed);
            let now = Instant::now();
            let enough = ended >= ENOUGH_CALLS && now >= self.long_enough;
            if enough || now >= self.deadline {
                return Ok(());
            }
        }
    }
}

/// Waits for all calls. The first failure cancels the others.
async fn all(mut callers: JoinSet<Result<(), EmbedError>>) -> Result<()> {
    while let Some(caller) = callers.join_next().await {
        caller.context("a call was cancelled")??;
    }
    Ok(())
}

fn number(count: NonZeroUsize) -> u32 {
    u32::try_from(count.get()).unwrap_or(u32::MAX)
}
