//! `evaluations score fuse`: one ranking from several runs.

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum as _;
use evals_messages::quantity;
use evals_metrics::fusion::{self, Fusion};
use evals_metrics::scoring::Ranked;
use evals_metrics::trec;
use evals_pipeline::exit::Exit;
use evals_pipeline::ranking_file;
use evals_pipeline::session::Session;
use evals_runs::atomic_file::write_atomically;

use crate::cli::FuseArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &FuseArgs) -> Result<Exit> {
    if arguments.runs.len() < 2 {
        bail!("one run cannot be fused; name two or more with `--run`");
    }
    ranking_file::check_stdin(&arguments.runs)?;
    let mut runs = Vec::with_capacity(arguments.runs.len());
    for path in &arguments.runs {
        let text = ranking_file::read(path)?;
        let run = Ranked::read(&text).and_then(|ranked| ranked.to_run());
        runs.push(
            run.with_context(|| format!("cannot read the rankings of `{}`", path.display()))?,
        );
    }
    let settings = Fusion {
        method: arguments.formula(),
        normalization: arguments.normalization(),
        weights: arguments.weights.clone(),
        depth: Some(arguments.depth.get()),
    };
    let fused = fusion::fuse(&runs, &settings)?;
    if fused.is_empty() {
        bail!("the runs rank no document");
    }
    warn_of_missing(session, arguments, &runs, fused.len());
    let method = arguments.method.to_possible_value();
    let method = method.context("a method has a name")?.get_name().to_owned();
    let tag = arguments.tag.clone().unwrap_or(method);
    let mut written = Vec::new();
    trec::write_run(&mut written, &fused, &tag).context("cannot write a TREC file")?;
    match &arguments.out {
        Some(path) => {
            write_atomically(path, |file| file.write_all(&written))?;
            session.printer.note_file("wrote", path);
        }
        None => session.printer.result(&String::from_utf8(written)?)?,
    }
    Ok(Exit::Done)
}

/// Names the runs that do not rank every query.
fn warn_of_missing(
    session: &Session<'_>,
    arguments: &FuseArgs,
    runs: &[evals_metrics::Run],
    queries: usize,
) {
    for (path, run) in arguments.runs.iter().zip(runs) {
        let missing = queries - run.len();
        if missing > 0 {
            session.printer.warn(&format!(
                "`{}` does not rank {} of {queries}; the other runs decide there",
                path.display(),
                quantity::of(missing, "query")
            ));
        }
    }
}
