//! The time and memory that four built-in evaluators take on a task that does nothing.
//!
//! `benches/checks.py` runs the same dataset with pydantic-evals and prints both:
//!
//! ```sh
//! python3 -m venv target/checks && target/checks/bin/pip install pydantic-evals==2.62.0
//! target/checks/bin/python crates/evals-evaluators/benches/checks.py
//! ```
//!
//! Prints one JSON object: cases, best and median wall time of several runs in milliseconds, from the dataset to the report,
//! and the peak of resident memory in kilobytes: of the process, and above its size before the dataset was made.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::fs;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evals::{Case, Dataset, Evaluator, EvaluatorSpec, Experiment, SpecArguments};
use evals_evaluators::{Built, Registry, Resources, Untyped};
use serde_json::{Value, json};

const CASES: usize = 5_000;
const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not 0");
const RUNS: usize = 11;

fn evaluators() -> Vec<Arc<dyn Evaluator<Untyped>>> {
    let registry = Registry::built_in();
    let evaluators = [
        ("EqualsExpected", None),
        ("Contains", Some(json!("case"))),
        ("IsInstance", Some(json!("str"))),
        ("MaxDuration", Some(json!(2.0))),
    ];
    let build = |(name, argument): (&str, Option<Value>)| {
        let spec = EvaluatorSpec {
            name: name.to_owned(),
            arguments: argument.map_or(SpecArguments::None, |value| {
                SpecArguments::Positional([value])
            }),
        };
        match registry.build(&spec, &Resources::default()) {
            Ok(Built::Case(evaluator)) => evaluator,
            other => panic!("{other:?}"),
        }
    };
    evaluators.map(build).into()
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    let base = status_kilobytes("VmHWM:");
    let mut times: Vec<Duration> = (0..RUNS).map(|_| runtime.block_on(run())).collect();
    times.sort_unstable();
    let [best, median] = [times[0], times[RUNS / 2]].map(|time| time.as_secs_f64() * 1e3);
    let peak = status_kilobytes("VmHWM:");
    let above = peak.saturating_sub(base);
    println!(
        "{{\"cases\": {CASES}, \"best_ms\": {best:.1}, \"median_ms\": {median:.1}, \"peak_kb\": {peak}, \
         \"peak_above_base_kb\": {above}}}"
    );
}

async fn run() -> Duration {
    let cases = (0..CASES).map(|number| {
        let text = format!("case {number}");
        Case::new(text.clone(), json!(text)).expecting(json!(text))
    });
    let dataset = Dataset::<Untyped>::new("checks", cases).expect("numbered ids are unique");
    let dataset = dataset.with_evaluators(evaluators());
    let started = Instant::now();
    let experiment = Experiment::new(
        dataset,
        |case, _scope| async move { Ok(case.input.clone()) },
    );
    let report = experiment.concurrency(CONCURRENCY).run().await;
    let elapsed = started.elapsed();
    let outcomes = report.cases.iter().map(|case| case.outcomes.len());
    assert_eq!(outcomes.sum::<usize>(), 4 * CASES);
    elapsed
}

/// A line of `/proc/self/status`; 0 where there is no such file.
fn status_kilobytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(0)
}
