//! `evaluations compare RUN RUN RUN …`: compares each of several stored runs with each.

use anyhow::{Result, bail};
use evals::Standings;
use evals_messages::nearest;

use super::{check_clusters, documents_of, find};
use crate::cli::CompareArgs;
use crate::exit::Exit;
use crate::figures::FigureFolder;
use crate::out_file::OutFile;
use crate::page::PageSource;
use crate::session::Session;
use crate::stored_runs::{StoredRun, StoredRuns, StoredSeveral, names_measure};
use crate::terminal::console;

pub(super) fn execute(session: &Session<'_>, arguments: &CompareArgs) -> Result<Exit> {
    if arguments.fail_if_worse {
        bail!(
            "`--fail-if-worse` compares one run with a baseline; name two runs, or use `evaluations gate`"
        );
    }
    let files = OutFile::all_of_standings(&arguments.out)?;
    let texts = OutFile::texts(&files, arguments.without_texts)?;
    let folder = arguments.figures.as_deref().map(FigureFolder::create);
    let folder = folder.transpose()?;
    let runs = StoredRuns::of(session);
    let runs: Vec<StoredRun> = arguments
        .runs
        .iter()
        .map(|wanted| Ok(find(&runs, wanted)?.0.clustered(arguments.cluster.as_ref())))
        .collect::<Result<_>>()?;
    let several = StoredSeveral::read(&runs)?;
    let standings = compared(&several, arguments)?;
    for warning in several.warnings()? {
        session.printer.warn(&warning);
    }
    let mut page = Vec::new();
    console(session.printer).standings(&mut page, &standings)?;
    session.printer.result(&String::from_utf8_lossy(&page))?;
    let source = if files.iter().any(OutFile::is_page) {
        PageSource {
            documents: documents_of(several.documents())?,
            texts,
            ..PageSource::default()
        }
    } else {
        PageSource::default()
    };
    for file in &files {
        several.write(session.printer, file, &standings, &source)?;
        session.printer.note_file("wrote", file.path());
    }
    if let Some(folder) = &folder {
        let note = folder.write(&several.figures(&standings))?;
        session.printer.note(&note);
    }
    Ok(Exit::Done)
}

/// The standings by the wanted measures. Fails if one is missing, and lists the others.
fn compared(several: &StoredSeveral<'_>, arguments: &CompareArgs) -> Result<Standings> {
    let test = arguments.testing(several.seed());
    let standings = several.standings(test, &arguments.measures, &arguments.group_by)?;
    check_clusters(&standings.test)?;
    let is_there = |name: &&String| {
        let mut measures = standings.measures.iter();
        measures.any(|it| names_measure(name, &it.measure))
    };
    if let Some(missing) = arguments.measures.iter().find(|name| !is_there(name)) {
        let all = several.measures();
        let nearest = nearest::did_you_mean_measure(missing, all.iter().map(String::as_str));
        bail!(
            "no measure `{missing}` in two of the runs; available: {}{nearest}",
            all.join(", ")
        );
    }
    several.check_compared(&standings)?;
    Ok(standings)
}
