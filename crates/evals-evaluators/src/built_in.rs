//! The registry of all built-in evaluators.

use crate::{Entry, Registry, analyses, checks, exec, judges, negation, rag};

impl Registry {
    /// A registry of all built-in evaluators: those of pydantic-evals in its order, then ours.
    pub fn built_in() -> Self {
        let mut registry = Self::new();
        registry.extend(entries());
        registry
    }
}

fn entries() -> Vec<Entry> {
    let [rubric, g_eval] = judges::entries();
    let mut entries = checks::of_outputs();
    entries.extend([rubric, checks::matching_span()]);
    entries.extend(checks::agentic());
    entries.push(g_eval);
    entries.extend(analyses::entries());
    entries.extend(checks::further());
    entries.extend(rag::entries());
    entries.extend([exec::entry(), negation::entry()]);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_twice() {
        assert_eq!(Registry::built_in().entries().len(), entries().len());
    }
}
