//! `evaluations compare`: tests whether two stored runs differ by more than chance.

use std::ffi::OsStr;

use anyhow::{Context as _, Result, bail};
use evals::{Change, Domain, MeasureChange, Report, Titled, Verdict};
use evals_evaluators::Untyped;
use evals_messages::nearest;
use evals_messages::quantity;
use evals_metrics::{Bootstrap, Measure, PairedTest};
use evals_rag::Retrieval;
use evals_rag::qa::Qa;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::cli::CompareArgs;
use crate::exit::Exit;
use crate::figures::{self, FigureFolder};
use crate::out_file::OutFile;
use crate::page::{ChangePage, Documents, PageSource, Paged};
use crate::run_folder::{RunFolder, RunHeader, RunState};
use crate::session::Session;
use crate::stored_runs::{Configuration, differences};
use crate::stored_runs::{
    SkippedRun, StoredReport, StoredRun, StoredRuns, is_finished, is_latest, is_of_command, kind,
    predecessor,
};
use crate::terminal::{Printer, console};

/// Most differences in settings that are listed for a pair of runs.
const LISTED: usize = 10;

pub(super) fn execute(session: &Session<'_>, arguments: &CompareArgs) -> Result<Exit> {
    let files = OutFile::all_of_changes(&arguments.out)?;
    let texts = OutFile::texts(&files, arguments.without_texts)?;
    let folder = arguments.figures.as_deref().map(FigureFolder::create);
    let folder = folder.transpose()?;
    let Chosen { pairs, is_behind } = choose(session, arguments)?;
    let several = pairs.len() > 1;
    let mut exit = None;
    for (before, after) in &pairs {
        let pair = Pair::read(before, after)?;
        let titles = [before, after].map(StoredRun::name);
        let test = PairedTest {
            seed: after.header.seed,
            ..PairedTest::default()
        };
        let change = pair.change(&titles, test, &arguments.measures, &arguments.group_by)?;
        if several && change.measures.is_empty() {
            continue;
        }
        check_measures(&change, &arguments.measures, || {
            pair.change(&titles, test, &[], &[])
        })?;
        let change = change.made_by(made_by(before, after)?);
        check_compared(&change)?;
        let gap = if exit.is_some() { "\n" } else { "" };
        let mut page = gap.as_bytes().to_vec();
        console(session.printer).change(&mut page, &change)?;
        session.printer.result(&String::from_utf8_lossy(&page))?;
        let kind = several.then(|| format!("{}-{}", after.header.benchmark, after.header.profile));
        let source = if files.iter().any(OutFile::is_page) {
            PageSource {
                documents: pair.documents([before, after])?,
                texts,
                ..PageSource::default()
            }
        } else {
            PageSource::default()
        };
        for file in &files {
            let file = match &kind {
                Some(kind) => file.of(kind),
                None => file.clone(),
            };
            pair.write(session.printer, &file, &titles, &change, &source)?;
            session.printer.note(&format!("wrote {file}"));
        }
        if let Some(folder) = &folder {
            let figures = figures::of_change(&change);
            folder.write(&figures::named(figures, kind.as_deref()), session.printer)?;
        }
        exit = exit.max(Some(verdict(session, arguments, &change)));
    }
    if arguments.fail_if_worse && is_behind {
        session.printer.warn(
            "`--fail-if-worse` fails because a newer run is not finished and was not compared",
        );
        exit = exit.max(Some(Exit::CheckFailed));
    }
    exit.with_context(|| {
        format!(
            "none of the {} pairs of runs has a measure {}",
            pairs.len(),
            arguments.measures.join(", ")
        )
    })
}

/// The exit status for one change.
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

/// Fails if no measure has a value in both runs: an empty comparison must not pass as unchanged.
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
    let (first, second) = (&change.before.title, &change.after.title);
    if change.pairs == 0 {
        bail!(
            "cannot compare `{first}` with `{second}`: no case in common ({} only in the first, {} only in the second, {} \
             changed between them)",
            change.only_before,
            change.only_after,
            change.changed.len()
        );
    }
    bail!(
        "cannot compare `{first}` with `{second}`: {} in common, but no measure has a value in both (measures only in the \
         first: {before}; only in the second: {after})",
        quantity::of(change.pairs, "case")
    );
}

/// The pairs of runs to compare.
struct Chosen {
    pairs: Vec<(StoredRun, StoredRun)>,
    /// Whether a newer run was skipped because it is unfinished.
    is_behind: bool,
}

