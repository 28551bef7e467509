//! How the documents of a case and of a run were matched.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::matcher::{How, Matched};
use crate::call::is_zero;

/// How the documents of one reply were matched. It is an attribute of the case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatchRecord {
    /// How many by their id.
    #[serde(skip_serializing_if = "is_zero")]
    pub id: usize,
    /// How many by the rule.
    #[serde(skip_serializing_if = "is_zero")]
    pub rule: usize,
    /// How many because a document contains their text.
    #[serde(skip_serializing_if = "is_zero")]
    pub text: usize,
    /// How many because a document contains enough of their shingles.
    #[serde(skip_serializing_if = "is_zero")]
    pub shingles: usize,
    /// How many of those matched by their text fit several documents, of which one was taken.
    #[serde(skip_serializing_if = "is_zero")]
    pub ambiguous: usize,
    /// How many not at all.
    #[serde(skip_serializing_if = "is_zero")]
    pub unmatched: usize,
    /// How many of the unmatched have a text of fewer than 8 words, which no document equals.
    #[serde(skip_serializing_if = "is_zero")]
    pub too_short: usize,
    /// How many different documents they are.
    #[serde(skip_serializing_if = "is_zero")]
    pub distinct: usize,
    /// Whether the scores of the ranking are those of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreUse>,
    /// The first of the unmatched, by the names that they have in rankings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched_names: Vec<String>,
}

/// Whether a ranking has the scores of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreUse {
    /// It has.
    Kept,
    /// It counts down to 1 in their place, because a document has a higher score than the one before it.
    OutOfOrder,
}

/// How the documents of all replies of a run were matched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MatchCounts {
    /// The sums over all cases. The names are the most frequent ones of the unmatched.
    #[serde(flatten)]
    pub all: MatchRecord,
    /// Cases of which no document was matched, although there were some.
    pub cases_without_match: usize,
}

impl MatchRecord {
    /// The attribute of a case that holds the record.
    pub const ATTRIBUTE: &str = "documents matched";

    /// Most names in a record.
    const NAMES: usize = 20;

    /// The record of a reply's documents.
    pub(in crate::targets) fn of(matched: &[Matched]) -> Self {
        let distinct: BTreeSet<&str> = matched.iter().map(|it| it.id.as_str()).collect();
        let mut record = Self {
            distinct: distinct.len(),
            ..Self::default()
        };
        for document in matched {
            record.ambiguous += usize::from(document.is_ambiguous);
            match document.how {
                How::Id => record.id += 1,
                How::Rule => record.rule += 1,
                How::Text => record.text += 1,
                How::Shingles => record.shingles += 1,
                How::Unmatched | How::TooShort => {
                    record.unmatched += 1;
                    record.too_short += usize::from(document.how == How::TooShort);
                    if record.unmatched_names.len() < Self::NAMES
                        && !record.unmatched_names.contains(&document.id)
                    {
                        record.unmatched_names.push(document.id.clone());
                    }
                }
            }
        }
        record
    }

    /// How many documents were matched.
    pub fn matched(&self) -> usize {
        self.id + self.rule + self.text + self.shingles
    }

    /// How many documents there were.
    pub fn documents(&self) -> usize {
        self.matched() + self.unmatched
    }
}

impl MatchCounts {
    /// Adds up the attributes of a run's cases.
    pub fn of<'a>(cases: impl IntoIterator<Item = &'a BTreeMap<String, Value>>) -> Self {
        let mut counts = Self::default();
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for attributes in cases {
            let record = attributes.get(MatchRecord::ATTRIBUTE);
            let record = record.and_then(|it| MatchRecord::deserialize(it).ok());
            let Some(record) = record else { continue };
            counts.cases_without_match +=
                usize::from(record.unmatched > 0 && record.matched() == 0);
            for name in &record.unmatched_names {
                *names.entry(name.clone()).or_default() += 1;
            }
            counts.all.add(&record);
        }
        let mut names: Vec<(String, usize)> = names.into_iter().collect();
        // Of equally frequent ones the first by name.
        names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        names.truncate(MatchRecord::NAMES);
        counts.all.unmatched_names = names.into_iter().map(|(name, _)| name).collect();
        counts
    }

    /// Whether there were documents, and not one of them was matched.
    pub fn none_matched(&self) -> bool {
        self.all.unmatched > 0 && self.all.matched() == 0
    }

    /// Whether most documents were not matched.
    pub fn mostly_unmatched(&self) -> bool {
        self.all.unmatched > self.all.matched()
    }
}

impl MatchRecord {
    fn add(&mut self, other: &Self) {
        self.id += other.id;
        self.rule += other.rule;
        self.text += other.text;
        self.shingles += other.shingles;
        self.ambiguous += other.ambiguous;
        self.unmatched += other.unmatched;
        self.too_short += other.too_short;
    }
}
