//! `evaluations compare`: tests whether stored runs differ by more than chance.

mod several;
pub(super) mod variants;

use std::ffi::OsStr;
use std::io::Write as _;

use anyhow::{Context as _, Result, bail};
use evals::render::{self, Narrow};
use evals::{ByPeople, CaseTable, Change, MeasureChange, PairTesting, Verdict};
use evals_html::page::{PageFigure, Texts};
use evals_messages::{nearest, quantity, visible};
use evals_pages::figures::{self, FigureFolder};
use evals_pages::out_file::OutFile;
use evals_pages::page::PageSource;
use evals_pages::{ComparedRuns, names_measure};
use evals_pipeline::exit::Exit;
use evals_pipeline::indexed_documents;
use evals_pipeline::session::Session;
use evals_runs::calibrations::{CalibrationStore, RunCorrections, changes_by_people};
use evals_runs::run_folder::RunState;
use evals_runs::run_record::{Benchmark, RunRecord};
use evals_runs::stored_runs::{StoredRun, StoredRuns, is_finished, is_latest, kind, predecessor};
use evals_terminal::{Printer, console};
use tokio::runtime::Runtime;

use crate::cli::CompareArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &CompareArgs) -> Result<Exit> {
    if arguments.runs.len() > 2 {
        return several::execute(session, arguments);
    }
    if arguments.runs.is_empty() {
        let runs = session.stored_runs();
        let folders = runs.list()?;
        let last = runs.variants_of_last_command(folders)?;
        if let Some(last) = last {
            runs.note_skipped(&last.skipped);
            return variants::of_last_command(session, arguments, &last);
        }
    }
    let outputs = Outputs::of(
        arguments,
        OutFile::all_of_changes(&arguments.out, arguments.cases)?,
    )?;
    let Chosen { pairs, is_behind } = choose(session, arguments)?;
    let count = pairs.len();
    let mut exit = None;
    for pair in pairs {
        let pair = pair.map(|run| prepared(run, arguments));
        let record = &pair[1].record;
        let kind = (count > 1).then(|| format!("{}-{}", record.benchmark, record.profile));
        let gap = if exit.is_some() { "\n" } else { "" };
        exit = exit.max(compare(
            session,
            arguments,
            &outputs,
            &pair,
            kind.as_deref(),
            gap,
        )?);
    }
    if arguments.fail_if_worse && is_behind {
        session.printer.warn(
            "`--fail-if-worse` fails because a newer run is not finished and was not compared",
        );
        exit = exit.max(Some(Exit::CheckFailed));
    }
    exit.with_context(|| match &arguments.measures[..] {
        [] => format!("none of the {count} pairs of runs has a measure with values in both"),
        wanted => format!(
            "none of the {count} pairs of runs has a measure {} with values in both",
            wanted.join(", ")
        ),
    })
}

/// Compares one pair of runs, prints the change, writes its files, and returns the exit status. Of several pairs, one that has no value to
/// compare is left out, such as the searches of a service that only answers: the result is `None`. `kind` distinguishes the files of the
/// pairs by name.
fn compare(
    session: &Session<'_>,
    arguments: &CompareArgs,
    outputs: &Outputs,
    pair: &[StoredRun; 2],
    kind: Option<&str>,
    gap: &str,
) -> Result<Option<Exit>> {
    let compared = ComparedRuns::read(pair)?;
    let test = arguments.testing(compared.seed());
    let change = compared.change_by(test, &arguments.measures, &arguments.group_by)?;
    check_clusters(&change.test)?;
    if kind.is_some() && change.measures.is_empty() && !arguments.measures.is_empty() {
        return Ok(None);
    }
    check_measures(&change, &arguments.measures, || compared.change())?;
    let printer = session.printer;
    let has_lost = change.measures.iter().any(|it| it.only_before > 0);
    let mut change = match compared.explained(change) {
        Err(reason) if kind.is_some() => {
            printer.note(&format!("skipped: {reason}"));
            return Ok((arguments.fail_if_worse && has_lost).then(|| {
                printer.failure("no case has a value any more");
                Exit::CheckFailed
            }));
        }
        explained => explained?,
    };
    change.by_people = changes_by_people(pair.each_ref(), &change);
    let mut page = gap.as_bytes().to_vec();
    console(printer).change(&mut page, &change)?;
    let calibrations = CalibrationStore::of(&session.directories);
    for (side, run) in ["before", "after"].into_iter().zip(pair) {
        for line in RunCorrections::lines(printer, &calibrations, run) {
            writeln!(page, "{side}: {}", visible::line(&line))?;
        }
    }
    let cases = cases(printer, &compared, arguments, &mut page)?;
    printer.result(&String::from_utf8_lossy(&page))?;
    for warning in change.by_people.iter().filter_map(ByPeople::warning) {
        printer.warn(&warning);
    }
    let source = PageSource {
        cases,
        ..outputs.source(&compared)?
    };
    let of_kind = |file: &OutFile| kind.map_or_else(|| file.clone(), |kind| file.of(kind));
    outputs.write(printer, of_kind, |file| {
        compared.write_change(printer, file, &change, &source)
    })?;
    let figures = || figures::named(figures::of_change(&change), kind);
    outputs.write_figures(printer, figures)?;
    Ok(Some(verdict(session, arguments, &change)))
}

