//! Baselines: whatever a file holds, it is refused or gives a baseline that writes the same file and keeps its own gate.

use evals::{Gate, GateReport, GateVerdict, Rule, Subject};
use evals_fuzz::Target;
use serde_json::{Value, json};

use super::tests::{content, text};
use super::{BaselineFile, checksum, layout};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

const TOKENS: [&str; 14] = [
    "null",
    "1e999",
    "-0",
    "1e308",
    "\"task failed\"",
    "\"\"",
    "[]",
    "{}",
    "\"metric\"",
    "\"pass-rate\"",
    "\"lower\"",
    "\"\\u0000\"",
    "\"cost\": -1",
    "18446744073709551615",
];

/// A gate of the first measure that can drop, against the baseline itself.
fn gated(baseline: &BaselineFile) -> Option<GateReport> {
    let measure = baseline.snapshot.measures.first()?;
    let gate = Gate {
        rules: vec![Rule::MaxDrop {
            measure: measure.title.clone(),
            tolerance: 0.1,
        }],
        ..Gate::default()
    };
    let subject = Subject {
        checks: &[],
        run: &baseline.snapshot,
        baseline: Some(&baseline.snapshot),
    };
    let names = |written: &str, title: &str| written == title;
    gate.judge(&[subject], &names).ok()
}

#[test]
fn a_baseline_is_refused_or_written_again() {
    Target::new("baseline", CORPUS)
        .seed(layout::document(&content()))
        .dictionary(TOKENS)
        .run(|input| {
            // With a checksum that fits, or no mutation would get past it.
            let Ok(Value::Object(members)) = serde_json::from_slice(input) else {
                assert!(BaselineFile::parse(input).is_err());
                return;
            };
            let content = Value::Object(members);
            let mut document = json!({"checksum": checksum(&content)});
            let members = document.as_object_mut().unwrap();
            members.extend(content.as_object().unwrap().clone());
            let Ok(read) = BaselineFile::parse(layout::document(&document).as_bytes()) else {
                return;
            };
            let again = text(&serde_json::to_value(&read).unwrap());
            assert_eq!(BaselineFile::parse(again.as_bytes()).unwrap(), read);
            if let Some(report) = gated(&read) {
                let drop = &report.runs[0].checks[0];
                let has_values = read.snapshot.means().next().is_some_and(|(_, _, n)| n > 0);
                // One case that did not change is too few for a pass.
                let unchanged = drop.verdict == GateVerdict::CannotTell;
                assert_eq!(unchanged, has_values, "{drop:?}");
            }
        });
}
