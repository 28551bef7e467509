//! The relevance judgements of one query's documents, and of all queries.

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

/// The judgements of a whole collection: query id to [`Judgements`], in byte order of the query id.
///
/// "Qrels" is TREC's name for *query relevance* files; [`trec`](crate::trec) reads and writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Qrels(BTreeMap<String, Judgements>);

impl Qrels {
    /// Creates a collection without queries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The judgements of a query, or `None` where it has none.
    pub fn get(&self, query: &str) -> Option<&Judgements> {
        self.0.get(query)
    }

    /// Sets all judgements of a query and returns those that they replace.
    pub fn insert(
        &mut self,
        query: impl Into<String>,
        judgements: Judgements,
    ) -> Option<Judgements> {
        self.0.insert(query.into(), judgements)
    }

    /// Records one grade and returns the one that it replaces.
    pub fn judge(&mut self, query: &str, document: impl Into<String>, grade: i32) -> Option<i32> {
        match self.0.get_mut(query) {
            Some(judgements) => judgements.insert(document, grade),
            None => self
                .0
                .entry(query.to_owned())
                .or_default()
                .insert(document, grade),
        }
    }

    /// All queries in byte order of their id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Judgements)> {
        self.0
            .iter()
            .map(|(query, judgements)| (query.as_str(), judgements))
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no queries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Of two sets for one query, the later one counts.
impl FromIterator<(String, Judgements)> for Qrels {
    fn from_iter<T: IntoIterator<Item = (String, Judgements)>>(queries: T) -> Self {
        Self(queries.into_iter().collect())
    }
}
