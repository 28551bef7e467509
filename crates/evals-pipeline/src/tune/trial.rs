//! One trial: an ordinary run of some settings on some of the questions.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use evals::{Direction, Domain, Report};
use evals_metrics::as_f64;
use evals_pages::figures::service_time;
use evals_runs::run_folder::RunFolder;
use evals_runs::run_record::SelectionRecord;
use evals_runs::stored_runs::{StoredReport, StoredRun, is_finished};
use evals_settings::Tune;
use evals_tune::{Answered, Candidate};
use serde_json::Value;

use super::objective::Objective;
use super::plan::Plan;
use crate::exit::Exit;
use crate::interruption::Interrupted;
use crate::options::VariantArgs;
use crate::run;
use crate::session::Session;

/// What one run measured.
#[derive(Debug)]
pub(super) struct Measured {
    /// The name of the run's folder.
    pub(super) run: String,
    /// What each question's answer is worth, by the question's id.
    pub(super) answers: BTreeMap<String, Answered>,
    /// Why it did not ask a question that it has no answer to, such as the end of its budget.
    pub(super) unasked: String,
    /// What the run cost with its judges, in USD, as far as prices are known.
    pub(super) spent: f64,
    /// Whether nothing of it would run again. A run that a budget stopped, or whose questions all failed, is tried again.
    pub(super) is_finished: bool,
}

/// Runs the benchmark of the objective with the settings of a candidate on the questions of these ids, which are in the order of the
/// dataset. Its calls may cost `budget` USD.
///
/// # Errors
///
/// The settings are unusable, or the run has no report. An interruption is [`Interrupted`].
pub(super) fn run(
    session: &Session<'_>,
    plan: &Plan,
    candidate: &Candidate,
    ids: &[String],
    budget: Option<f64>,
) -> Result<StoredRun> {
    let name = plan.label(candidate);
    let mut own = plan.arguments.clone();
    own.settings.assignments.extend(plan.assignments(candidate));
    own.control.name = Some(name.clone());
    own.control.budget = budget;
    own.control.limit = None;
    own.selection.filters.clear();
    own.selection.cases = ids.to_vec();
    own.results.out.clear();
    own.variants = VariantArgs::default();
    let printer = session.printer.silent();
    let quiet = Session {
        printer: &printer,
        directories: session.directories.clone(),
    };
    let mut resolved = run::resolve(&quiet, &own, &plan.manifest)?;
    resolved.settings.matrix.clear();
    resolved.settings.tune = Tune::default();
    if run::one(&quiet, &own, plan.manifest.clone(), resolved)? == Exit::Interrupted {
        return Err(Interrupted.into());
    }
    made(session, &name, ids)?.with_context(|| format!("the run of `{name}` has no report"))
}

/// The newest run with this name on these questions, if it has a report.
fn made(session: &Session<'_>, name: &str, ids: &[String]) -> Result<Option<StoredRun>> {
    let digest = SelectionRecord::digest(ids);
    let mut folders = RunFolder::list(&session.directories.runs())?;
    folders.reverse();
    for folder in folders {
        let Ok(record) = folder.read_record() else {
            continue;
        };
        let selection = record.dataset.selection.as_ref();
        if record.name == name && selection.is_some_and(|it| it.ids == digest) {
            let run = StoredRun::of_folder(folder)?;
            return Ok(run.has_report().then_some(run));
        }
    }
    Ok(None)
}

impl Measured {
    /// What a run measured.
    ///
    /// # Errors
    ///
    /// The report cannot be read, or lacks the objective.
    pub(super) fn of(run: &StoredRun, objective: &Objective) -> Result<Self> {
        let report = run.report()?;
        let costs = report.metadata().get("costs");
        let cost = |path: &str| {
            costs
                .and_then(|it| it.pointer(path))
                .and_then(Value::as_f64)
        };
        let total = cost("/total").or_else(|| cost("/cost"));
        let answering = total.map(|it| it - cost("/judging/cost").unwrap_or(0.0));
        let (answers, failure) = match &report {
            StoredReport::Retrieval(it) => (read(it, objective, answering), failure(it)),
            StoredReport::Qa(it) => (read(it, objective, answering), failure(it)),
            StoredReport::Eval(_) => bail!("run `{}` is of a dataset file", run.name()),
        };
        Ok(Self {
            run: run.name(),
            answers: answers?,
            unasked: failure.unwrap_or_else(|| "the question was not asked".to_owned()),
            spent: total.unwrap_or(0.0),
            is_finished: is_finished(run.state()),
        })
    }
}

/// The first failure of a report's cases, or else why the run stopped.
fn failure<D: Domain>(report: &Report<D>) -> Option<String> {
    let mut failures = report.cases.iter().filter_map(|it| it.result.failure());
    let failure = failures.next().map(|it| &it.message);
    failure.or(report.stopped.as_ref()).cloned()
}

/// The answers of a report. Reports have the cost of all answers, of which each question has an equal part.
fn read<D: Domain>(
    report: &Report<D>,
    objective: &Objective,
    cost: Option<f64>,
) -> Result<BTreeMap<String, Answered>> {
    let measures = report.measure_values();
    let found = measures.iter().find(|it| objective.is(&it.title));
    let Some(found) = found else {
        // No question has an answer that could be measured.
        if let Some(reason) = failure(report) {
            bail!("{reason}");
        }
        let titles: BTreeSet<&str> = measures.iter().map(|it| it.title.as_str()).collect();
        let titles: Vec<&str> = titles.into_iter().collect();
        bail!(
            "the objective `{objective}` is not measured here; measured are {}",
            titles.join(", ")
        );
    };
    if found.better != Direction::Higher {
        bail!("`{objective}` is no measure of which more is better, so it cannot be the objective");
    }
    let share = cost.map(|it| it / as_f64(report.cases.len()));
    let answers = report.cases.iter().map(|case| {
        let value = match found.of_cases.get(&case.id) {
            Some(Ok(value)) => Ok(*value),
            Some(Err(reason)) => Err((*reason).to_owned()),
            None => Err("it does not apply to the question".to_owned()),
        };
        let answered = Answered {
            value,
            latency: service_time(case),
            cost: share,
        };
        (case.id.to_string(), answered)
    });
    Ok(answers.collect())
}
