//! `tune --simulate`: which true gains this dataset and space can find, said beforehand.

use std::collections::BTreeSet;

use anyhow::Result;
use evals::render::percent;
use evals_messages::quantity;
use evals_terminal::listing::Layout;
use evals_terminal::{Printer, wrapped};
use evals_tune::{GAINS, Simulation, Tuning};

use super::plan::{Asked, Plan};

/// Simulated tunings for each number: its standard error is at most 3.5 points.
const REPETITIONS: u32 = 200;

/// A table of gains with the share of tunings that choose settings with it, and that call them better.
pub(super) fn text(
    printer: &Printer,
    plan: &Plan,
    tuning: &Tuning,
    asked: &[Asked],
) -> Result<String> {
    let most = plan.tune.trials.get();
    let grid = plan
        .space
        .size()
        .filter(|it| *it <= evals_metrics::as_f64(most));
    // Whole, and at most `most`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small whole number"
    )]
    let candidates = grid.map_or(most, |size| size as usize);
    let clusters: BTreeSet<usize> = tuning.split().clusters.iter().copied().collect();
    let alone = Simulation {
        questions: asked.len(),
        clusters: clusters.len(),
        candidates,
        hold_out: plan.tune.holdout,
        seed: plan.arguments.control.seed,
        ..Simulation::default()
    };
    let quarter = Simulation {
        sharing: candidates.div_ceil(4),
        ..alone.clone()
    };
    let mut rows = Vec::new();
    for (one, many) in alone
        .power(&GAINS, REPETITIONS)?
        .into_iter()
        .zip(quarter.power(&GAINS, REPETITIONS)?)
    {
        rows.push(vec![
            format!("{:.2}", one.gain),
            percent(one.chosen),
            percent(one.declared),
            percent(many.chosen),
            percent(many.declared),
        ]);
    }
    let opening = format!(
        "{} on {}, {}, {} settings beside yours. Assumed: values with a standard deviation of {} and a correlation of {} between settings.",
        plan.objective,
        plan.manifest.name,
        quantity::of(asked.len(), "question"),
        candidates,
        alone.deviation,
        alone.correlation
    );
    let head = [
        "true gain",
        "one: chosen",
        "one: better",
        "quarter: chosen",
        "quarter: better",
    ];
    let closing = format!(
        "\"one\": one of the settings has the gain; \"quarter\": a quarter of them shares it, as if one value of a setting had it. \"chosen\": the \
         tuning chooses such settings; \"better\": its verdict says that they are better than yours. {REPETITIONS} simulated tunings each."
    );
    Ok(format!(
        "{}\n{}\n{}",
        wrapped(printer, &opening),
        Layout::of(printer).render(&head, &rows),
        wrapped(printer, &closing)
    ))
}
