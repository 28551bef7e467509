//! `Rubric`: the level of an answer by a criterion with levels in words.

use std::collections::BTreeMap;

use evals_rag::rag_judges::{Rubric, RubricEvaluator};
use serde::Deserialize;
use serde_json::{Value, json};

use super::converted::Converted;
use super::panel;
use crate::{ArgumentError, Arguments, BuildError, Entry, Parameter, Resources, judge_prompts};

pub(super) const NAME: &str = "Rubric";

#[derive(Deserialize)]
struct RubricArguments {
    criterion: String,
    levels: BTreeMap<String, String>,
    pass: Option<i64>,
    include_expected_output: bool,
    evaluation_name: String,
}

/// The entry of `Rubric`.
pub(super) fn entry() -> Entry {
    let own = [
        Parameter::text("criterion", "What is graded, in words."),
        Parameter::required(
            "levels",
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "The numbers of the scale with their descriptions; higher is better.",
        ),
        Parameter::optional(
            "pass",
            Value::Null,
            json!({"type": ["integer", "null"]}),
            "The lowest level that passes; `null` only grades.",
        ),
        Parameter::flag(
            "include_expected_output",
            false,
            "Whether the judge sees the reference answer.",
        ),
        Parameter::optional(
            Parameter::EVALUATION_NAME,
            json!("rubric"),
            json!({"type": "string"}),
            "Names the score.",
        ),
    ];
    Entry::evaluation(
        NAME,
        "Asks a chat model which level of a criterion the answer reaches; words describe the levels.",
        own.into_iter().chain(panel::parameters()),
        read,
    )
}

fn read(
    arguments: &Arguments,
    resources: &Resources,
) -> Result<Converted<RubricEvaluator>, BuildError> {
    let read: RubricArguments = arguments.read()?;
    let levels = read.levels.into_iter();
    let levels: Option<BTreeMap<i64, String>> = levels
        .map(|(number, text)| Some((number.trim().parse().ok()?, text)))
        .collect();
    let levels = levels.ok_or_else(|| {
        let numbers = "an object whose keys are whole numbers";
        ArgumentError::new("levels", numbers, arguments.value("levels"))
    })?;
    let rubric = Rubric::new(read.evaluation_name, read.criterion, levels, read.pass)?;
    let judges = panel::opened(arguments, resources)?;
    let mut evaluator = RubricEvaluator::new(rubric, judges);
    if read.include_expected_output {
        evaluator = evaluator.with_reference();
    }
    let version = judge_prompts::version(&resources.prompts.decomposed.levels);
    Ok(Converted::new(evaluator, Some(version)))
}
