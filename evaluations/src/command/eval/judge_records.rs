//! Records who judges each measure of a dataset file.

use std::collections::{BTreeMap, BTreeSet};

use evals::{EvaluatorIdentity, Report, SpecArguments};
use evals_evaluators::{Registry, Untyped};
use serde_json::{Map, Value, json};

use super::judges::OpenedJudges;
use crate::annotations::evaluator;
use crate::judged_by::{JudgeRecord, JudgeRecords, PanelMember};

/// The judges of the measures of a report: for each, all evaluators that return it. Most ask no model, and decide by their arguments.
pub(super) fn of(
    report: &Report<Untyped>,
    registry: &Registry,
    judges: &OpenedJudges,
) -> JudgeRecords {
    let mut returned: BTreeMap<&str, BTreeMap<String, &EvaluatorIdentity>> = BTreeMap::new();
    for case in &report.cases {
        for outcome in &case.outcomes {
            let identity = evaluator(report, case, outcome.origin, &outcome.evaluator);
            let Some(identity) = identity.filter(|it| it.spec.is_some()) else {
                continue;
            };
            let evaluators = returned.entry(&outcome.name).or_default();
            evaluators.insert(json!(identity).to_string(), identity);
        }
    }
    let mut records = JudgeRecords::default();
    for (measure, evaluators) in returned {
        let evaluators: Vec<&EvaluatorIdentity> = evaluators.into_values().collect();
        records.enter(measure, record(&evaluators, registry, judges));
    }
    records
}

fn record(
    evaluators: &[&EvaluatorIdentity],
    registry: &Registry,
    judges: &OpenedJudges,
) -> JudgeRecord {
    let specs = evaluators.iter().filter_map(|it| it.spec.as_ref());
    let models = specs.flat_map(|spec| judges.of(registry, spec));
    let models = models.map(|(role, model)| (role, PanelMember::from(&*model)));
    let mut record = JudgeRecord::new(models, []);
    let names: BTreeSet<&str> = evaluators.iter().map(|it| it.name.as_str()).collect();
    for name in names {
        let named = evaluators.iter().filter(|it| it.name == name);
        let arguments: Vec<Map<String, Value>> = named.map(|it| arguments(it)).collect();
        record = record.asking(
            name,
            &match &arguments[..] {
                [only] => only.clone(),
                // Cases bring evaluators of their own, each with other arguments.
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
