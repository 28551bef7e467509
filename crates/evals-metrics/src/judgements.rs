//! The relevance judgements of one query's documents.

use std::collections::{BTreeMap, btree_map};

use serde::{Deserialize, Serialize};

/// The graded relevance judgements of one query: document id to grade.
///
/// A grade of 1 or more is relevant, 0 is judged and not relevant. Negative grades, which some
/// collections use for spam, are judged, not relevant and without gain. A document that is missing
/// here is unjudged, which every measure treats as not relevant.
///
/// Ids are unique and kept in byte order. Serialises as an object, `{"document id": grade}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Judgements(BTreeMap<String, i32>);

impl Judgements {
    /// Creates a set without any judgement.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a grade and returns the one that it replaces.
    pub fn insert(&mut self, id: impl Into<String>, grade: i32) -> Option<i32> {
        self.0.insert(id.into(), grade)
    }

    /// The grade of a document, or `None` where nobody judged it.
    pub fn grade(&self, id: &str) -> Option<i32> {
        self.0.get(id).copied()
    }

    /// The ids of the relevant documents, those of grade 1 or more, in byte order.
    pub fn relevant(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .filter(|&(_, grade)| grade >= 1)
            .map(|(id, _)| id)
    }

    /// All judgements in byte order of the document id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i32)> {
        self.0.iter().map(|(id, &grade)| (id.as_str(), grade))
    }

    /// The number of judged documents, whatever their grade.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was judged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Of two grades for one document, the later one counts.
impl FromIterator<(String, i32)> for Judgements {
    fn from_iter<T: IntoIterator<Item = (String, i32)>>(judgements: T) -> Self {
        Self(judgements.into_iter().collect())
    }
}

impl IntoIterator for Judgements {
    type Item = (String, i32);
    type IntoIter = btree_map::IntoIter<String, i32>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
