//! Unique names, made by numbering repeated ones.

use std::collections::{BTreeMap, BTreeSet};

/// Gives out each name only once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
    /// For each name, the number to try next; all below it are taken.
    next: BTreeMap<String, u32>,
}

impl Names {
    /// Gives out the name itself if it is free, else the first free one of `name_2`, `name_3` and so on.
    pub(crate) fn claim(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let candidate = format!("{name}_{number}");
            *number += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}
