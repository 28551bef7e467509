//! `evaluations runs show`: shows the report of a run, or cases of it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use anyhow::{Result, bail};
use evals::CaseId;
use evals::render::{Cases, Part};
use evals_messages::{nearest, quantity, visible};
use evals_pages::shown_report;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::calibrations::{CORRECTION, CalibrationStore, RunCorrections};
use evals_runs::stored_runs::StoredReport;
use evals_terminal::table_text;

use super::watch;
use crate::cli::ShowRunArgs;

const NONE_FAILED: &str = "no case failed\n";

/// How many of the worst cases fit a screen.
const IN_BRIEF: usize = 5;

pub(super) fn execute(session: &Session<'_>, arguments: &ShowRunArgs) -> Result<Exit> {
    let printer = session.printer;
    let runs = session.stored_runs();
    let run = match &arguments.run {
        Some(wanted) if !arguments.watch => runs.find(wanted)?,
        wanted => {
            let run = watch::find(&runs, wanted.as_deref())?;
            watch::follow(session, &run)?;
            run
        }
    };
    let run = run.measuring(&arguments.measures);
    let report = run.report()?;
    runs.note_incomplete(&run);
    let in_brief = arguments.failed && arguments.case.is_empty() && !printer.is_verbose();
    match chosen(&report, arguments)? {
        Some(_) if in_brief => {
            let most = arguments.cases.map_or(IN_BRIEF, NonZeroUsize::get);
            let worst = shown_report(&report).worst(printer, most)?;
            printer.result(worst.as_deref().unwrap_or(NONE_FAILED))?;
            printer.note("`--cases N` shows more cases, `--case ID` everything about one");
        }
        Some(ids) if ids.is_empty() => printer.result(NONE_FAILED)?,
        Some(ids) => printer.result(&shown_report(&report).details(printer, &ids)?)?,
        None => {
            let mut page =
                shown_report(&report).text(printer, run.record.seed, &arguments.group_by)?;
            let store = CalibrationStore::of(&session.directories);
            let corrections = RunCorrections::of_stored(printer, &store, &run, &report);
            for table in corrections.tables() {
                page.push('\n');
                page.push_str(&table_text(printer, &table, CORRECTION));
            }
            corrections.note(printer);
            if let Some(most) = arguments.cases {
                let shown = Cases {
                    most: most.get(),
                    reasons: arguments.reasons,
                    parts: arguments.show.iter().copied().map(Part::from).collect(),
                };
                page.push_str(&shown_report(&report).cases(printer, &shown)?);
            }
            printer.result(&page)?;
        }
    }
    let started = run.record.started.as_ref();
    let started = started.map_or_else(String::new, |time| format!("started {time}, "));
    let name = visible::line(&run.record.name);
    let page = run.page();
    let page = page.as_deref().unwrap_or(run.path());
    printer.note_link(&format!("{name}, {started}"), run.path(), page);
    Ok(Exit::Done)
}

/// The cases to show in detail; `None` if no option asks for details.
fn chosen<'r>(
    report: &'r StoredReport,
    arguments: &ShowRunArgs,
) -> Result<Option<BTreeSet<&'r CaseId>>> {
    let all: BTreeSet<&CaseId> = report.ids().into_iter().collect();
    for wanted in &arguments.case {
        if !all.contains(&CaseId::from(wanted.as_str())) {
            let similar = nearest::of(wanted, all.iter().map(|id| id.as_str()));
            bail!(
                "the run has no case `{wanted}` among its {}{}",
                quantity::of(all.len(), "case"),
                nearest::did_you_mean(similar)
            );
        }
    }
    let named = |id: &&CaseId| arguments.case.iter().any(|wanted| wanted == id.as_str());
    let most = arguments.cases.map_or(usize::MAX, NonZeroUsize::get);
    Ok(match (arguments.failed, arguments.case.as_slice()) {
        (false, []) => None,
        (false, _) => Some(all.into_iter().filter(named).collect()),
        (true, []) => Some(report.failed().into_iter().take(most).collect()),
        (true, _) => Some(report.failed().into_iter().filter(named).collect()),
    })
}
