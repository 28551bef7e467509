//! The gate that a command line and its file of rules describe.

use anyhow::{Result, bail};
use evals::{Allowance, Gate, GateBound, Rule, Strictness};

use super::rules_file::RulesFile;
use crate::cli::{Limit, RuleArgs};

/// The gate of a command line. An option for a measure takes precedence over the file's rule of the same kind for it. `allowed` are the
/// allowances of options.
pub(crate) fn gate(
    arguments: &RuleArgs,
    allowed: impl IntoIterator<Item = Allowance>,
    seed: u64,
) -> Result<Gate> {
    let file = match &arguments.rules {
        Some(path) => RulesFile::read(path)?,
        None => RulesFile::default(),
    };
    let typed = typed(arguments);
    let is_typed = |rule: &Rule| {
        let same = |other: &Rule| other.kind() == rule.kind() && other.name() == rule.name();
        typed.iter().any(same)
    };
    let mut rules: Vec<Rule> = file.rules.into_iter().filter(|it| !is_typed(it)).collect();
    rules.extend(typed);
    if rules.is_empty() {
        bail!(
            "a gate needs at least one rule: `--max-drop`, `--min`, `--max`, or a file of them with `--rules`"
        );
    }
    let is_strict = arguments.strict || file.strict.unwrap_or_default();
    let bound = arguments.bound.map(GateBound::from).or(file.bound);
    let gate = Gate {
        rules,
        strictness: if is_strict {
            Strictness::Strict
        } else {
            Strictness::Default
        },
        bound: bound.unwrap_or_default(),
        level: arguments
            .level
            .or(file.level)
            .unwrap_or(Gate::default().level),
        allowed: file.allowed.into_iter().chain(allowed).collect(),
        seed,
    };
    gate.validate()?;
    Ok(gate)
}

/// The rules of the options, in the order of the kinds.
fn typed(arguments: &RuleArgs) -> Vec<Rule> {
    let drops = arguments.max_drop.iter().cloned();
    let drops = drops.map(|Limit { name, value }| Rule::MaxDrop {
        measure: name,
        tolerance: value,
    });
    let floors = arguments.min.iter().cloned();
    let floors = floors.map(|Limit { name, value }| Rule::Min {
        measure: name,
        floor: value,
    });
    let ceilings = arguments.max.iter().cloned();
    let ceilings = ceilings.map(|Limit { name, value }| Rule::Max {
        quantity: name,
        ceiling: value,
    });
    drops.chain(floors).chain(ceilings).collect()
}
