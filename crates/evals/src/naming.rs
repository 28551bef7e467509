//! Unique names.

use std::collections::{BTreeMap, BTreeSet};

/// Names that are given out once each.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
    /// The number that a name's next holder tries first; all below it are taken.
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
