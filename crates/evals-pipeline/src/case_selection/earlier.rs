//! The cases that failed or got worse in an earlier run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;

use anyhow::{Context as _, Result, bail};
use evals::{CaseId, Domain, Report};
use evals_runs::stored_runs::{StoredReport, StoredRun, StoredRuns, predecessor};

use crate::options::Only;
use crate::session::Session;

/// The cases that failed or got worse in an earlier run.
#[derive(Debug)]
pub(crate) struct EarlierCases {
    pub(super) ids: BTreeSet<String>,
    only: Only,
    run: String,
    /// The run that the cases are worse than.
    against: Option<String>,
}

impl fmt::Display for EarlierCases {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.only, &self.against) {
            (Only::Worse, Some(against)) => {
                write!(formatter, "worse in {} than in {against}", self.run)
            }
            (Only::Failed | Only::Worse, _) => write!(formatter, "failed in {}", self.run),
        }
    }
}

impl EarlierCases {
    pub(super) fn read(
        session: &Session<'_>,
        only: Only,
        from: &OsStr,
        against: Option<&OsStr>,
        dataset: &str,
    ) -> Result<Self> {
        let runs = session.stored_runs();
        let run = runs.find(from)?;
        check_dataset(&run, dataset)?;
        runs.note_incomplete(&run);
        let (ids, against) = match only {
            Only::Failed => {
                if against.is_some() {
                    bail!("`--against` belongs to `--only worse`, not to `--only failed`");
                }
                (failed(&run.report()?), None)
            }
            Only::Worse => {
                let before = match against {
                    Some(against) => runs.find(against)?,
                    None => before(&runs, &run)?,
                };
                check_dataset(&before, dataset)?;
                let ids = worse(&before, &run)?;
                session.printer.note(&format!(
                    "`{}` is compared with `{}`",
                    run.name(),
                    before.name()
                ));
                (ids, Some(before.name()))
            }
        };
        let earlier = Self {
            ids,
            only,
            run: run.name(),
            against,
        };
        if earlier.ids.is_empty() {
            let what = match only {
                Only::Failed => "failed",
                Only::Worse => "got worse",
            };
            bail!(
                "there is nothing to run: no case {what} in `{}`",
                run.name()
            );
        }
        Ok(earlier)
    }
}

fn check_dataset(run: &StoredRun, dataset: &str) -> Result<()> {
    let other = &run.record.dataset.name;
    if other != dataset {
        bail!("`{}` is a run of `{other}`, not of `{dataset}`", run.name());
    }
    Ok(())
}

/// The newest finished run before `run` with its dataset and benchmark, preferably with its profile.
fn before(runs: &StoredRuns<'_>, run: &StoredRun) -> Result<StoredRun> {
    let mut earlier = runs.list()?;
    let place = earlier
        .iter()
        .position(|folder| folder.name() == run.name());
    let place = place.with_context(|| {
        format!(
            "`{}` is not in the data folder, so name the run before it with `--against RUN`",
            run.name()
        )
    })?;
    earlier.truncate(place);
    predecessor(runs, &earlier, run, true).with_context(|| {
        format!(
            "no finished run before `{}` has its dataset and benchmark; name one with `--against RUN`",
            run.name()
        )
    })
}

fn failed(report: &StoredReport) -> BTreeSet<String> {
    fn of<D: Domain>(report: &Report<D>) -> BTreeSet<String> {
        texts(report.failed_cases())
    }
    match report {
        StoredReport::Retrieval(report) => of(report),
        StoredReport::Qa(report) => of(report),
        StoredReport::Eval(report) => of(report),
    }
}

fn worse(before: &StoredRun, after: &StoredRun) -> Result<BTreeSet<String>> {
    fn of<D: Domain>(before: &Report<D>, after: &Report<D>) -> Option<BTreeSet<String>> {
        after.worse_than(before).map(texts)
    }
    let worse = match (before.report()?, after.report()?) {
        (StoredReport::Retrieval(before), StoredReport::Retrieval(after)) => of(&before, &after),
        (StoredReport::Qa(before), StoredReport::Qa(after)) => of(&before, &after),
        (StoredReport::Eval(before), StoredReport::Eval(after)) => of(&before, &after),
        _ => bail!(
            "cannot compare `{}` with `{}`: they are runs of different benchmarks",
            after.name(),
            before.name()
        ),
    };
    worse.with_context(|| {
        format!(
            "cannot compare `{}` with `{}`: they have no measure in common",
            after.name(),
            before.name()
        )
    })
}

fn texts(ids: BTreeSet<&CaseId>) -> BTreeSet<String> {
    ids.into_iter().map(ToString::to_string).collect()
}
