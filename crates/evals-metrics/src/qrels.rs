//! The judgements of all queries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Judgements;

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