/// The run with the clusters and the rank measures that the options ask for.
fn prepared(run: StoredRun, arguments: &CompareArgs) -> StoredRun {
    let run = run.clustered(arguments.cluster.as_ref());
    let measures = arguments.rank_measures();
    match run.record.benchmark {
        Benchmark::Retrieval => run.measuring(&measures),
        Benchmark::Qa | Benchmark::Eval => run,
    }
}

/// The cases of the runs, if they are asked for, added to `page`.
fn cases(
    printer: &Printer,
    compared: &ComparedRuns<'_>,
    arguments: &CompareArgs,
    page: &mut Vec<u8>,
) -> Result<Option<CaseTable>> {
    if !arguments.cases {
        return Ok(None);
    }
    let cases = compared.case_table(&arguments.measures);
    let table = render::tables::cases(&cases);
    writeln!(page)?;
    console(printer).table(page, &table, Narrow::Drop(&[]))?;
    Ok(Some(cases))
}

/// Where the results of a comparison go beside the terminal.
struct Outputs {
    files: Vec<OutFile>,
    texts: Texts,
    figures: Option<FigureFolder>,
}

impl Outputs {
    fn of(arguments: &CompareArgs, files: Vec<OutFile>) -> Result<Self> {
        let figures = arguments.figures.as_deref().map(FigureFolder::create);
        Ok(Self {
            texts: OutFile::texts(&files, arguments.without_texts)?,
            figures: figures.transpose()?,
            files,
        })
    }

    /// What a page shows beside the reports, if one is written.
    fn source(&self, compared: &ComparedRuns<'_>) -> Result<PageSource> {
        if !self.files.iter().any(OutFile::is_page) {
            return Ok(PageSource::default());
        }
        let runtime = Runtime::new().context("cannot start worker threads")?;
        Ok(PageSource {
            documents: runtime.block_on(indexed_documents::of_compared(compared)),
            texts: self.texts,
            ..PageSource::default()
        })
    }

    fn write(
        &self,
        printer: &Printer,
        named: impl Fn(&OutFile) -> OutFile,
        write: impl Fn(&OutFile) -> Result<()>,
    ) -> Result<()> {
        for file in self.files.iter().map(named) {
            write(&file)?;
            printer.note_file("wrote", file.path());
        }
        Ok(())
    }

    fn write_figures(
        &self,
        printer: &Printer,
        figures: impl FnOnce() -> Vec<PageFigure>,
    ) -> Result<()> {
        if let Some(folder) = &self.figures {
            printer.note(&folder.write(&figures())?);
        }
        Ok(())
    }
}

/// The exit status for one change.
fn verdict(session: &Session<'_>, arguments: &CompareArgs, change: &Change) -> Exit {
    let mut measures = change.measures.iter();
    let is_worse = measures.any(|it| it.finding.verdict == Verdict::Worse);
    let (before, after) = (&change.before, &change.after);
    let fails_more = [
        ("cases", before.failed, after.failed),
        (
            "evaluations",
            before.evaluator_failures,
            after.evaluator_failures,
        ),
    ];
    let mut fails_more = fails_more
        .into_iter()
        .filter(|(_, before, after)| after > before);
    let more = fails_more.next();
    if let Some((kind, ..)) = more.filter(|_| arguments.fail_if_worse) {
        session
            .printer
            .failure(&format!("more {kind} failed than before"));
    }
    if arguments.fail_if_worse && (is_worse || more.is_some()) {
        Exit::CheckFailed
    } else {
        Exit::Done
    }
}

/// The pairs of runs to compare.
struct Chosen {
    pairs: Vec<[StoredRun; 2]>,
    /// Whether a newer run was skipped because it is unfinished.
    is_behind: bool,
}

