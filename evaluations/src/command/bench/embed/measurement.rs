//! How a model is measured within its time.

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

/// Calls that are timed for one batch size, at most.
const MOST_CALLS: usize = 200;
/// What a throughput is measured for where calls are quick.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// Calls that make a throughput, if it was measured for long enough.
const ENOUGH_CALLS: usize = 100;

/// What is measured of each model.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) texts: Arc<Texts>,
    /// Ascending, and at least one.
    pub(super) batches: Vec<NonZeroUsize>,
    /// Ascending.
    pub(super) concurrency: Vec<NonZeroUsize>,
    pub(super) time: Duration,
}

/// One model, being measured.
///
/// Three fifths of the time are for latencies: first as many batch sizes as possible, the smallest first, are called often enough for
/// percentiles, then all of them have equal parts of what is left. The rest is for throughput, more of it for more calls at once, which
/// take longer together. What one measurement leaves, the next have. Nothing is begun that, by the calls before it, would not end
/// in time; a batch size that was begun has one call that counts.
pub(super) struct Measurement<'m> {
    embedder: Arc<dyn Embedder>,
    plan: &'m Plan,
    figures: &'m mut ModelFigures,
    started: Instant,
    /// The time of the last call of each batch size.
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

/// What the calls at the same time share.
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
        plan: &'m Plan,
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
        let Plan {
            batches,
            concurrency,
            time,
            ..
        } = self.plan;
        // The middle one: small batches are not what throughput is about, and few large ones fit into the time.
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
                // Not counted: the first call of a size also makes room for it.
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

    /// The batch size whose turn it is; `None` where the time is over. Each size has one turn at least.
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

    /// How long a batch takes: as the last of its size, or else as so many texts of the largest so far.
    fn expected(&self, batch: NonZeroUsize) -> Duration {
        let known = self.took.get(&batch).copied();
        known.unwrap_or_else(|| match self.took.last_key_value() {
            Some((texts, took)) => took.saturating_mul(number(batch)) / number(*texts),
            None => Duration::ZERO,
        })
    }

    /// Whether calls of this kind end in time, even if the model works on one after another. Where not, it is noted.
    fn fits(&mut self, batch: NonZeroUsize, concurrency: NonZeroUsize) -> bool {
        let expected = self.expected(batch).saturating_mul(number(concurrency));
        let left = self.plan.time.saturating_sub(self.started.elapsed());
        if expected > left {
            self.figures.left_out.push(LeftOut {
                batch,
                concurrency,
                reason: format!(
                    "would take about {:.1} s, of {:.1} s that were left",
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
        // What was answered before a failure has to be paid for, too.
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
    /// Makes one call after another until the time is over. Each caller makes one at least.
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

/// Waits for all calls. The first failure takes the others back.
async fn all(mut callers: JoinSet<Result<(), EmbedError>>) -> Result<()> {
    while let Some(caller) = callers.join_next().await {
        caller.context("a call was given up")??;
    }
    Ok(())
}

fn number(count: NonZeroUsize) -> u32 {
    u32::try_from(count.get()).unwrap_or(u32::MAX)
}
