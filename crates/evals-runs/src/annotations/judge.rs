//! The judge whose verdicts labels are compared with.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use evals::{CaseReport, Domain, EvaluatorIdentity, EvaluatorOrigin, Report, SpecArguments, Value};
use evals_evaluators::Registry;
use serde_json::Value as Json;

use crate::judged_by::JudgeRecords;

/// Which judge of a run labels are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedMeasure<'m> {
    /// The one with this measure.
    Named(&'m str),
    /// The only one. Several are an error.
    Only,
    /// The same, or in a run without a judge the only measure that passes or fails answers.
    OnlyVerdicts,
    /// The first one.
    First,
}

/// The measures of a report whose values are passes and failures, in order, each with whether it comes from a judge: from an evaluator that
/// asks a model, or from whoever the report records as its judge.
#[derive(Debug)]
pub(super) struct Measures(Vec<(String, bool)>);

impl Measures {
    pub(super) fn of<D: Domain>(report: &Report<D>) -> Result<Self> {
        let registry = Registry::built_in();
        let records = JudgeRecords::read(&report.metadata)?;
        let is_recorded = |measure: &str| {
            let records = records.as_ref();
            records.is_some_and(|it| it.by(measure).is_none_or(|by| !by.judges.is_empty()))
        };
        let mut asks = BTreeMap::new();
        let mut measures: Vec<(String, bool)> = Vec::new();
        for case in &report.cases {
            for outcome in &case.outcomes {
                if !matches!(outcome.value, Value::Assertion(_)) {
                    continue;
                }
                let is_judge = evaluator(report, case, outcome.origin, &outcome.evaluator)
                    .is_some_and(|it| {
                        let key = serde_json::to_string(it).unwrap_or_default();
                        *asks
                            .entry(key)
                            .or_insert_with(|| asks_a_model(&registry, it))
                    });
                let mut known = measures.iter_mut();
                if let Some((_, known)) = known.find(|(name, _)| *name == outcome.name) {
                    *known |= is_judge;
                } else {
                    let is_judge = is_judge || is_recorded(&outcome.name);
                    measures.push((outcome.name.clone(), is_judge));
                }
            }
        }
        Ok(Self(measures))
    }

    /// The measure to compare labels with. `own` is the one of the benchmark's judge. `None` if there is no judge.
    pub(super) fn choose(
        &self,
        run: &str,
        wanted: WantedMeasure<'_>,
        own: Option<&str>,
    ) -> Result<Option<String>> {
        if let WantedMeasure::Named(wanted) = wanted {
            if self.0.iter().any(|(name, _)| name == wanted) {
                return Ok(Some(wanted.to_owned()));
            }
            let known: Vec<String> = self.0.iter().map(|(name, _)| format!("`{name}`")).collect();
            if known.is_empty() {
                bail!(
                    "run `{run}` has no measure that passes or fails answers, so none is named `{wanted}`"
                );
            }
            bail!(
                "run `{run}` has no measure `{wanted}` that passes or fails answers; it has {}",
                known.join(", ")
            );
        }
        if let Some(own) = own {
            let has_verdicts = self.0.iter().any(|(name, _)| name == own);
            if has_verdicts || wanted != WantedMeasure::OnlyVerdicts {
                return Ok(has_verdicts.then(|| own.to_owned()));
            }
        }
        let mut judges: Vec<&String> = self.judges().collect();
        if judges.is_empty() && wanted == WantedMeasure::OnlyVerdicts {
            judges = self.0.iter().map(|(name, _)| name).collect();
        }
        match judges.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some((*one).clone())),
            [first, ..] if wanted == WantedMeasure::First => Ok(Some((*first).clone())),
            several => {
                let named: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
                bail!(
                    "run `{run}` has several judges; choose one with `--measure`: {}",
                    named.join(", ")
                )
            }
        }
    }

    /// The measures of judges.
    pub(super) fn judges(&self) -> impl Iterator<Item = &String> {
        self.0
            .iter()
            .filter(|(_, is_judge)| *is_judge)
            .map(|(name, _)| name)
    }
}

fn asks_a_model(registry: &Registry, evaluator: &EvaluatorIdentity) -> bool {
    let spec = evaluator.spec.as_ref();
    spec.is_some_and(|spec| !registry.wanted_models([spec]).is_empty())
}

/// The evaluator that returned an outcome.
pub fn evaluator<'r, D: Domain>(
    report: &'r Report<D>,
    case: &'r CaseReport<D>,
    origin: EvaluatorOrigin,
    name: &str,
) -> Option<&'r EvaluatorIdentity> {
    match origin {
        EvaluatorOrigin::Dataset(position) => {
            let index = usize::try_from(position).ok()?.checked_sub(1)?;
            report.evaluators.get(index)
        }
        EvaluatorOrigin::Case(_) => case.own_evaluators.iter().find(|own| own.name == name),
    }
}

/// What an evaluator asks of an answer, if its arguments say it.
pub(super) fn criterion(evaluator: &EvaluatorIdentity) -> Option<String> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    match &evaluator.spec.as_ref()?.arguments {
        SpecArguments::None => None,
        SpecArguments::Positional([value]) => text(value),
        SpecArguments::Named(named) => named
            .get("rubric")
            .or_else(|| named.get("criteria"))
            .and_then(text),
    }
}
