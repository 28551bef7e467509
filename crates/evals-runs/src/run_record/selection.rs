//! The record of the chosen cases in the manifest and the report of a run.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The record of a run's selection. Runs with different records are different runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectionRecord {
    /// Cases of the dataset.
    pub of: usize,
    /// Chosen cases.
    pub chosen: usize,
    /// The options that chose them.
    pub by: Vec<String>,
    /// A digest of the ids of the chosen cases.
    pub ids: String,
}

/// The record of a `--limit` that left cases out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitRecord {
    /// The value of the option.
    pub first: usize,
    /// The cases that it was applied to: those that other options chose.
    pub of: usize,
}

impl SelectionRecord {
    /// The key of a report's metadata that holds the record.
    pub const KEY: &str = "selection";

    /// The digest of the ids of chosen cases, in the order of the dataset.
    pub fn digest(ids: &[impl AsRef<str>]) -> String {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        hex::encode(Sha256::digest(ids.join("\n")))
    }

    /// How many of how many cases were chosen, and why.
    pub fn text(&self) -> String {
        chosen(self.chosen, self.of, &self.by)
    }
}

impl LimitRecord {
    /// The key of a report's metadata that holds the record.
    pub const KEY: &str = "limit";

    /// Keeps the first cases; `None` if there are no more.
    pub fn truncate<T>(first: usize, cases: &mut Vec<T>) -> Option<Self> {
        let of = cases.len();
        cases.truncate(first);
        (first < of).then_some(Self { first, of })
    }
}

/// How many of how many cases run, and why: `20 of 320 (topic=Sports, --limit 20)`.
pub fn selection_text(
    selection: Option<&SelectionRecord>,
    limit: Option<LimitRecord>,
    count: usize,
) -> Option<String> {
    let of = selection.map(|it| it.of).or(limit.map(|it| it.of))?;
    let mut by = selection.map_or_else(Vec::new, |it| it.by.clone());
    by.extend(limit.map(|it| format!("--limit {}", it.first)));
    Some(chosen(count, of, &by))
}

fn chosen(count: usize, of: usize, by: &[String]) -> String {
    format!("{count} of {of} ({})", by.join(", "))
}
