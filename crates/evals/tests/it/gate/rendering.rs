//! The formats of a gate's verdicts.

use evals::render::{self, Console};
use evals::{Gate, GateReport, Strictness};
use insta::assert_snapshot;

use super::{gate, judged, max, max_drop, min, scored};

/// One rule fails, one cannot be told, and one passes.
fn verdicts(strictness: Strictness) -> GateReport {
    let before: Vec<f64> = (0..60)
        .map(|number| f64::from(number % 4) / 4.0 + 0.25)
        .collect();
    let after: Vec<f64> = before
        .iter()
        .enumerate()
        .map(|(place, value)| if place < 15 { 0.0 } else { *value })
        .collect();
    let gate = Gate {
        strictness,
        ..gate([max_drop(0.1), min("RR", 0.4), max("failed", 0.0)])
    };
    judged(&gate, &scored(&before), &scored(&after)).unwrap()
}

/// Two of eight cases lost.
fn unsure(strictness: Strictness) -> GateReport {
    let mut after = [1.0; 8];
    after[..2].fill(0.0);
    let gate = Gate {
        strictness,
        ..gate([max_drop(0.02)])
    };
    judged(&gate, &scored(&[1.0; 8]), &scored(&after)).unwrap()
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn console(width: u16, report: &GateReport) -> String {
    let console = Console {
        width,
        ..Console::default()
    };
    text(|out| console.gate(out, report))
}

#[test]
fn wide_terminal() {
    assert_snapshot!(console(100, &verdicts(Strictness::Default)));
}

#[test]
fn terminal_of_60_columns() {
    assert_snapshot!(console(60, &verdicts(Strictness::Default)));
}

#[test]
fn strict_and_unsure() {
    assert_snapshot!(console(100, &unsure(Strictness::Default)));
    assert_snapshot!("strict", console(100, &unsure(Strictness::Strict)));
}

#[test]
fn markdown() {
    assert_snapshot!(text(|out| render::markdown::gate(
        out,
        &verdicts(Strictness::Default)
    )));
}

#[test]
fn junit() {
    assert_snapshot!(text(|out| render::junit::gate(
        out,
        &verdicts(Strictness::Default)
    )));
    assert_snapshot!(
        "junit_unsure",
        text(|out| render::junit::gate(out, &unsure(Strictness::Default)))
    );
}

#[test]
fn github() {
    assert_snapshot!(text(|out| {
        render::github::gate(&mut *out, &verdicts(Strictness::Default))?;
        render::github::gate(out, &unsure(Strictness::Default))
    }));
}

#[test]
fn json_reads_back() {
    let report = verdicts(Strictness::Default);
    let written = text(|out| render::json::gate(out, &report));
    let read: GateReport = serde_json::from_str(&written).unwrap();
    assert_eq!(read, report);
}
