//! Counts what a run would ask, without asking anything.

use evals_evaluators::FileCase;
use evals_messages::quantity;

use super::judges::calls;
use super::plan::Plan;
use crate::options::EvalArgs;

/// The number of requests to the target and of calls of judges, if nothing is cached and nothing fails.
///
/// Tokens are not estimated: judges read the outputs, which nobody knows yet.
pub(super) fn text(plan: &Plan, arguments: &EvalArgs) -> String {
    let repeat = arguments.control.repeat.get();
    let runs = plan.runs(repeat);
    let chosen = plan.chosen_ids();
    let cases = plan.file.cases.iter();
    let own: usize = cases
        .filter(|case| chosen.contains(case.id.as_str()))
        .map(|case| judged(plan, case))
        .sum();
    let judge_calls = plan.judges.for_every_case * runs + own * repeat as usize;
    let address = plan.target.address.as_ref();
    let address = address.map_or_else(|| "the target".to_owned(), ToString::to_string);
    let mut lines = vec![format!(
        "{} to `{}`",
        quantity::of(runs, "request"),
        evals_settings::redaction::prose(&address)
    )];
    if judge_calls > 0 {
        let models: Vec<String> = plan
            .judges
            .identities()
            .map(|model| model.to_string())
            .collect();
        lines.push(format!(
            "{} of {}; their tokens depend on the outputs",
            quantity::of(judge_calls, "call"),
            models.join(" and ")
        ));
    } else {
        lines.push("no calls of judges".to_owned());
    }
    for command in &plan.commands {
        lines.push(format!("a command as an evaluator: `{command}`"));
    }
    lines.join("\n") + "\n"
}

/// How many calls a case's own evaluators make.
fn judged(plan: &Plan, case: &FileCase) -> usize {
    let evaluators = case.evaluators.iter();
    evaluators
        .map(|evaluator| calls(&plan.registry, &evaluator.spec))
        .sum()
}
