//! The evaluator: the requests to its command, and how the command's failures count.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals::{Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome};
use evals_targets::process::{WorkerCommand, WorkerOptions, WorkerPool};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::verdicts::{self, Verdicts};
use crate::{Arguments, BuildError, Entry, Parameter, Resources, Signature, Untyped};

const NAME: &str = "Exec";

/// Sends each finished case to a command and reads its verdicts.
#[derive(Debug)]
struct Exec {
    name: String,
    spec: EvaluatorSpec,
    pool: Arc<WorkerPool>,
}

#[derive(Debug, Error)]
enum ArgumentError {
    #[error("`command` must be a command line, not `{0}`")]
    Command(Value),
    #[error("`timeout` must be a number of seconds above 0, not `{0}`")]
    Timeout(Value),
}

pub(super) fn entry() -> Entry {
    let signature = Signature::new([
        Parameter::required(
            "command",
            json!({"type": "string"}),
            "The command line, run by the shell in the dataset file's folder. It reads a JSON object for each case from stdin, and writes its verdict with the `id` of that object as one line of JSON.",
        ),
        Parameter::optional(
            "timeout",
            Value::Null,
            json!({"type": ["number", "null"], "exclusiveMinimum": 0}),
            "The longest time that a verdict may take, in seconds; 300 by default.",
        ),
        Parameter::optional(
            "evaluation_name",
            Value::Null,
            json!({"type": ["string", "null"]}),
            "Names a single outcome in reports, in place of `Exec`.",
        ),
    ]);
    let written = signature.clone();
    let build = move |arguments: &Arguments, resources: &Resources| {
        let evaluator: Arc<dyn Evaluator<Untyped>> =
            Arc::new(build(&written, arguments, resources)?);
        Ok(evaluator)
    };
    Entry::case(
        NAME,
        "Asks a command in any language, over JSON Lines.",
        signature,
        build,
    )
}

fn build(
    signature: &Signature,
    arguments: &Arguments,
    resources: &Resources,
) -> Result<Exec, BuildError> {
    let command = arguments.value("command");
    let line = command.as_str().filter(|line| !line.trim().is_empty());
    let line = line.ok_or_else(|| ArgumentError::Command(command.clone()))?;
    let mut command = WorkerCommand::new(line);
    if let Some(folder) = &resources.folder {
        command = command.in_folder(folder);
    }
    let mut options = WorkerOptions::default();
    if let Some(timeout) = timeout(arguments.value("timeout"))? {
        options.timeout = timeout;
    }
    let name = arguments.value("evaluation_name").as_str();
    Ok(Exec {
        name: name.unwrap_or(NAME).to_owned(),
        spec: EvaluatorSpec {
            name: NAME.to_owned(),
            arguments: signature.write(arguments),
        },
        pool: resources.workers.pool(command, options, Verdicts),
    })
}

fn timeout(written: &Value) -> Result<Option<Duration>, ArgumentError> {
    if written.is_null() {
        return Ok(None);
    }
    let seconds = written.as_f64().filter(|seconds| *seconds > 0.0);
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    timeout
        .map(Some)
        .ok_or_else(|| ArgumentError::Timeout(written.clone()))
}

#[async_trait]
impl Evaluator<Untyped> for Exec {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let id = match context.repeat {
            1 => context.case.id.to_string(),
            repeat => format!("{}#{repeat}", context.case.id),
        };
        let exchanged = self.pool.exchange(&id, &request(context)).await;
        let reply = exchanged.map_err(|error| {
            let class = error.class();
            EvaluatorError::new(error).classed(class)
        })?;
        verdicts::read(&self.name, reply)
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }
}

/// The members of a request to the command, besides the `id`.
fn request(context: &Context<'_, Untyped>) -> Map<String, Value> {
    let Context {
        case,
        output,
        duration,
        recording,
        ..
    } = context;
    let fields = [
        ("case_id", json!(case.id)),
        ("inputs", case.input.clone()),
        ("output", (*output).clone()),
        ("expected_output", json!(case.expected)),
        ("metadata", case.metadata.clone()),
        ("duration", json!(duration.as_secs_f64())),
        ("metrics", json!(recording.metrics)),
        ("attributes", json!(recording.attributes)),
        // A list, as in a target's reply; `null` if nothing recorded steps.
        ("spans", json!(recording.spans.as_ref().map(|it| &it.roots))),
    ];
    Map::from_iter(fields.map(|(name, value)| (name.to_owned(), value)))
}
