//! `evaluations run --set-each`: runs the benchmarks once for each combination of settings, and compares the runs.

mod matrix;
mod record;
mod stored;

use anyhow::{Context as _, Result};
use evals_messages::quantity;
use evals_pages::out_file::OutFile;
use evals_pipeline::exit::Exit;
use evals_pipeline::run;
use evals_pipeline::session::Session;

pub(super) use self::matrix::{Variant, of};
use self::record::Record;
use self::stored::{Made, made_by};
use crate::cli::{CompareArgs, RunArgs};
use crate::command::compare;
use crate::command::compare::variants::VariantRun;

pub(super) fn execute(
    session: &Session<'_>,
    arguments: &RunArgs,
    variants: &[Variant],
) -> Result<Exit> {
    // A page, a table or a row for each pair can show all runs, and nothing else can.
    OutFile::all_of_standings(&arguments.results.out)?;
    check(session, arguments, variants)?;
    announce(session, arguments, variants);
    if arguments.judging.estimate {
        return estimates(session, arguments, variants);
    }
    let mut record = Record::open(session, arguments)?;
    let Some((failed, worst)) = run_all(session, arguments, variants, &mut record)? else {
        return Ok(Exit::Interrupted);
    };
    let mut made = Vec::new();
    for variant in variants {
        if !failed.contains(&variant.title.as_str()) {
            made.extend(made_by(session, &variant.title)?);
        }
    }
    compare_all(session, arguments, &made)?;
    if failed.is_empty() {
        record.remove()?;
        return Ok(worst);
    }
    session.printer.failure(&format!(
        "{} of {} failed: {}; the same command runs only these again",
        failed.len(),
        quantity::of(variants.len(), "variant"),
        failed.join(", ")
    ));
    Ok(worst)
}

/// Runs the variants that are not done. Returns those that failed, with the worst exit code; `None` after an interruption.
fn run_all<'v>(
    session: &Session<'_>,
    arguments: &RunArgs,
    variants: &'v [Variant],
    record: &mut Record,
) -> Result<Option<(Vec<&'v str>, Exit)>> {
    let mut failed: Vec<&'v str> = Vec::new();
    let mut worst = Exit::Done;
    for (place, variant) in variants.iter().enumerate() {
        let number = format!("{} of {}", place + 1, variants.len());
        if let Some(runs) = record.done(session, &variant.title) {
            session.printer.note(&format!(
                "`{}` ({number}) is done: {}",
                variant.title,
                runs.join(", ")
            ));
            continue;
        }
        session
            .printer
            .note(&format!("`{}` ({number})", variant.title));
        match run_one(session, arguments, variant) {
            Ok(Exit::Interrupted) => {
                session.printer.note(&format!(
                    "{} left; run the same command again to continue",
                    quantity::of(variants.len() - place, "variant")
                ));
                return Ok(None);
            }
            Ok(Exit::Done) => record.add(&variant.title, &made_by(session, &variant.title)?)?,
            Ok(exit) => {
                worst = worst.max(exit);
                failed.push(&variant.title);
            }
            Err(error) => {
                let reason = evals_messages::chain(error.as_ref());
                session
                    .printer
                    .failure(&format!("`{}` failed: {reason}", variant.title));
                worst = worst.max(Exit::CouldNot);
                failed.push(&variant.title);
            }
        }
    }
    Ok(Some((failed, worst)))
}

/// Resolves and plans every variant, so that a bad value is found before anything runs.
fn check(session: &Session<'_>, arguments: &RunArgs, variants: &[Variant]) -> Result<()> {
    let printer = session.printer.silent();
    let quiet = Session {
        printer: &printer,
        directories: session.directories.clone(),
    };
    for variant in variants {
        let own = variant.arguments(arguments);
        run::check(&quiet, &own).with_context(|| format!("variant `{}`", variant.title))?;
    }
    Ok(())
}

/// Says what is about to run.
fn announce(session: &Session<'_>, arguments: &RunArgs, variants: &[Variant]) {
    let titles: Vec<&str> = variants.iter().map(|it| it.title.as_str()).collect();
    session.printer.note(&format!(
        "{} of {}, one after another: {}",
        quantity::of(variants.len(), "variant"),
        arguments.dataset,
        titles.join(" ")
    ));
}

fn run_one(session: &Session<'_>, arguments: &RunArgs, variant: &Variant) -> Result<Exit> {
    let printer = session.printer.without_results();
    let quiet = Session {
        printer: &printer,
        directories: session.directories.clone(),
    };
    let own = variant.arguments(arguments);
    resolved_run(&quiet, &own)
}

fn resolved_run(session: &Session<'_>, own: &RunArgs) -> Result<Exit> {
    let manifest = session.manifest(&own.dataset)?;
    let mut resolved = run::resolve(session, own, &manifest)?;
    resolved.settings.matrix.clear();
    resolved.settings.tune = evals_settings::Tune::default();
    run::one(session, own, manifest, resolved)
}

/// The estimate of each variant.
fn estimates(session: &Session<'_>, arguments: &RunArgs, variants: &[Variant]) -> Result<Exit> {
    let mut worst = Exit::Done;
    for variant in variants {
        session.printer.result(&format!("{}\n", variant.title))?;
        worst = worst.max(resolved_run(session, &variant.arguments(arguments))?);
    }
    Ok(worst)
}

/// Compares the runs of each benchmark, as `evaluations compare` does.
fn compare_all(session: &Session<'_>, arguments: &RunArgs, made: &[Made]) -> Result<()> {
    if made.is_empty() {
        session
            .printer
            .note("no variant has a finished run, so there is nothing to compare");
        return Ok(());
    }
    let comparison = CompareArgs::of_command(
        arguments.results.group_by.clone(),
        arguments.results.out.clone(),
        arguments.variants.figures.clone(),
    );
    let runs: Vec<VariantRun> = made.iter().map(|made| made.run.clone()).collect();
    compare::variants::execute(session, &comparison, &runs)?;
    Ok(())
}
