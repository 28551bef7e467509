//! Cells of CSV, which are texts, as the values that a reply needs.

use serde_json::Value;

/// Separates ids in a cell.
const SEPARATOR: char = '|';

/// The value of a cell in a column of this name.
///
/// Lists of ids are JSON or separated by `|`; numbers, truth values and the fields of objects are JSON. In other columns a cell that
/// is a JSON list or object counts as one, and every other cell is a text.
pub(super) fn value(column: &str, text: &str) -> Result<Value, String> {
    match column {
        "documents" | "citations" => list(column, text),
        "refused" | "repeat" | "latency_seconds" | "latency_ms" | "usage" | "tool_calls"
        | "attributes" | "metrics" | "spans" => json(column, text),
        "id" | "answer" | "output" | "model" | "version" | "error" => Ok(Value::from(text)),
        _ => Ok(structured(text).unwrap_or_else(|| Value::from(text))),
    }
}

/// A list of ids. A cell that begins like a list and is not JSON, such as Python's `['d1', 'd2']`, would be one id that no document
/// has.
fn list(column: &str, text: &str) -> Result<Value, String> {
    if let Some(list) = structured(text) {
        return Ok(list);
    }
    if text.trim_start().starts_with('[') {
        return Err(format!(
            "`{column}` begins like a list but is not JSON: `{text}`; write `[\"d1\", \"d2\"]` (Python: `json.dumps`) or `d1{SEPARATOR}d2`"
        ));
    }
    let ids = text.split(SEPARATOR).map(str::trim);
    Ok(ids.filter(|id| !id.is_empty()).map(Value::from).collect())
}

fn structured(text: &str) -> Option<Value> {
    let looks_so = text.trim_start().starts_with(['[', '{']);
    looks_so.then(|| serde_json::from_str(text).ok()).flatten()
}

fn json(column: &str, text: &str) -> Result<Value, String> {
    // Python writes `True`.
    let text = match text.trim() {
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        text => text,
    };
    serde_json::from_str(text).map_err(|_| format!("`{column}` is not JSON: `{text}`"))
}
