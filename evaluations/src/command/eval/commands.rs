//! The commands that a dataset file names as evaluators. They run with the user's rights, so they are shown first.

use evals::{EvaluatorSpec, SpecArguments};

use super::plan::Plan;
use crate::redaction;
use crate::terminal::Printer;

/// The evaluator that is a command.
const EXEC: &str = "Exec";

/// Notes each command that is about to run as an evaluator.
pub(super) fn announce(plan: &Plan, printer: &Printer) {
    let file = plan.source.path.display();
    for command in of(plan) {
        printer.note(&format!(
            "{file} runs a command as an evaluator: `{command}`"
        ));
    }
}

/// The command lines of the evaluators of the chosen cases, each once, in the order of the file.
pub(super) fn of(plan: &Plan) -> Vec<String> {
    let file = &plan.loaded.file;
    let chosen = plan.chosen_ids();
    let cases = file.cases.iter();
    let own = cases
        .filter(|case| chosen.contains(case.id.as_str()))
        .flat_map(|case| &case.evaluators);
    let mut commands = Vec::new();
    for evaluator in file.evaluators.iter().chain(own) {
        if let Some(command) = command(&evaluator.spec) {
            let command = redaction::prose(command).into_owned();
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
    }
    commands
}

fn command(spec: &EvaluatorSpec) -> Option<&str> {
    if spec.name != EXEC {
        return None;
    }
    match &spec.arguments {
        SpecArguments::None => None,
        SpecArguments::Positional([command]) => command.as_str(),
        SpecArguments::Named(arguments) => arguments.get("command")?.as_str(),
    }
}
