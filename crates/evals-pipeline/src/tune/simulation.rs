//! `tune --simulate`: which true gains this dataset and space can find, said beforehand.

use std::collections::BTreeSet;

use anyhow::Result;
use evals::render::percent;
use evals_messages::quantity;
use evals_terminal::listing::Layout;
use evals_terminal::{Printer, wrapped};
use evals_tune::{GAINS, Power, Simulation, Tuning};

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
    let clusters: BTreeSet<usize> = tuning.split().clusters.iter().copied().collect();
    let simulation = Simulation {
        questions: asked.len(),
        clusters: clusters.len(),
        candidates: plan.others(),
        hold_out: plan.tune.holdout,
        seed: plan.arguments.control.seed,
        ..Simulation::default()
    };
    let opening = format!(
        "{} on {}, {}, {} settings beside yours. Assumed: values with a standard deviation of {} and a correlation of {} between settings.",
        plan.objective,
        plan.manifest.name,
        quantity::of(asked.len(), "question"),
        simulation.candidates,
        simulation.deviation,
        simulation.correlation
    );
    let closing = format!(
        "\"one\": one of the settings has the gain; \"quarter\": a quarter of them shares it, as if one value of a setting had it. \"chosen\": the \
         tuning chooses such settings; \"better\": its verdict says that they are better than yours. {REPETITIONS} simulated tunings each."
    );
    let head = [
        "true gain",
        "one: chosen",
        "one: better",
        "quarter: chosen",
        "quarter: better",
    ];
    Ok(format!(
        "{}\n{}\n{}",
        wrapped(printer, &opening),
        Layout::of(printer).render(&head, &rows(&simulation)?),
        wrapped(printer, &closing)
    ))
}

/// A row for each gain: if one candidate has it, and if a quarter of them shares it.
fn rows(alone: &Simulation) -> Result<Vec<Vec<String>>> {
    let quarter = Simulation {
        sharing: alone.candidates.div_ceil(4),
        ..alone.clone()
    };
    let ones = alone.power(&GAINS, REPETITIONS)?.into_iter();
    let rows = ones.zip(quarter.power(&GAINS, REPETITIONS)?);
    let row = |(one, many): (Power, Power)| {
        let shares = [one.chosen, one.declared, many.chosen, many.declared];
        let gain = [format!("{:.2}", one.gain)].into_iter();
        gain.chain(shares.map(percent)).collect()
    };
    Ok(rows.map(row).collect())
}
