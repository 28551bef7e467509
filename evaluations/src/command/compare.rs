//! `evaluations compare`: did a change make it better?

use anyhow::{Context as _, Result, bail};
use evals::{Change, Domain, Report, Titled, Verdict};
use evals_metrics::{Bootstrap, Measure, PairedTest};
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
    let pairs = pairs(session, arguments)?;
    let several = pairs.len() > 1;
    let mut exit = None;
    for (before, after) in &pairs {
        let pair = Pair::read(before, after)?;
        let titles = [before, after].map(|run| run.folder.name());
        let test = PairedTest {
            seed: after.header.seed,
            ..PairedTest::default()
        };
        let change = pair.change(&titles, test, &arguments.measures);
        if several && change.measures.is_empty() {
            continue;
        }
        check_measures(&change, &arguments.measures, || {
            pair.change(&titles, test, &[])
        })?;
        let change = change.made_by(made_by(before, after)?);
        check_compared(&change)?;
        let gap = if exit.is_some() { "\n" } else { "" };
        let mut page = gap.as_bytes().to_vec();
        console(session.printer).change(&mut page, &change)?;
        session.printer.result(&String::from_utf8_lossy(&page))?;
        for file in &files {
            let file = if several {
                file.of(&format!(
                    "{}-{}",
                    after.header.benchmark, after.header.profile
                ))
            } else {
                file.clone()
            };
            file.change(&change)?;
            session.printer.note(&format!("wrote {file}"));
        }
        exit = exit.max(Some(verdict(session, arguments, &change)));
    }
    exit.with_context(|| {
        format!(
            "none of the {} pairs of runs has a measure {}",
            pairs.len(),
            arguments.measures.join(", ")
        )
    })
}

/// How the command ends for one change.
fn verdict(session: &Session<'_>, arguments: &CompareArgs, change: &Change) -> Exit {
    let mut measures = change.measures.iter();
    let is_worse = measures.any(|it| it.verdict == Verdict::Worse);
    let fails_more = change.after.failed > change.before.failed;
    if arguments.fail_if_worse && fails_more {
        session.printer.failure("more cases failed than before");
    }
    if arguments.fail_if_worse && (is_worse || fails_more) {
        Exit::CheckFailed
    } else {
        Exit::Done
    }
}

/// Refuses a change of which nothing is seen: no news of it is not good news.
fn check_compared(change: &Change) -> Result<()> {
    if change.measures.iter().any(|it| it.difference.is_some()) {
        return Ok(());
    }
    let lists = [&change.measures_only_before, &change.measures_only_after];
    let [before, after] = lists.map(|names| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    });
    bail!(
        "nothing to compare in `{}` and `{}`: cases only in the first {}, only in the second {}; measures only in the first: {before}, only \
         in the second: {after}",
        change.before.title,
        change.after.title,
        change.only_before,
        change.only_after
    );
}

/// The runs to compare: those that are named, or each run of the last command with the one before that command.
fn pairs(session: &Session<'_>, arguments: &CompareArgs) -> Result<Vec<(Stored, Stored)>> {
    if let Some(before) = &arguments.before {
        let before = find(session, before)?;
        let after = find(session, arguments.after.as_deref().unwrap_or("latest"))?;
        check(&before, &after)?;
        return Ok(vec![(before, after)]);
    }
    let mut earlier = RunFolder::list(&session.directories.runs())?;
    let command = last_command(session, &mut earlier)?;
    let mut pairs = Vec::new();
    for after in command {
        match predecessor(&earlier, &after) {
            Some(before) => pairs.push((before, after)),
            None => session.printer.note(&format!(
                "`{}` is not compared: there is no run before it with its dataset, benchmark and profile",
                after.folder.name()
            )),
        }
    }
    if pairs.is_empty() {
        bail!(
            "no run of the last command has one before it to be compared with; name two runs, `evaluations runs` lists them"
        );
    }
    Ok(pairs)
}

/// Takes the runs of the last command off the end of `folders`, oldest first.
fn last_command(session: &Session<'_>, folders: &mut Vec<RunFolder>) -> Result<Vec<Stored>> {
    let latest = find(session, "latest")?;
    let line = |folder: &RunFolder| {
        let manifest = folder.read_manifest::<Value>().ok()?;
        Some(manifest["command_line"].clone())
    };
    let wanted = line(&latest.folder);
    let mut runs: Vec<Stored> = Vec::new();
    while let Some(folder) = folders.last() {
        let Ok(header) = folder.read_manifest::<RunHeader>() else {
            break;
        };
        let is_again = |run: &Stored| {
            kind(&run.header) == kind(&header) && run.header.profile == header.profile
        };
        // The same command typed twice in a row is two commands.
        if line(folder) != wanted || runs.iter().any(is_again) {
            break;
        }
        let folder = folder.clone();
        folders.pop();
        runs.push(Stored { folder, header });
    }
    runs.reverse();
    Ok(runs)
}

/// The newest of some runs that has the dataset, benchmark and profile of `after`.
fn predecessor(earlier: &[RunFolder], after: &Stored) -> Option<Stored> {
    let mut earlier = earlier.iter().rev().filter_map(|folder| {
        let header = folder.read_manifest().ok()?;
        let folder = folder.clone();
        Some(Stored { folder, header })
    });
    earlier.find(|run| {
        kind(&run.header) == kind(&after.header)
            && run.header.profile == after.header.profile
            && run.folder.state() != RunState::Unfinished
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
        wanted.is_empty() || wanted.iter().any(|name| names(name, title))
    })
}

/// Whether `name` means the measure with that title: as tables have it, or in any notation of a rank measure.
fn names(name: &str, title: &str) -> bool {
    let name = name.strip_suffix(" (pass rate)").unwrap_or(name);
    let notation = name.parse::<Measure>().map(|measure| measure.to_string());
    name == title || notation.is_ok_and(|name| name == title)
}

/// A measure that is wanted and not there is an error that names those there are.
fn check_measures(change: &Change, wanted: &[String], all: impl FnOnce() -> Change) -> Result<()> {
    let is_there = |name: &&String| {
        let mut measures = change.measures.iter();
        measures.any(|it| names(name, &it.measure))
    };
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
    let questions = |manifest: &Value| manifest["dataset"]["questions"].to_string();
    let [asked_before, asked_after] = [&before, &after].map(questions);
    if asked_before != asked_after {
        lines.push(format!("questions: {asked_before} -> {asked_after}"));
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
