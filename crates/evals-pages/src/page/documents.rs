//! The openings of documents, for rankings whose reports hold ids alone.

use std::collections::{BTreeMap, BTreeSet};

use evals_html::page::Passage;

/// Titles and openings of documents by their ids.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// Titles and openings by the ids of documents.
    pub openings: BTreeMap<String, Passage>,
    /// The reason why rankings have no texts, if any.
    pub absence: Option<String>,
    /// The documents whose texts are left out, because a page would be too large with them.
    pub left_out: BTreeSet<String>,
}

impl Documents {
    /// The documents of a run whose report holds the texts, or that found none.
    pub fn none() -> Self {
        Self::default()
    }

    /// Documents that cannot be read, for a reason that pages show.
    pub fn absent(reason: impl Into<String>) -> Self {
        Self {
            absence: Some(reason.into()),
            ..Self::default()
        }
    }

    /// The documents of several runs.
    pub fn merged<'d>(all: impl IntoIterator<Item = &'d Self>) -> Self {
        let mut merged = Self::default();
        for documents in all {
            let openings = documents.openings.iter();
            let openings = openings.map(|(id, opening)| (id.clone(), opening.clone()));
            merged.openings.extend(openings);
            merged.left_out.extend(documents.left_out.iter().cloned());
            merged.absence = merged.absence.or_else(|| documents.absence.clone());
        }
        let openings = &merged.openings;
        merged.left_out.retain(|id| !openings.contains_key(id));
        merged
    }

    pub(super) fn opening(&self, document: &str) -> Option<&Passage> {
        self.openings.get(document)
    }

    /// The reason why rankings have no texts, if any.
    pub fn absence(&self) -> Option<&str> {
        self.absence.as_deref()
    }

    /// The number of documents whose texts are left out, because a page would be too large with them.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(read: &str, left_out: &[&str]) -> Documents {
        Documents {
            openings: [(read.to_owned(), Passage::default())].into(),
            left_out: left_out.iter().map(ToString::to_string).collect(),
            ..Documents::default()
        }
    }

    #[test]
    fn a_text_that_one_run_has_is_not_left_out() {
        let both = [documents("a", &["b", "c"]), documents("b", &["c", "d"])];
        let merged = Documents::merged(&both);
        assert!(merged.opening("a").is_some() && merged.opening("b").is_some());
        assert_eq!(merged.left_out(), 2, "c and d");
    }
}
