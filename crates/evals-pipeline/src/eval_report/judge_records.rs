//! Records who judges each measure of a dataset file.

use std::collections::{BTreeMap, BTreeSet};

use evals::{EvaluatorIdentity, EvaluatorSpec, Report, SpecArguments};
use evals_evaluators::Untyped;
use evals_runs::annotations::evaluator;
use evals_runs::judged_by::{JudgeRecord, JudgeRecords, PanelMember};
use serde_json::{Map, Value, json};

/// The judges of the measures of a report: for each, all evaluators that return it. Most ask no model, and decide by their arguments.
/// `asked` returns the models that an evaluator asks for the outcome of a name, by role; `None` if they are unknown.
pub fn judge_records(
    report: &Report<Untyped>,
    asked: impl Fn(&str, &EvaluatorSpec) -> Option<Vec<(String, PanelMember)>>,
) -> JudgeRecords {
    let mut models: BTreeMap<&str, Option<BTreeMap<String, PanelMember>>> = BTreeMap::new();
    let mut returned: BTreeMap<&str, BTreeMap<String, &EvaluatorIdentity>> = BTreeMap::new();
    for case in &report.cases {
        for outcome in &case.outcomes {
            let identity = evaluator(report, case, outcome.origin, &outcome.evaluator);
            let Some(identity) = identity.filter(|it| it.spec.is_some()) else {
                continue;
            };
            let evaluators = returned.entry(&outcome.name).or_default();
            let known = evaluators.insert(json!(identity).to_string(), identity);
            if let Some(spec) = identity.spec.as_ref().filter(|_| known.is_none()) {
                let name = outcome.given_name.as_ref().unwrap_or(&outcome.name);
                let of_measure = models.entry(&outcome.name);
                let of_measure = of_measure.or_insert_with(|| Some(BTreeMap::new()));
                match (of_measure.as_mut(), asked(name, spec)) {
                    (Some(known), Some(asked)) => known.extend(asked),
                    (_, None) => *of_measure = None,
                    (None, Some(_)) => {}
                }
            }
        }
    }
    let mut records = JudgeRecords::default();
    for (measure, evaluators) in returned {
        let evaluators: Vec<&EvaluatorIdentity> = evaluators.into_values().collect();
        match models.remove(measure).unwrap_or_default() {
            Some(models) => records.enter(measure, record(&evaluators, models)),
            None => records.enter_unknown(measure),
        }
    }
    records
}

fn record(evaluators: &[&EvaluatorIdentity], models: BTreeMap<String, PanelMember>) -> JudgeRecord {
    let mut record = JudgeRecord::new(models, []);
    let names: BTreeSet<&str> = evaluators.iter().map(|it| it.name.as_str()).collect();
    for name in names {
        let named = evaluators.iter().filter(|it| it.name == name);
        let arguments: Vec<Map<String, Value>> = named.map(|it| arguments(it)).collect();
        record = record.asking(
            name,
            &match &arguments[..] {
                [only] => only.clone(),
                // Each case may add evaluators, and their arguments may differ between cases.
                several => Map::from_iter([
                    ("evaluators".to_owned(), several.len().into()),
                    ("arguments".to_owned(), json!(several)),
                ]),
            },
        );
    }
    record
}

/// The arguments of an evaluator, and the version of its prompts.
fn arguments(evaluator: &EvaluatorIdentity) -> Map<String, Value> {
    let mut arguments = match evaluator.spec.as_ref().map(|spec| &spec.arguments) {
        None | Some(SpecArguments::None) => Map::new(),
        Some(SpecArguments::Positional([value])) => {
            Map::from_iter([("argument".to_owned(), value.clone())])
        }
        Some(SpecArguments::Named(named)) => named.clone(),
    };
    // `prompts` and not `version`, which an evaluator may call an argument.
    arguments.insert("prompts".to_owned(), json!(evaluator.version));
    arguments
}
