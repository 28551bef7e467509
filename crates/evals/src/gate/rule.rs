//! The rules of a gate.

use serde::{Deserialize, Serialize};
use thiserror::Error;

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
    /// The limit is not a finite number.
    #[error("the limit of `{name}` is {limit}, which is not a finite number")]
    NotFinite {
        /// The measure or quantity.
        name: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
        /// The limit.
        limit: f64,
    },
    /// A name that is too long for a measure.
    #[error(
        "`{kind}` names a measure of {} letters, which begins with `{}`; a name has at most {LONGEST_NAME}",
        name.chars().count(),
        name.chars().take(20).collect::<String>()
    )]
    LongName {
        /// The measure or quantity.
        name: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
    },
    /// A tolerance is below 0.
    #[error(
        "the tolerance of `{name}` is {tolerance}; it is the largest drop that is accepted, so it has to be at least 0"
    )]
    NegativeTolerance {
        /// The measure.
        name: String,
        /// The tolerance.
        tolerance: f64,
    },
    /// The direction of a measure or quantity makes the rule meaningless.
    #[error("`{name}` {problem}")]
    Direction {
        /// The name in the rule.
        name: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
        /// What is wrong, and the rule to use instead.
        problem: &'static str,
    },
    /// No run can keep the rule, or none can break it.
    #[error("`{kind}` of `{name}` is {limit}, so the rule never {never}: {why}")]
    Impossible {
        /// The measure or quantity.
        name: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
        /// The limit with its unit.
        limit: String,
        /// `holds` or `fails`.
        never: &'static str,
        /// The values that are possible.
        why: String,
    },
    /// A rule limits a number of cases by a number that is not whole.
    #[error(
        "`max` of `{name}` is {limit}, but it counts cases: write a whole number, such as 0 or 5"
    )]
    NotACount {
        /// The quantity.
        name: String,
        /// The limit.
        limit: f64,
    },
    /// Two rules of one kind concern one measure or quantity.
    #[error(
        "{}",
        if name == other {
            format!("`{name}` has two rules `{kind}`")
        } else {
            format!("`{other}` and `{name}` are the same, and both have a rule `{kind}`; keep one of them")
        }
    )]
    Twice {
        /// The name in the second rule.
        name: String,
        /// The name in the first rule.
        other: String,
        /// `max-drop`, `min` or `max`.
        kind: &'static str,
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

    /// The error that `other` is a rule of the same kind about the same thing.
    pub(super) fn again(&self, other: &Self) -> RuleError {
        RuleError::Twice {
            name: self.name().to_owned(),
            other: other.name().to_owned(),
            kind: self.kind(),
        }
    }

    fn fault(&self) -> Option<RuleError> {
        let (name, limit) = (self.name().to_owned(), self.limit());
        if name.chars().nth(LONGEST_NAME).is_some() {
            let kind = self.kind();
            return Some(RuleError::LongName { name, kind });
        }
        if !limit.is_finite() {
            let kind = self.kind();
            return Some(RuleError::NotFinite { name, kind, limit });
        }
        match self {
            Self::MaxDrop { tolerance, .. } if *tolerance < 0.0 => {
                Some(RuleError::NegativeTolerance {
                    name,
                    tolerance: *tolerance,
                })
            }
            Self::MaxDrop { .. } | Self::Min { .. } | Self::Max { .. } => None,
        }
    }
}

impl RuleError {
    /// The kind and the name of the rule that is at fault, if one is.
    pub(super) fn rule(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::NotACount { name, .. } => Some(("max", name)),
            Self::NegativeTolerance { name, .. } => Some(("max-drop", name)),
            Self::NotFinite { kind, name, .. }
            | Self::LongName { kind, name }
            | Self::Direction { kind, name, .. }
            | Self::Impossible { kind, name, .. }
            | Self::Twice { kind, name, .. } => Some((kind, name)),
            Self::None => None,
        }
    }
}

/// Checks rules that came from a user, as far as they can be checked without runs.
pub(super) fn check(rules: &[Rule]) -> Result<(), RuleError> {
    if rules.is_empty() {
        return Err(RuleError::None);
    }
    for (place, rule) in rules.iter().enumerate() {
        if let Some(fault) = rule.fault() {
            return Err(fault);
        }
        let same = |other: &&Rule| other.kind() == rule.kind() && other.name() == rule.name();
        if let Some(other) = rules[..place].iter().find(same) {
            return Err(rule.again(other));
        }
    }
    Ok(())
}
