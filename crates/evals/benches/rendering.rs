//! How long it takes to render a report of 5,000 cases in each format.

use std::io;

use divan::Bencher;
use evals::render::{self, Cases, Console};
use evals::{Domain, Report, Summary};
use evals_metrics::Bootstrap;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const CASES: usize = 5_000;

#[derive(Clone, Copy, Debug)]
struct Texts;

impl Domain for Texts {
    type Input = String;
    type Output = String;
    type Expected = String;
    type Metadata = Value;
}

/// Cases with three scores, an assertion with a reason, and one of twenty topics.
fn report() -> (Report<Texts>, Summary) {
    let case = |number: usize| {
        let outcome = |name: &str, value: Value| json!({"name": name, "evaluator": name, "value": value, "reason": format!("because of {number}")});
        json!({
            "id": format!("case {number}"), "repeat": 1, "input": format!("question {number}? ").repeat(10),
            "expected": "reference ".repeat(20), "metadata": {"topic": format!("topic {}", number % 20)},
            "result": {"output": "answer ".repeat(40)},
            "outcomes": [
                outcome("RR", json!({"score": 0.5})), outcome("nDCG", json!({"score": 0.25})),
                outcome("F1", json!({"score": 0.75})), outcome("right", json!({"assertion": number.is_multiple_of(3)})),
            ],
            "evaluator_failures": [], "seconds": 0.002, "timings": [], "metrics": {"tokens": 120.0}, "attributes": {},
        })
    };
    let report = json!({
        "schema_version": 1, "name": "rendering", "dataset": "texts", "repeat": 1, "interrupted": false, "not_run": 0,
        "seconds": 10.0, "metadata": {}, "cases": (0..CASES).map(case).collect::<Vec<_>>(),
    });
    let report: Report<Texts> = serde_json::from_value(report).expect("a report");
    let summary = report.summary(&Bootstrap::default());
    (report, summary)
}

#[divan::bench]
fn console_cases(bencher: Bencher<'_, '_>) {
    let (report, _) = report();
    let shown = Cases {
        most: CASES,
        reasons: true,
        parts: vec![evals::render::Part::Output],
    };
    bencher.bench(|| Console::default().cases(io::sink(), &report, &shown));
}

#[divan::bench]
fn console_details(bencher: Bencher<'_, '_>) {
    let (report, _) = report();
    bencher.bench(|| Console::default().case_details(io::sink(), &report, |_| true));
}

#[divan::bench]
fn csv(bencher: Bencher<'_, '_>) {
    let (report, _) = report();
    bencher.bench(|| render::csv::report(io::sink(), &report));
}

#[divan::bench]
fn markdown(bencher: Bencher<'_, '_>) {
    let (report, summary) = report();
    bencher.bench(|| render::markdown::report(io::sink(), &report, &summary));
}
