//! The gate that a command line and its file of rules describe.

use anyhow::{Error, Result, bail};
use evals::{Allowance, Gate, GateBound, GateError, Rule, Strictness};
use evals_runs::calibrations::RequiredAgreement;

use super::names::Names;
use super::rules_file::{RulesFile, WrittenRule};
use crate::cli::{Limit, RuleArgs};

/// A gate with the places of those rules that a file has.
#[derive(Debug)]
pub(crate) struct WrittenGate {
    pub(crate) gate: Gate,
    /// Kind, name and place of each rule from the file.
    places: Vec<(&'static str, String, String)>,
}

impl WrittenGate {
    /// The error with the place of the rule that is at fault, if a file has it.
    pub(crate) fn located(&self, error: GateError) -> Error {
        let at_fault = error.rule();
        let place = at_fault.and_then(|(kind, name)| {
            let mut places = self.places.iter();
            places.find(|(own, written, _)| *own == kind && written == name)
        });
        match place {
            Some((_, _, place)) => Error::msg(format!("{place}: {error}")),
            None => error.into(),
        }
    }
}

/// The gate of a command line, and the agreement with people that it asks of judges.
#[derive(Debug)]
pub(crate) struct Gating {
    pub(crate) written: WrittenGate,
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
    let written = assembled(file, arguments, allowed, 0);
    if least_kappa.is_none() || !written.gate.rules.is_empty() {
        check(&written)?;
    }
    Ok(Gating {
        required: least_kappa.map(|least_kappa| RequiredAgreement {
            least_kappa,
            bound: written.gate.bound,
        }),
        written,
    })
}

/// The gate of a command line. An option for a measure takes precedence over the file's rule of the same kind for it, under any of its names.
/// `allowed` are the allowances of options.
pub(crate) fn gate(
    arguments: &RuleArgs,
    allowed: impl IntoIterator<Item = Allowance>,
    seed: u64,
) -> Result<WrittenGate> {
    let written = assembled(read(arguments)?, arguments, allowed, seed);
    check(&written)?;
    Ok(written)
}

fn read(arguments: &RuleArgs) -> Result<RulesFile> {
    match &arguments.rules {
        Some(path) => RulesFile::read(path),
        None => Ok(RulesFile::default()),
    }
}

fn check(written: &WrittenGate) -> Result<()> {
    if written.gate.rules.is_empty() {
        bail!(
            "a gate needs at least one rule: `--max-drop`, `--min`, `--max`, or a file of them with `--rules`"
        );
    }
    written
        .gate
        .validate()
        .map_err(|error| written.located(error))
}

fn assembled(
    file: RulesFile,
    arguments: &RuleArgs,
    allowed: impl IntoIterator<Item = Allowance>,
    seed: u64,
) -> WrittenGate {
    let typed = typed(arguments);
    let is_typed = |written: &WrittenRule| {
        let rule = &written.rule;
        let same =
            |other: &Rule| other.kind() == rule.kind() && Names.are_same(other.name(), rule.name());
        typed.iter().any(same)
    };
    let mut rules = Vec::new();
    let mut places = Vec::new();
    for written in file.rules.into_iter().filter(|it| !is_typed(it)) {
        let WrittenRule { rule, place } = written;
        places.push((rule.kind(), rule.name().to_owned(), place));
        rules.push(rule);
    }
    rules.extend(typed);
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
    WrittenGate { gate, places }
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