/// The runs to compare: the named ones, or each finished run of the last command with its predecessor.
fn choose(session: &Session<'_>, arguments: &CompareArgs) -> Result<Chosen> {
    let runs = session.stored_runs();
    if let Some(before) = arguments.runs.first() {
        let after = arguments.runs.get(1);
        if is_latest(before) && after.is_none() {
            bail!(
                "`compare latest` names only one run; use `evaluations compare RUN latest` to name its baseline, or \
                 `evaluations compare` to compare the runs of the last command with earlier ones"
            );
        }
        let (before, _) = find(&runs, before)?;
        let (after, is_behind) = match after {
            Some(after) => find(&runs, after)?,
            None => newest(&runs, |record| kind(record) == kind(&before.record))?,
        };
        if arguments.runs.len() == 1 && after.name() == before.name() {
            bail!(
                "run `{0}` is itself the newest of its kind; use `evaluations compare RUN {0}` to name its baseline",
                before.name()
            );
        }
        return Ok(Chosen {
            pairs: vec![[before, after]],
            is_behind,
        });
    }
    let mut earlier = runs.list()?;
    let (command, skipped) = runs.pop_last_command(&mut earlier)?;
    runs.note_skipped(&skipped);
    let is_behind = !skipped.is_empty();
    let mut pairs = Vec::new();
    let is_alone = |after: &StoredRun| {
        let same = command
            .iter()
            .filter(|run| kind(&run.record) == kind(&after.record));
        same.count() == 1
    };
    let alone: Vec<bool> = command.iter().map(is_alone).collect();
    for (after, is_alone) in command.into_iter().zip(alone) {
        match predecessor(&runs, &earlier, &after, is_alone) {
            Some(before) => {
                note_differences(session, &before, &after);
                pairs.push([before, after]);
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
    if run.state() == RunState::Running {
        bail!("run `{}` is still running; {}", run.name(), run.remedy());
    }
    if run.has_report() {
        runs.note_incomplete(&run);
    }
    Ok((run, false))
}

/// The newest finished run that is wanted, and whether newer ones are unfinished.
fn newest(
    runs: &StoredRuns<'_>,
    is_wanted: impl Fn(&RunRecord) -> bool,
) -> Result<(StoredRun, bool)> {
    let mut folders = runs.list()?;
    let (run, skipped) = runs.pop_newest(&mut folders, is_wanted, is_finished)?;
    runs.note_skipped(&skipped);
    Ok((run, !skipped.is_empty()))
}

/// Points out differences in questions and profile between runs that the user did not name.
fn note_differences(session: &Session<'_>, before: &StoredRun, after: &StoredRun) {
    let [asked_before, asked_after] = [before, after].map(|run| run.record.dataset.questions);
    if asked_before != asked_after {
        session.printer.warn(&format!(
            "`{}` asked {} and `{}` asked {asked_after}; only questions of both are compared",
            before.name(),
            quantity::of(asked_before, "question"),
            after.name(),
        ));
    }
    let [profile_before, profile_after] = [before, after].map(|run| &run.record.profile);
    if profile_before != profile_after {
        session.printer.note(&format!(
            "comparing profile `{profile_after}` with profile `{profile_before}` of the previous run"
        ));
    }
}

/// Fails if the test has no form for cases in clusters, and the cases come in some.
fn check_clusters(test: &PairTesting) -> Result<()> {
    let Some(key) = test
        .cluster
        .as_ref()
        .filter(|_| !test.paired.method.takes_clusters())
    else {
        return Ok(());
    };
    bail!(
        "the cases come in clusters (`{key}`), and the {} does not support clusters; choose another `--test`, or test single cases with \
         `--cluster none`",
        test.paired.method.name()
    )
}

/// Fails if a wanted measure is missing, and lists the available ones.
fn check_measures(
    change: &Change,
    wanted: &[String],
    all: impl FnOnce() -> Result<Change>,
) -> Result<()> {
    let is_there = |name: &&String| {
        let mut measures = change.measures.iter();
        measures.any(|it| names_measure(name, &it.measure))
    };
    let Some(missing) = wanted.iter().find(|name| !is_there(name)) else {
        return Ok(());
    };
    let all = all()?;
    let titles: Vec<&str> = all.measures.iter().map(MeasureChange::title).collect();
    let names = all.measures.iter().map(|it| it.measure.as_str());
    let nearest = nearest::did_you_mean_measure(missing, titles.iter().copied().chain(names));
    bail!(
        "no measure `{missing}` in both runs; available: {}{nearest}",
        titles.join(", ")
    )
}
