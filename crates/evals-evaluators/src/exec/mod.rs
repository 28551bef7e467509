//! `Exec`: an evaluator that is a command, in any language. This file has the requests to the command, and how its failures count.

#[cfg(test)]
#[cfg(unix)]
mod tests;
mod verdicts;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_targets::process::{WorkerCommand, WorkerOptions, WorkerPool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::verdicts::Verdicts;
use crate::evaluation::Evaluation;
use crate::{ArgumentError, Arguments, BuildError, Entry, Parameter, Resources, Untyped};

/// Sends each finished case to a command and reads its verdicts.
#[derive(Debug)]
struct Exec {
    pool: Arc<WorkerPool>,
}

#[derive(Deserialize)]
struct ExecArguments {
    command: String,
    timeout: Option<f64>,
}

/// The entry of `Exec`.
pub(crate) fn entry() -> Entry {
    Entry::evaluation(
        "Exec",
        "Asks a command in any language, over JSON Lines.",
        [
            Parameter::text(
                "command",
                "The command line, run by the shell in the dataset file's folder. It reads a JSON object for each case from stdin, and writes its verdict with the `id` of that object as one line of JSON.",
            ),
            Parameter::optional(
                "timeout",
                Value::Null,
                json!({"type": ["number", "null"], "exclusiveMinimum": 0}),
                "The longest time that a verdict may take, in seconds; 300 by default.",
            ),
            Parameter::optional_text(
                Parameter::EVALUATION_NAME,
                "Names a single outcome in reports, in place of `Exec`.",
            ),
        ],
        read,
    )
}

fn read(arguments: &Arguments, resources: &Resources) -> Result<Exec, BuildError> {
    let wrong = |name, expected| ArgumentError::new(name, expected, arguments.value(name));
    let ExecArguments { command, timeout } = arguments.read()?;
    if command.trim().is_empty() {
        return Err(wrong("command", "a command line").into());
    }
    let mut command = WorkerCommand::new(&command);
    if let Some(folder) = &resources.folder {
        command = command.in_folder(folder);
    }
    let mut options = WorkerOptions::default();
    if let Some(seconds) = timeout {
        let timeout = Duration::try_from_secs_f64(seconds).ok();
        options.timeout = timeout
            .filter(|timeout| !timeout.is_zero())
            .ok_or_else(|| wrong("timeout", "a number of seconds above 0"))?;
    }
    Ok(Exec {
        pool: resources.workers.pool(command, options, Verdicts),
    })
}

#[async_trait]
impl Evaluation for Exec {
    async fn evaluate(
        &self,
        name: &str,
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
        verdicts::read(name, reply)
    }

    /// Which outcomes there are is up to the command.
    fn concerns(&self, _name: &str, _case: &Case<Untyped>) -> Option<Vec<Concern>> {
        None
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
