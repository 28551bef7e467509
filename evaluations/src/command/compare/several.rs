//! `evaluations compare RUN RUN RUN …`: compares each of several stored runs with each.

use anyhow::{Result, bail};
use evals::Standings;
use evals_messages::nearest;
use evals_pages::out_file::OutFile;
use evals_pages::page::PageSource;
use evals_pages::{ComparedRuns, names_measure};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::stored_runs::StoredRun;
use evals_terminal::console;

use super::{Outputs, cases, check_clusters, find, prepared};
use crate::cli::CompareArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &CompareArgs) -> Result<Exit> {
    if arguments.fail_if_worse {
        bail!(
            "`--fail-if-worse` compares one run with a baseline; name two runs, or use `evaluations gate`"
        );
    }
    let outputs = Outputs::of(arguments, OutFile::all_of_standings(&arguments.out)?)?;
    let printer = session.printer;
    let runs = session.stored_runs();
    let runs: Vec<StoredRun> = arguments
        .runs
        .iter()
        .map(|wanted| Ok(prepared(find(&runs, wanted)?.0, arguments)))
        .collect::<Result<_>>()?;
    let compared = ComparedRuns::read(&runs)?;
    let standings = standings(&compared, arguments)?;
    for warning in compared.warnings() {
        printer.warn(&warning);
    }
    let mut page = Vec::new();
    console(printer).standings(&mut page, &standings)?;
    let cases = cases(printer, &compared, arguments, &mut page)?;
    printer.result(&String::from_utf8_lossy(&page))?;
    let source = PageSource {
        cases,
        ..outputs.source(&compared)?
    };
    outputs.write(printer, OutFile::clone, |file| {
        compared.write_standings(printer, file, &standings, &source)
    })?;
    outputs.write_figures(printer, || compared.figures(&standings))?;
    Ok(Exit::Done)
}

/// The standings by the wanted measures. Fails if one is missing, and lists the others.
fn standings(compared: &ComparedRuns<'_>, arguments: &CompareArgs) -> Result<Standings> {
    let test = arguments.testing(compared.seed());
    let standings = compared.standings(test, &arguments.measures, &arguments.group_by)?;
    check_clusters(&standings.test)?;
    let is_there = |name: &&String| {
        let mut measures = standings.measures.iter();
        measures.any(|it| names_measure(name, &it.measure))
    };
    if let Some(missing) = arguments.measures.iter().find(|name| !is_there(name)) {
        let all = compared.measures();
        let nearest = nearest::did_you_mean_measure(missing, all.iter().map(String::as_str));
        bail!(
            "no measure `{missing}` in two of the runs; available: {}{nearest}",
            all.join(", ")
        );
    }
    compared.check_compared(&standings)?;
    Ok(standings)
}
