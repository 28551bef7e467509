//! `evaluations compare`: did a change make it better?

use anyhow::{Context as _, Result, bail};
use evals::{Change, Domain, Report, Titled, Verdict};
use evals_metrics::{Bootstrap, PairedTest};
use evals_rag::Retrieval;
use evals_rag::qa::Qa;
use serde_json::Value;

use super::Session;
use super::configuration::{Configuration, differences};
use super::run::{OutFile, RunHeader, console};
use super::stored::StoredReport;
use crate::cli::CompareArgs;
use crate::exit::Exit;
use crate::nearest;
use crate::run_folder::{RunFolder, RunState};

/// Most differences between two runs that are listed.
const LISTED: usize = 10;

pub(super) fn execute(session: &Session<'_>, arguments: &CompareArgs) -> Result<Exit> {
    let files = OutFile::all_of_changes(&arguments.out)?;
    let after = find(session, arguments.after.as_deref().unwrap_or("latest"))?;
    let before = match &arguments.before {
        Some(wanted) => find(session, wanted)?,
        None => predecessor(session, &after)?,
    };
    check(&before, &after)?;
    let pair = Pair::read(&before, &after)?;
    let titles = [&before, &after].map(|run| run.folder.name());
    let test = PairedTest {
        seed: after.header.seed,
        ..PairedTest::default()
    };
    let change = pair.change(&titles, test, &arguments.measures);
    check_measures(&change, &arguments.measures, || {
        pair.change(&titles, test, &[])
    })?;
    let change = change.made_by(made_by(&before, &after)?);
    let mut page = Vec::new();
    console(session.printer).change(&mut page, &change)?;
    session.printer.result(&String::from_utf8_lossy(&page))?;
    for file in &files {
        file.change(&change)?;
        session.printer.note(&format!("wrote {file}"));
    }
    let is_worse = change
        .measures
        .iter()
        .any(|it| it.verdict == Verdict::Worse);
    Ok(if arguments.fail_if_worse && is_worse {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

/// A stored run.
struct Stored {
    folder: RunFolder,
    header: RunHeader,
}

fn find(session: &Session<'_>, wanted: &str) -> Result<Stored> {
    let folder = RunFolder::find(&session.directories.runs(), wanted)?;
    let header = folder.read_manifest()?;
    Ok(Stored { folder, header })
}

/// The run before `after` that has its dataset, benchmark and profile.
fn predecessor(session: &Session<'_>, after: &Stored) -> Result<Stored> {
    let runs = session.directories.runs();
    let mut folders = RunFolder::list(&runs)?;
    folders.retain(|folder| folder.name() < after.folder.name());
    let mut earlier = folders.into_iter().rev().filter_map(|folder| {
        let header = folder.read_manifest().ok()?;
        Some(Stored { folder, header })
    });
    let wanted = kind(&after.header);
    let found = earlier.find(|run| {
        kind(&run.header) == wanted
            && run.header.profile == after.header.profile
            && run.folder.state() != RunState::Unfinished
    });
    found.with_context(|| {
        format!(
            "there is no run before `{}` with its dataset, benchmark and profile; name both runs, `evaluations runs` lists them",
            after.folder.name()
        )
    })
}

fn kind(header: &RunHeader) -> (&str, &str) {
    (&header.dataset.name, &header.benchmark)
}

/// Refuses runs that have no cases or no measures in common.
fn check(before: &Stored, after: &Stored) -> Result<()> {
    if kind(&before.header) != kind(&after.header) {
        let [first, second] = [before, after].map(|run| {
            let (dataset, benchmark) = kind(&run.header);
            format!("`{}` is {benchmark} on {dataset}", run.folder.name())
        });
        bail!("{first}, and {second}: they have no measures of the same cases");
    }
    if before.folder.name() == after.folder.name() {
        bail!("`{}` is the same run twice", before.folder.name());
    }
    Ok(())
}

/// Both reports.
enum Pair {
    Retrieval(Box<[Report<Retrieval>; 2]>),
    Qa(Box<[Report<Qa>; 2]>),
}

impl Pair {
    fn read(before: &Stored, after: &Stored) -> Result<Self> {
        let read = |run: &Stored| StoredReport::read(&run.folder, &run.header);
        Ok(match (read(before)?, read(after)?) {
            (StoredReport::Retrieval(before), StoredReport::Retrieval(after)) => {
                Self::Retrieval(Box::new([*before, *after]))
            }
            (StoredReport::Qa(before), StoredReport::Qa(after)) => {
                Self::Qa(Box::new([*before, *after]))
            }
            _ => bail!("the runs are of different benchmarks"),
        })
    }

    fn change(&self, titles: &[String; 2], test: PairedTest, wanted: &[String]) -> Change {
        match self {
            Self::Retrieval(reports) => change(titles, reports, test, wanted),
            Self::Qa(reports) => change(titles, reports, test, wanted),
        }
    }
}

/// The change in the measures that are wanted; in all where none is named.
fn change<D: Domain>(
    titles: &[String; 2],
    reports: &[Report<D>; 2],
    test: PairedTest,
    wanted: &[String],
) -> Change {
    let bootstrap = Bootstrap {
        seed: test.seed,
        ..Bootstrap::default()
    };
    let summaries = reports.each_ref().map(|report| report.summary(&bootstrap));
    let side = |number: usize| Titled {
        title: &titles[number],
        report: &reports[number],
        summary: &summaries[number],
    };
    Change::between(&side(0), &side(1), test, |title| {
        wanted.is_empty() || wanted.iter().any(|name| name == title)
    })
}

/// A measure that is wanted and not there is an error that names those there are.
fn check_measures(change: &Change, wanted: &[String], all: impl FnOnce() -> Change) -> Result<()> {
    let is_there = |name: &&String| change.measures.iter().any(|it| it.measure == **name);
    let Some(missing) = wanted.iter().find(|name| !is_there(name)) else {
        return Ok(());
    };
    let all = all();
    let names: Vec<&str> = all.measures.iter().map(|it| it.measure.as_str()).collect();
    let nearest = match nearest::of(missing, names.iter().copied()) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    };
    bail!(
        "no measure `{missing}` in both runs, which have {}{nearest}",
        names.join(", ")
    )
}

/// What the runs were made with, where that differs.
fn made_by(before: &Stored, after: &Stored) -> Result<Vec<String>> {
    let manifest = |run: &Stored| run.folder.read_manifest::<Value>();
    let [before, after] = [manifest(before)?, manifest(after)?];
    let version = |manifest: &Value| manifest["tool"]["version"].as_str().map(str::to_owned);
    let mut lines = differences(&Configuration::of(&before), &Configuration::of(&after));
    if let (Some(old), Some(new)) = (version(&before), version(&after))
        && old != new
    {
        lines.push(format!("evaluations: {old} -> {new}"));
    }
    if lines.is_empty() {
        lines.push("both were made alike".to_owned());
    }
    if lines.len() > LISTED {
        let more = lines.len() - LISTED;
        lines.truncate(LISTED);
        lines.push(format!("and {more} more"));
    }
    Ok(lines)
}
