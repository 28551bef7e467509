//! The registry of all built-in evaluators.

use crate::{Entry, Registry, analyses, checks, exec, judges, negation, rag};

/// The built-in evaluators of pydantic-evals, in its order; ours follow.
const ORDER: [&str; 17] = [
    "Equals",
    "EqualsExpected",
    "Contains",
    "IsInstance",
    "MaxDuration",
    "LLMJudge",
    "HasMatchingSpan",
    "ToolCorrectness",
    "TrajectoryMatch",
    "ArgumentCorrectness",
    "MaxToolCalls",
    "MaxModelRequests",
    "GEval",
    "ConfusionMatrixEvaluator",
    "KolmogorovSmirnovEvaluator",
    "PrecisionRecallEvaluator",
    "ROCAUCEvaluator",
];

impl Registry {
    /// A registry of all built-in evaluators: those of pydantic-evals in its order, then ours.
    pub fn built_in() -> Self {
        let mut entries = entries();
        let place = |name| ORDER.iter().position(|known| *known == name);
        entries.sort_by_key(|entry| place(entry.name()).unwrap_or(ORDER.len()));
        let mut registry = Self::new();
        registry.extend(entries);
        registry
    }
}

/// The entries of all folders.
fn entries() -> Vec<Entry> {
    let folders = [
        checks::entries(),
        judges::entries(),
        analyses::entries(),
        rag::entries(),
        exec::entries(),
        negation::entries(),
    ];
    folders.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_twice() {
        assert_eq!(Registry::built_in().entries().len(), entries().len());
    }
}
