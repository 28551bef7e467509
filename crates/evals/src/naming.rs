//! Names of measures: unique ones, their titles in tables, and those of which the same is said.

use std::collections::{BTreeMap, BTreeSet};

use evals_messages::visible::single_line;

use crate::Unit;

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

/// The title of a measure in tables.
pub(crate) fn title_of(unit: Unit, measure: &str) -> String {
    match unit {
        Unit::PassRate => pass_rate_name(measure),
        Unit::Score | Unit::Share | Unit::Metric | Unit::Seconds => single_line(measure),
    }
}

/// The name of a pass rate, which differs from that of a score.
pub(crate) fn pass_rate_name(name: &str) -> String {
    format!("{} (pass rate)", single_line(name))
}

/// Measures by what is said of them, in the order in which it is first said.
pub(crate) fn gathered(
    said: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (text, measure) in said {
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, measures)) => measures.push(measure),
            None => groups.push((text, vec![measure])),
        }
    }
    groups
}
