//! Why a gate cannot be applied.

use evals_messages::nearest;
use thiserror::Error;

use super::rule::RuleError;

/// Why a gate cannot be applied.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GateError {
    /// A rule is invalid.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The level is out of range.
    #[error("the level is {0}; it has to be from 0.5 to 0.9999, such as 0.95")]
    Level(f64),
    /// No run has the measure or quantity.
    #[error(
        "no run has `{name}`, which the rule `{kind}` names; known are {}{}",
        known.join(", "),
        nearest::did_you_mean_measure(name, known.iter().map(String::as_str))
    )]
    Unknown {
        /// The name in the rule.
        name: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
        /// The names that runs have.
        known: Vec<String>,
    },
    /// A drop needs a baseline.
    #[error("`max-drop` of `{name}` needs a baseline for run `{run}`")]
    NoBaseline {
        /// The name in the rule.
        name: String,
        /// The run without a baseline.
        run: String,
    },
    /// Run and baseline have no case in common.
    #[error(
        "run `{run}` and baseline `{baseline}` have no case in common ({removed} only in the baseline, {added} only in the run, \
         {changed} edited), so nothing can be compared{}",
        if *is_allowed {
            "; `--allow changed-dataset` accepts that some cases differ, and the gate compares the cases that are the same in both"
        } else {
            ""
        }
    )]
    NothingInCommon {
        /// The run.
        run: String,
        /// The baseline.
        baseline: String,
        /// Cases that only the baseline has.
        removed: usize,
        /// Cases that only the run has.
        added: usize,
        /// Cases of both with different content.
        changed: usize,
        /// Whether the user allows another dataset.
        is_allowed: bool,
    },
}

impl GateError {
    /// The kind and the name of the rule that is at fault, if one is.
    pub fn rule(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Rule(RuleError::Invalid { name, kind, .. }) => Some((kind, name)),
            Self::Unknown { name, kind, .. } => Some((kind, name)),
            Self::Rule(RuleError::None)
            | Self::NoBaseline { .. }
            | Self::NothingInCommon { .. }
            | Self::Level(_) => None,
        }
    }
}
