//! Ids of cases that their source does not name.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::snapshot::digest;

/// Ids for the unnamed cases of one source, made from their inputs: two versions of the source then give the same case the same id,
/// wherever it stands.
///
/// ```
/// let mut ids = evals::DerivedIds::default();
/// assert_eq!(ids.next("Why?"), "q-499f097cf704");
/// assert_eq!(ids.next("Why?"), "q-499f097cf704-2");
/// ```
#[derive(Debug, Default)]
pub struct DerivedIds {
    /// How often each id was given.
    given: BTreeMap<String, usize>,
}

impl DerivedIds {
    /// The id of the next case. A repeated input gets a number, counted in the order of the source.
    pub fn next(&mut self, input: &(impl Serialize + ?Sized)) -> String {
        let id = format!("q-{}", digest(input));
        let given = self.given.entry(id.clone()).or_default();
        *given += 1;
        match *given {
            1 => id,
            number => format!("{id}-{number}"),
        }
    }
}
