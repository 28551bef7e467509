//! The rules of a gate, and the runs that they apply to.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{GateCheck, Snapshot};

/// The most letters of a name. No measure comes near, and messages repeat names.
const LONGEST_NAME: usize = 200;

/// One rule of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Rule {
    /// A measure may drop by at most this much against the baseline.
    MaxDrop {
        /// The measure, as the user wrote it.
        measure: String,
        /// The largest drop that is accepted, in the measure's unit; at least 0. For a measure where lower is better, a rise.
        tolerance: f64,
    },
    /// A measure of the run may not be below a floor.
    Min {
        /// The measure, as the user wrote it.
        measure: String,
        /// The floor, in the measure's unit.
        floor: f64,
    },
    /// A quantity of the run may not be above a ceiling.
    Max {
        /// The quantity, as the user wrote it: `latency.p95`, `latency.STAGE.p95`, `cost`, `failed` or a measure.
        quantity: String,
        /// The ceiling: seconds, USD, cases, or in the measure's unit.
        ceiling: f64,
    },
}

/// Why a rule cannot be part of a gate.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A rule that has no meaning, that no run can keep, or that none can break.
    #[error("{problem}")]
    Invalid {
        /// The measure or quantity in the rule.
        name: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
        /// What is wrong, with the name and what to write instead.
        problem: String,
    },
    /// There is no rule.
    #[error("a gate needs at least one rule")]
    None,
}

impl Rule {
    /// The name that the user wrote.
    pub fn name(&self) -> &str {
        match self {
            Self::MaxDrop { measure, .. } | Self::Min { measure, .. } => measure,
            Self::Max { quantity, .. } => quantity,
        }
    }

    /// The kind of the rule, as options and files name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::MaxDrop { .. } => "max-drop",
            Self::Min { .. } => "min",
            Self::Max { .. } => "max",
        }
    }

    /// The tolerance, floor or ceiling.
    pub fn limit(&self) -> f64 {
        match self {
            Self::MaxDrop { tolerance, .. } => *tolerance,
            Self::Min { floor, .. } => *floor,
            Self::Max { ceiling, .. } => *ceiling,
        }
    }

    pub(super) fn invalid(&self, problem: impl Into<String>) -> RuleError {
        RuleError::Invalid {
            name: self.name().to_owned(),
            kind: self.kind(),
            problem: problem.into(),
        }
    }

    /// The error that `other` is a rule of the same kind about the same thing.
    pub(super) fn again(&self, other: &Self) -> RuleError {
        let (name, other, kind) = (self.name(), other.name(), self.kind());
        self.invalid(if name == other {
            format!("`{name}` has two rules `{kind}`")
        } else {
            format!("`{other}` and `{name}` are the same, and both have a rule `{kind}`; keep one of them")
        })
    }

    fn check(&self) -> Result<(), RuleError> {
        let (name, limit) = (self.name(), self.limit());
        let problem = if name.chars().nth(LONGEST_NAME).is_some() {
            let beginning: String = name.chars().take(20).collect();
            format!(
                "`{}` names a measure of {} letters, which begins with `{beginning}`; a name has at most {LONGEST_NAME}",
                self.kind(),
                name.chars().count(),
            )
        } else if !limit.is_finite() {
            format!("the limit of `{name}` is {limit}, which is not a finite number")
        } else if matches!(self, Self::MaxDrop { .. }) && limit < 0.0 {
            format!(
                "the tolerance of `{name}` is {limit}; it is the largest drop that is accepted, so it has to be at least 0"
            )
        } else {
            return Ok(());
        };
        Err(self.invalid(problem))
    }
}

/// Checks rules that came from a user, as far as they can be checked without runs.
pub(super) fn check(rules: &[Rule]) -> Result<(), RuleError> {
    if rules.is_empty() {
        return Err(RuleError::None);
    }
    for (place, rule) in rules.iter().enumerate() {
        rule.check()?;
        let same = |other: &&Rule| other.kind() == rule.kind() && other.name() == rule.name();
        if let Some(other) = rules[..place].iter().find(same) {
            return Err(rule.again(other));
        }
    }
    Ok(())
}

/// What a caller knows about measures by their names. A function that says whether a written name means a title is enough.
pub trait MeasureNames {
    /// Whether a name that the user wrote means the measure with a title.
    fn means(&self, written: &str, title: &str) -> bool;
}

impl<F: Fn(&str, &str) -> bool> MeasureNames for F {
    fn means(&self, written: &str, title: &str) -> bool {
        self(written, title)
    }
}

/// A run with its baseline.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The run.
    pub run: &'s Snapshot,
    /// The baseline, if there is one.
    pub baseline: Option<&'s Snapshot>,
    /// Checks of the caller's own rules, such as of the agreement of the judge with people. They count as those of the gate.
    pub checks: &'s [GateCheck],
}
