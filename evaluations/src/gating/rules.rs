//! The gate that a command line and its file of rules describe.

use anyhow::{Result, bail};
use evals::{Allowance, Gate, GateBound, Rule, Strictness};

use super::rules_file::RulesFile;
use crate::calibrations::RequiredAgreement;
use crate::cli::{Limit, RuleArgs};

/// The gate of a command line, and the agreement with people that it asks of judges.
#[derive(Debug)]
pub(crate) struct Gating {
    pub(crate) gate: Gate,
    pub(crate) required: Option<RequiredAgreement>,
}

/// The gate of the command `gate`, which may ask for a calibrated judge alone. `least_kappa` is that of an option.
pub(crate) fn gating(
    arguments: &RuleArgs,
    allowed: impl IntoIterator<Item = Allowance>,
    least_kappa: Option<f64>,
) -> Result<Gating> {
    let file = read(arguments)?;
    let least_kappa = least_kappa.or(file.least_kappa);
    let gate = assembled(file, arguments, allowed, 0);
    if least_kappa.is_none() || !gate.rules.is_empty() {
        check(&gate)?;
    }
    Ok(Gating {
        required: least_kappa.map(|least_kappa| RequiredAgreement {
            least_kappa,
            bound: gate.bound,
        }),
        gate,
    })
}

/// The gate of a command line. An option for a measure takes precedence over the file's rule of the same kind for it. `allowed` are the
/// allowances of options.
pub(crate) fn gate(
    arguments: &RuleArgs,
    allowed: impl IntoIterator<Item = Allowance>,
    seed: u64,
) -> Result<Gate> {
    let gate = assembled(read(arguments)?, arguments, allowed, seed);
    check(&gate)?;
    Ok(gate)
}

fn read(arguments: &RuleArgs) -> Result<RulesFile> {
    match &arguments.rules {
        Some(path) => RulesFile::read(path),
        None => Ok(RulesFile::default()),
    }
}

fn check(gate: &Gate) -> Result<()> {
    if gate.rules.is_empty() {
        bail!(
            "a gate needs at least one rule: `--max-drop`, `--min`, `--max`, or a file of them with `--rules`"
        );
    }
    Ok(gate.validate()?)
}

fn assembled(
    file: RulesFile,
    arguments: &RuleArgs,
    allowed: impl IntoIterator<Item = Allowance>,
    seed: u64,
) -> Gate {
    let typed = typed(arguments);
    let is_typed = |rule: &Rule| {
        let same = |other: &Rule| other.kind() == rule.kind() && other.name() == rule.name();
        typed.iter().any(same)
    };
    let mut rules: Vec<Rule> = file.rules.into_iter().filter(|it| !is_typed(it)).collect();
    rules.extend(typed);
    let is_strict = arguments.strict || file.strict.unwrap_or_default();
    let bound = arguments.bound.map(GateBound::from).or(file.bound);
    Gate {
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
    }
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