/// The runs to compare: the named ones, or each finished run of the last command with its predecessor.
fn choose(session: &Session<'_>, arguments: &CompareArgs) -> Result<Chosen> {
    let runs = StoredRuns::of(session);
    if let Some(before) = &arguments.before {
        if is_latest(before) && arguments.after.is_none() {
            bail!(
                "`compare latest` names only one run; use `evaluations compare RUN latest` to name its baseline, or \
                 `evaluations compare` to compare the runs of the last command with earlier ones"
            );
        }
        let (before, _) = find(&runs, before)?;
        let (after, is_behind) = match &arguments.after {
            Some(after) => find(&runs, after)?,
            None => newest(&runs, |header| kind(header) == kind(&before.header))?,
        };
        check(&before, &after)?;
        return Ok(Chosen {
            pairs: vec![(before, after)],
            is_behind,
        });
    }
    let mut earlier = runs.list()?;
    let (command, is_behind) = last_command(&runs, &mut earlier)?;
    let mut pairs = Vec::new();
    let is_alone = |after: &StoredRun| {
        let same = command
            .iter()
            .filter(|run| kind(&run.header) == kind(&after.header));
        same.count() == 1
    };
    let alone: Vec<bool> = command.iter().map(is_alone).collect();
    for (after, is_alone) in command.into_iter().zip(alone) {
        match predecessor(&runs, &earlier, &after, is_alone) {
            Some(before) => {
                note_differences(session, &before, &after);
                pairs.push((before, after));
            }
            None => session.printer.note(&format!(
                "skipped `{}`: no earlier finished run has its dataset, benchmark and profile",
                after.name()
            )),
        }
    }
    if pairs.is_empty() {
        bail!(
            "no earlier finished run to compare the last command's runs with; name two runs (`evaluations runs` lists them)"
        );
    }
    Ok(Chosen { pairs, is_behind })
}

/// The named run, and whether `latest` skipped newer, unfinished ones. A running run is refused, because its figures still change.
fn find(runs: &StoredRuns<'_>, wanted: &OsStr) -> Result<(StoredRun, bool)> {
    if is_latest(wanted) {
        return newest(runs, |_| true);
    }
    let run = runs.named(wanted)?;
    if run.state()? == RunState::Running {
        bail!("run `{}` is still running; {}", run.name(), run.remedy());
    }
    if run.has_report() {
        runs.note_incomplete(&run)?;
    }
    Ok((run, false))
}

/// The newest finished run that is wanted, and whether newer ones are unfinished.
fn newest(
    runs: &StoredRuns<'_>,
    is_wanted: impl Fn(&RunHeader) -> bool,
) -> Result<(StoredRun, bool)> {
    let mut folders = runs.list()?;
    let (run, skipped) = runs.pop_newest(&mut folders, is_wanted, is_finished)?;
    runs.note_skipped(&skipped);
    Ok((run, !skipped.is_empty()))
}

/// Takes the runs of the last command with any finished run off the end of `folders`. Returns the finished ones, oldest first, and
/// whether newer runs are unfinished.
fn last_command(
    runs: &StoredRuns<'_>,
    folders: &mut Vec<RunFolder>,
) -> Result<(Vec<StoredRun>, bool)> {
    let (latest, mut skipped) = runs.pop_newest(folders, |_| true, is_finished)?;
    let mut command = vec![latest];
    while let Some(folder) = folders.last() {
        let Ok(header) = folder.read_manifest::<RunHeader>() else {
            break;
        };
        if !is_of_command(&header, command.iter().map(|run| &run.header)) {
            break;
        }
        let state = folder.state();
        if is_finished(state) {
            command.push(StoredRun::of_folder(folder.clone())?);
        } else {
            skipped.push(SkippedRun::because_of(folder, state));
        }
        folders.pop();
    }
    command.reverse();
    runs.note_skipped(&skipped);
    Ok((command, !skipped.is_empty()))
}

/// Points out differences in questions and profile between runs that the user did not name.
fn note_differences(session: &Session<'_>, before: &StoredRun, after: &StoredRun) {
    let [asked_before, asked_after] = [before, after].map(|run| run.header.dataset.questions);
    if asked_before != asked_after {
        session.printer.warn(&format!(
            "`{}` asked {} and `{}` asked {asked_after}; only questions of both are compared",
            before.name(),
            quantity::of(asked_before, "question"),
            after.name(),
        ));
    }
    let [profile_before, profile_after] = [before, after].map(|run| &run.header.profile);
    if profile_before != profile_after {
        session.printer.note(&format!(
            "comparing profile `{profile_after}` with profile `{profile_before}` of the previous run"
        ));
    }
}

/// Refuses runs that cannot have cases or measures in common.
fn check(before: &StoredRun, after: &StoredRun) -> Result<()> {
    if kind(&before.header) != kind(&after.header) {
        let [first, second] = [before, after].map(|run| {
            let (dataset, benchmark) = kind(&run.header);
            format!("`{}` ({benchmark} on {dataset})", run.name())
        });
        bail!("cannot compare {first} with {second}: both need the same dataset and benchmark");
    }
    if before.is_same_as(after) {
        bail!("cannot compare run `{}` with itself", before.name());
    }
    Ok(())
}

/// The two reports to compare.
enum Pair {
    Retrieval(Box<[Report<Retrieval>; 2]>),
    Qa(Box<[Report<Qa>; 2]>),
    Eval(Box<[Report<Untyped>; 2]>),
}

