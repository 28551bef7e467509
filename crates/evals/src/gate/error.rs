//! Why a gate cannot be applied.

use evals_messages::nearest;
use thiserror::Error;

use super::rule::{Rule, RuleError};
use crate::Direction;

/// Why a gate cannot be applied.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum GateError {
    /// A rule is not one.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The level is not between 0 and 1.
    #[error("the level is {0}; it has to be above 0 and below 1, such as 0.95")]
    Level(f64),
    /// No run has the measure or quantity.
    #[error(
        "no run has `{name}`, which the rule `{kind}` names; known are {}{}",
        known.join(", "),
        nearest::did_you_mean(nearest::of(name, known.iter().map(String::as_str)))
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
    /// The direction of a measure makes the rule meaningless.
    #[error("`{name}` {problem}")]
    Direction {
        /// The name in the rule.
        name: String,
        /// What is wrong, and the rule to use instead.
        problem: &'static str,
    },
    /// Run and baseline have no case in common.
    #[error(
        "run `{run}` and baseline `{baseline}` have no case in common ({removed} only in the baseline, {added} only in the run, \
         {changed} edited), so nothing can be compared"
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
    },
}

/// Whether a rule makes sense for a measure of this direction.
pub(super) fn fits(rule: &Rule, better: Direction) -> Result<(), GateError> {
    let problem = match (rule, better) {
        (Rule::MaxDrop { .. }, Direction::Unknown) => {
            "has no known better direction, so it cannot drop; limit it with `max` or `min`"
        }
        (Rule::Min { .. }, Direction::Lower) => {
            "is better when it is lower, so a floor says nothing about it; limit it with `max`"
        }
        (Rule::Max { .. }, Direction::Higher) => {
            "is better when it is higher, so a ceiling says nothing about it; limit it with `min`"
        }
        _ => return Ok(()),
    };
    Err(GateError::Direction {
        name: rule.name().to_owned(),
        problem,
    })
}
