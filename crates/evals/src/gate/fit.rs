//! Whether a rule makes sense for what its name means: it must be able to hold and to fail.

use evals_metrics::Scale;

use super::measured::Quantity;
use super::rule::{Rule, RuleError};
use crate::{Direction, number};

/// Whether the direction of a measure gives the rule a meaning.
pub(super) fn direction(rule: &Rule, better: Direction) -> Result<(), RuleError> {
    let problem = match (rule, better) {
        (Rule::MaxDrop { .. }, Direction::Unknown) => {
            "has no known better direction, so it cannot drop; limit it with `max` or `min`"
        }
        (Rule::Min { .. }, Direction::Lower) => {
            "is better when it is smaller, so `min` would reject good runs; use `max`"
        }
        (Rule::Max { .. }, Direction::Higher) => {
            "is better when it is larger, so `max` would reject good runs; use `min`"
        }
        _ => return Ok(()),
    };
    Err(rule.invalid(format!("`{}` {problem}", rule.name())))
}

/// Whether a measure on this scale can keep the rule and break it.
pub(super) fn scale(rule: &Rule, scale: Scale) -> Result<(), RuleError> {
    let limit = rule.limit();
    if scale != Scale::Share {
        return Ok(());
    }
    let never = match rule {
        Rule::Min { .. } if limit > 1.0 => "holds",
        Rule::Min { .. } if limit <= 0.0 => "fails",
        Rule::MaxDrop { .. } | Rule::Max { .. } if limit >= 1.0 => "fails",
        Rule::Max { .. } if limit < 0.0 => "holds",
        _ => return Ok(()),
    };
    let why = match rule {
        Rule::MaxDrop { .. } => "the measure is from 0 to 1, and so is a drop",
        Rule::Min { .. } | Rule::Max { .. } => "the measure is from 0 to 1",
    };
    let meant = if limit > 1.0 && limit <= 100.0 {
        format!("; did you mean {}?", rounded(limit / 100.0))
    } else {
        String::new()
    };
    let why = format!("{why}{meant}");
    Err(impossible(rule, &limit.to_string(), never, &why))
}

/// Whether a quantity that is no measure can keep the rule and break it.
pub(super) fn quantity(rule: &Rule, quantity: Quantity<'_>) -> Result<(), RuleError> {
    let limit = rule.limit();
    let problem = match rule {
        Rule::MaxDrop { .. } => {
            "is not compared with the baseline, so it has no `max-drop`; limit it with `max`"
        }
        Rule::Min { .. } => {
            "is better when it is smaller, so `min` would reject good runs; use `max`"
        }
        Rule::Max { .. } => return ceiling(rule, limit, quantity),
    };
    Err(rule.invalid(format!("`{}` {problem}", rule.name())))
}

fn ceiling(rule: &Rule, limit: f64, quantity: Quantity<'_>) -> Result<(), RuleError> {
    match quantity {
        Quantity::Latency(..) if limit <= 0.0 => {
            let limit = number::whole_duration(limit);
            Err(impossible(rule, &limit, "holds", "a latency is above 0"))
        }
        Quantity::Cost if limit < 0.0 => {
            let why = "a cost is at least 0";
            Err(impossible(rule, &limit.to_string(), "holds", why))
        }
        Quantity::Failed if limit < 0.0 => {
            let why = "a number of cases is at least 0";
            Err(impossible(rule, &limit.to_string(), "holds", why))
        }
        Quantity::Failed if limit.fract() > 0.0 => Err(rule.invalid(format!(
            "`max` of `{}` is {limit}, but it counts cases: write a whole number, such as 0 or 5",
            rule.name()
        ))),
        _ => Ok(()),
    }
}

fn impossible(rule: &Rule, limit: &str, never: &str, why: &str) -> RuleError {
    rule.invalid(format!(
        "`{}` of `{}` is {limit}, so the rule never {never}: {why}",
        rule.kind(),
        rule.name()
    ))
}

/// Without the noise of binary fractions: 7 / 100 is 0.07.
fn rounded(number: f64) -> f64 {
    (number * 1e12).round() / 1e12
}
