//! Rows of golden files in JSON Lines.

use serde_json::Value;

/// The rows of a kind, of which there has to be one.
pub(crate) fn rows(golden: &str, kind: &str) -> Vec<Value> {
    let rows = golden
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Value> = rows.filter(|row: &Value| row["kind"] == kind).collect();
    assert!(!rows.is_empty(), "no rows of {kind}");
    rows
}

pub(crate) fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Equal to 1e-9, relative to values above 1.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, context: &Value) {
    let tolerance = 1e-9 * expected.abs().max(1.0);
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} instead of {expected} in {context}"
    );
}