impl Pair {
    fn read(before: &StoredRun, after: &StoredRun) -> Result<Self> {
        Ok(match (before.report()?, after.report()?) {
            (StoredReport::Retrieval(before), StoredReport::Retrieval(after)) => {
                Self::Retrieval(Box::new([*before, *after]))
            }
            (StoredReport::Qa(before), StoredReport::Qa(after)) => {
                Self::Qa(Box::new([*before, *after]))
            }
            (StoredReport::Eval(before), StoredReport::Eval(after)) => {
                Self::Eval(Box::new([*before, *after]))
            }
            _ => bail!("cannot compare reports of different benchmarks"),
        })
    }

    /// The texts that the page of the change shows and the reports do not hold.
    fn documents(&self, runs: [&StoredRun; 2]) -> Result<Documents> {
        let Self::Retrieval(reports) = self else {
            return Ok(Documents::none());
        };
        let runtime = Runtime::new().context("cannot start worker threads")?;
        let mut all = Vec::new();
        for (run, report) in runs.into_iter().zip(reports.iter()) {
            let manifest = run.manifest()?;
            let documents = Documents::of_stored(report, manifest.as_ref());
            all.push(runtime.block_on(documents));
        }
        Ok(Documents::merged(&all))
    }

    fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        titles: &[String; 2],
        change: &Change,
        source: &PageSource,
    ) -> Result<()> {
        let titles = titles.each_ref().map(String::as_str);
        match self {
            Self::Retrieval(reports) => write(printer, file, titles, reports, change, source),
            Self::Qa(reports) => write(printer, file, titles, reports, change, source),
            Self::Eval(reports) => write(printer, file, titles, reports, change, source),
        }
    }

    fn change(
        &self,
        titles: &[String; 2],
        test: PairedTest,
        wanted: &[String],
        keys: &[String],
    ) -> Result<Change> {
        match self {
            Self::Retrieval(reports) => change(titles, reports, test, wanted, keys),
            Self::Qa(reports) => change(titles, reports, test, wanted, keys),
            Self::Eval(reports) => change(titles, reports, test, wanted, keys),
        }
    }
}

fn write<D: Paged>(
    printer: &Printer,
    file: &OutFile,
    titles: [&str; 2],
    reports: &[Report<D>; 2],
    change: &Change,
    source: &PageSource,
) -> Result<()> {
    let page = ChangePage {
        titles,
        reports,
        change,
        source,
    };
    file.change(printer, &page)
}

/// The change in the wanted measures, or in all measures if `wanted` is empty, broken down by `keys` of the cases' metadata.
fn change<D: Domain>(
    titles: &[String; 2],
    reports: &[Report<D>; 2],
    test: PairedTest,
    wanted: &[String],
    keys: &[String],
) -> Result<Change> {
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
    let is_wanted = |title: &str| wanted.is_empty() || wanted.iter().any(|name| names(name, title));
    let change = Change::between(&side(0), &side(1), test, is_wanted);
    Ok(change.grouped(&side(0), &side(1), keys, is_wanted)?)
}

/// Whether `name` means the measure with that title. It may be the title as tables print it, or any notation of a rank measure.
fn names(name: &str, title: &str) -> bool {
    // Tables append this suffix. A measure's own name may end in it too, so the full name is also tried.
    let shown = name.strip_suffix(" (pass rate)").unwrap_or(name);
    let notation = name.parse::<Measure>().map(|measure| measure.to_string());
    name == title || shown == title || notation.is_ok_and(|name| name == title)
}

/// Fails if a wanted measure is missing, and lists the available ones.
fn check_measures(
    change: &Change,
    wanted: &[String],
    all: impl FnOnce() -> Result<Change>,
) -> Result<()> {
    let is_there = |name: &&String| {
        let mut measures = change.measures.iter();
        measures.any(|it| names(name, &it.measure))
    };
    let Some(missing) = wanted.iter().find(|name| !is_there(name)) else {
        return Ok(());
    };
    let all = all()?;
    let titles: Vec<&str> = all.measures.iter().map(MeasureChange::title).collect();
    let names = all.measures.iter().map(|it| it.measure.as_str());
    let nearest = nearest::of(missing, titles.iter().copied().chain(names));
    let nearest = nearest::did_you_mean(nearest);
    bail!(
        "no measure `{missing}` in both runs; available: {}{nearest}",
        titles.join(", ")
    )
}

/// The differences in settings, program version and number of questions.
fn made_by(before: &StoredRun, after: &StoredRun) -> Result<Vec<String>> {
    let (Some(before), Some(after)) = (before.manifest()?, after.manifest()?) else {
        let line =
            "settings unknown, because a report does not hold them: name the run's folder instead";
        return Ok(vec![line.to_owned()]);
    };
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
        // What changed inside somebody else's system is known only to its owner.
        let has_target = !after["target"].is_null();
        let advice = if has_target && after["target"]["version"].is_null() {
            "; `--target-version` names what changed in the target"
        } else {
            ""
        };
        lines.push(format!(
            "no differences in settings, models or data{advice}"
        ));
    }
    if lines.len() > LISTED {
        let more = lines.len() - LISTED;
        lines.truncate(LISTED);
        lines.push(format!("and {more} more"));
    }
    Ok(lines)
}
