//! `evaluations gate --simulate`: how often the rules would fail without a reason, and how often they would see a drop.

use anyhow::Result;
use evals::{GateTrial, Noise, Snapshot, TrialError, render};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::stored_runs::{StoredRun, finished, snapshot};
use evals_terminal::{console, text};

use crate::cli::GateArgs;
use crate::gating::{self, VerdictFile, VerdictFormat};

/// The share of the cases that exchange their values, where one run shows no noise.
const CHANGED: f64 = 0.2;

pub(super) fn execute(session: &Session<'_>, arguments: &GateArgs) -> Result<Exit> {
    let printer = session.printer;
    let options = &arguments.simulation;
    let files = VerdictFile::all(&arguments.out, &["json", "md"])?;
    let written = gating::gate(&arguments.rules, [], options.seed)?;
    let stored = session.stored_runs();
    let key = arguments.rules.cluster.as_ref();
    let runs = arguments.runs.iter();
    let runs = runs.map(|wanted| Ok(stored.find(wanted)?.clustered(key)));
    let runs: Vec<StoredRun> = runs.collect::<Result<_>>()?;
    for run in &runs {
        finished(run)?;
    }
    let snapshots = match &runs[..] {
        [run] => run.report()?.repetitions(&run.name(), run.record.seed),
        several => several
            .iter()
            .map(snapshot)
            .collect::<Result<Vec<Snapshot>>>()?,
    };
    let noise = match (&runs[..], &snapshots[..], options.changed) {
        ([_], [run], share) => Noise::Exchange {
            run,
            share: share.unwrap_or(CHANGED),
        },
        (_, _, Some(_)) => anyhow::bail!(
            "`--changed` is for one run without repetitions; these runs show by themselves how much cases change"
        ),
        ([_], repetitions, None) => Noise::Repetitions(repetitions),
        (_, several, None) => Noise::Runs(several),
    };
    let trial = GateTrial {
        gate: &written.gate,
        drops: &options.drop,
        simulations: options.simulations,
        seed: options.seed,
    };
    let report = trial
        .run(&noise, &gating::Names)
        .map_err(|error| match error {
            TrialError::Gate(error) => written.located(error),
            other => other.into(),
        })?;
    printer.result(&text(|out| console(printer).trial(out, &report))?)?;
    for file in &files {
        file.write(printer, |out| match file.format() {
            VerdictFormat::Markdown => render::markdown::trial(out, &report),
            VerdictFormat::Json | VerdictFormat::Junit => render::json::trial(out, &report),
        })?;
    }
    Ok(Exit::Done)
}
