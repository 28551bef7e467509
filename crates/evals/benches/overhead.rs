//! The overhead of the framework: cases that do nothing, judged by four cheap evaluators.
//!
//! `benches/overhead.py` runs this beside pydantic-evals and prints the ratio:
//!
//! ```sh
//! python3 -m venv target/overhead && target/overhead/bin/pip install pydantic-evals
//! target/overhead/bin/python crates/evals/benches/overhead.py
//! ```
//!
//! Prints one JSON object: cases, best and median wall time of several runs in milliseconds, and the peak of resident memory
//! in kilobytes above its size before the dataset was made; then the same times with a journal, and the journal's size. The
//! times do not include the journal's last sync to the disk.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals::{
    Case, Context, Dataset, Domain, Evaluator, EvaluatorError, Experiment, FileJournal, Outcome,
};

const CASES: usize = 10_000;
const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not 0");
const RUNS: usize = 11;

#[derive(Clone, Copy, Debug)]
struct Echo;

impl Domain for Echo {
    type Input = String;
    type Output = String;
    type Expected = String;
    type Metadata = ();
}

#[derive(Debug)]
struct EqualsExpected;

#[async_trait]
impl Evaluator<Echo> for EqualsExpected {
    fn name(&self) -> &'static str {
        "EqualsExpected"
    }

    async fn evaluate(&self, context: &Context<'_, Echo>) -> Result<Vec<Outcome>, EvaluatorError> {
        let expected = context.case.expected.as_ref();
        Ok(expected
            .map(|expected| Outcome::assertion("EqualsExpected", expected == context.output))
            .into_iter()
            .collect())
    }
}

#[derive(Debug)]
struct Contains(&'static str);

#[async_trait]
impl Evaluator<Echo> for Contains {
    fn name(&self) -> &'static str {
        "Contains"
    }

    async fn evaluate(&self, context: &Context<'_, Echo>) -> Result<Vec<Outcome>, EvaluatorError> {
        Ok(vec![Outcome::assertion(
            "Contains",
            context.output.contains(self.0),
        )])
    }
}

#[derive(Debug)]
struct IsNotEmpty;

#[async_trait]
impl Evaluator<Echo> for IsNotEmpty {
    fn name(&self) -> &'static str {
        "IsNotEmpty"
    }

    async fn evaluate(&self, context: &Context<'_, Echo>) -> Result<Vec<Outcome>, EvaluatorError> {
        Ok(vec![Outcome::assertion(
            "IsNotEmpty",
            !context.output.is_empty(),
        )])
    }
}

#[derive(Debug)]
struct MaxDuration(Duration);

#[async_trait]
impl Evaluator<Echo> for MaxDuration {
    fn name(&self) -> &'static str {
        "MaxDuration"
    }

    async fn evaluate(&self, context: &Context<'_, Echo>) -> Result<Vec<Outcome>, EvaluatorError> {
        Ok(vec![Outcome::assertion(
            "MaxDuration",
            context.duration <= self.0,
        )])
    }
}

fn dataset() -> Dataset<Echo> {
    let cases = (0..CASES).map(|number| {
        let text = format!("case {number}");
        Case::new(text.clone(), text.clone()).expecting(text)
    });
    Dataset::new("overhead", cases)
        .expect("numbered ids are unique")
        .evaluator(EqualsExpected)
        .evaluator(Contains("case"))
        .evaluator(IsNotEmpty)
        .evaluator(MaxDuration(Duration::from_secs(2)))
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    let base = status_kilobytes("VmHWM:");
    let (best, median) = times(|| runtime.block_on(run(None)));
    let peak = status_kilobytes("VmHWM:").saturating_sub(base);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overhead.jsonl");
    let (journal_best, journal_median) = times(|| runtime.block_on(run(Some(&path))));
    let journal = fs::metadata(&path).map_or(0, |journal| journal.len() / 1024);
    let _ = fs::remove_file(&path);
    println!(
        "{{\"cases\": {CASES}, \"best_ms\": {best:.1}, \"median_ms\": {median:.1}, \"base_kb\": {base}, \
         \"peak_above_base_kb\": {peak}, \"journal_best_ms\": {journal_best:.1}, \
         \"journal_median_ms\": {journal_median:.1}, \"journal_kb\": {journal}}}",
    );
}

/// Best and median time of several runs in milliseconds.
fn times(run: impl Fn() -> Duration) -> (f64, f64) {
    let mut times: Vec<Duration> = (0..RUNS).map(|_| run()).collect();
    times.sort_unstable();
    let [best, median] = [times[0], times[RUNS / 2]].map(|time| time.as_secs_f64() * 1e3);
    (best, median)
}

/// Times one run, from the dataset to the report, with a new journal if there is a path for it.
async fn run(journal: Option<&Path>) -> Duration {
    let dataset = dataset();
    let journal = journal.map(|path| {
        let _ = fs::remove_file(path);
        FileJournal::open::<Echo>(path, &serde_json::Value::Null)
            .expect("the build's folder can be written to")
            .0
    });
    let started = Instant::now();
    let mut experiment = Experiment::new(
        dataset,
        |case, _scope| async move { Ok(case.input.clone()) },
    );
    // Dropped only after the measurement, which must not include its sync.
    let journal = journal.map(Arc::new);
    if let Some(journal) = &journal {
        experiment = experiment.journal(journal.clone());
    }
    let report = experiment.concurrency(CONCURRENCY).run().await;
    let elapsed = started.elapsed();
    assert_eq!(
        report
            .cases
            .iter()
            .map(|case| case.outcomes.len())
            .sum::<usize>(),
        4 * CASES
    );
    elapsed
}

/// A line of `/proc/self/status`; 0 where there is no such file.
fn status_kilobytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(0)
}
