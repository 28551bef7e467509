//! Judging stored answers again.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use chrono::Utc;
use evals::{
    Case, CaseId, CaseReport, Context, Dataset, Evaluator, EvaluatorError, Experiment, Outcome,
    Report, StopSignal, TaskError, TaskScope, Value,
};
use evals_data::Catalog;
use evals_metrics::Bootstrap;
use evals_rag::qa::{Answer, Equivalence, Qa};
use futures::future::BoxFuture;

use super::super::interrupt::cancelled_by_interrupt;
use super::super::{OutFile, console};
use super::folder::{self, TakeUp};
use super::models::{Cast, Opener};
use super::plan::{JudgingPlan, Replies};
use super::{costs, evaluators, record};
use crate::choices;
use crate::cli::RejudgeArgs;
use crate::command::Session;
use crate::exit::Exit;
use crate::run_folder::timestamp;
use crate::servers::Servers;
use crate::settings::{self, Layer};
use crate::spending::Spending;

/// Judges the answers of `report`, which the run `name` gave, as the settings say now.
pub(in crate::command) async fn rejudge(
    session: &Session<'_>,
    arguments: &RejudgeArgs,
    files: &[OutFile],
    name: &str,
    mut manifest: serde_json::Value,
    report: Report<Qa>,
) -> Result<Exit> {
    let cancellation = cancelled_by_interrupt();
    let mut layers = session.user_layers(&arguments.settings)?;
    layers.extend(
        arguments.judge.as_ref().map(|judge| {
            Layer::model("--judge", "evaluations.judge", &judge.provider, &judge.name)
        }),
    );
    let resolved = settings::resolve(layers)?;
    let dataset = manifest["dataset"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let described = Catalog::new(session.directories.manifests()).find(&dataset);
    let sentences = described.map_or_else(|_| Vec::new(), |dataset| dataset.unanswerable);
    let plan = JudgingPlan::new(
        session,
        &resolved,
        sentences,
        Replies::new(session, arguments.no_cache, None),
    )?;
    let stop = StopSignal::new();
    let spending = Spending::new(None, stop.clone());
    let mut servers = Servers::new(&resolved, session.printer, 0);
    let mut opener = Opener::new(&resolved, &mut servers, &plan.replies, &spending);
    let judging = opener.judging(&plan).await?;
    let mut cast = Cast::of(None, &judging);
    if let Ok(answerer) = serde_json::from_value(manifest["models"]["answerer"].clone()) {
        cast.models.insert("answerer", answerer);
    }
    let former = manifest["models"]["judge"].clone();
    let former = format!(
        "{}:{}",
        former["provider"].as_str().unwrap_or("unknown"),
        former["name"].as_str().unwrap_or("judge")
    );

    let started = Utc::now();
    manifest["started"] = timestamp(started).into();
    manifest["command_line"] = std::env::args().collect();
    manifest["rejudged"] = name.into();
    manifest["models"]["judge"] = serde_json::to_value(judging.judge.identity())?;
    manifest["settings"]["evaluations"] = serde_json::to_value(&resolved.settings.evaluations)?;
    manifest["settings_from"] = resolved.origins().into();
    for (role, parameters) in &cast.parameters {
        manifest["parameters"][*role] = parameters.clone().into();
    }
    for (file, digest) in &cast.prompts {
        manifest["prompts"][file] = digest.clone().into();
    }
    let opened = folder::open(session, &manifest, started, TakeUp::Unfinished).await?;

    let repeat =
        std::num::NonZeroU32::new(report.repeat).context("the report has no repetitions")?;
    let stored = Arc::new(Stored::new(report.cases));
    let dataset = evaluators::enrol(stored.dataset(&dataset)?, &judging)
        .evaluator(FormerVerdict::new(&former, &stored));
    let concurrency = arguments
        .concurrency
        .unwrap_or(resolved.settings.evaluations.concurrency);
    let mut report = Experiment::new(dataset, stored.task())
        .name(report.name)
        .metadata("rejudged", name)
        .metadata("models", serde_json::to_value(&cast.models)?)
        .metadata("self_preference", cast.self_preference())
        .concurrency(concurrency)
        .repeat(repeat)
        .cancellation(cancellation.clone())
        .stop(stop)
        .elapsed_before(opened.journal.elapsed())
        .resume(opened.finished)
        .journal(Arc::clone(&opened.journal) as Arc<dyn evals::Journal<Qa>>)
        .run()
        .await;
    let costs = costs::of(&report, &cast, &choices::prices(&resolved));
    report
        .metadata
        .insert("costs".to_owned(), serde_json::to_value(&costs)?);
    let seed = manifest["seed"].as_u64().unwrap_or_default();
    let summary = report.summary(&Bootstrap {
        seed,
        ..Bootstrap::default()
    });
    record(&opened.folder, &report, &summary)?;
    session
        .printer
        .result(&console::report(session.printer, &report, &summary)?)?;
    session.printer.result(&costs.text(spending.calls()))?;
    for file in files {
        file.report(&report, &summary)?;
        session.printer.note(&format!("wrote {file}"));
    }
    Ok(if cancellation.is_cancelled() {
        Exit::Interrupted
    } else if report.stopped.is_some() {
        Exit::CouldNot
    } else {
        Exit::Done
    })
}

/// The cases of a report by their id and repetition.
#[derive(Debug)]
struct Stored {
    cases: Vec<CaseReport<Qa>>,
    places: BTreeMap<(CaseId, u32), usize>,
}

impl Stored {
    fn new(cases: Vec<CaseReport<Qa>>) -> Self {
        let places = cases.iter().zip(0..);
        let places = places.map(|(case, place)| ((case.id.clone(), case.repeat), place));
        Self {
            places: places.collect(),
            cases,
        }
    }

    fn find(&self, id: &CaseId, repeat: u32) -> Option<&CaseReport<Qa>> {
        let place = self.places.get(&(id.clone(), repeat))?;
        self.cases.get(*place)
    }

    /// One case for each question that has an answer in any repetition.
    fn dataset(&self, name: &str) -> Result<Dataset<Qa>> {
        let mut seen = std::collections::BTreeSet::new();
        let firsts = self.cases.iter().filter(|case| seen.insert(&case.id));
        let cases = firsts.map(|case| Case {
            id: case.id.clone(),
            input: case.input.clone(),
            expected: case.expected.clone(),
            metadata: (),
            evaluators: Vec::new(),
        });
        Ok(Dataset::new(name, cases.collect::<Vec<_>>())?)
    }

    /// The task that gives the stored answer, with what its making took marked as not of this run.
    fn task(
        self: &Arc<Self>,
    ) -> impl Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>> + use<>
    {
        let stored = Arc::clone(self);
        move |case, scope| {
            let answer = stored.answer(&case.id, &scope);
            Box::pin(std::future::ready(answer))
        }
    }

    fn answer(&self, id: &CaseId, scope: &TaskScope) -> Result<Answer, TaskError> {
        let case = self
            .find(id, scope.repeat())
            .ok_or_else(|| TaskError::new("the stored run was ended before this case"))?;
        for timing in &case.timings {
            if !timing.stage.starts_with("judge") {
                scope.cached_timing(timing.stage.clone(), timing.duration);
            }
        }
        for (name, value) in &case.metrics {
            if !name.starts_with("judge") {
                scope.metric(name.clone(), *value);
            }
        }
        match &case.result {
            evals::TaskResult::Output(answer) => Ok(answer.clone()),
            evals::TaskResult::Failure(failure) => Err(TaskError::new(failure.message.clone())),
        }
    }
}

/// Keeps what the former judge said beside the new verdict.
#[derive(Debug)]
struct FormerVerdict {
    name: String,
    stored: Arc<Stored>,
}

impl FormerVerdict {
    fn new(judge: &str, stored: &Arc<Stored>) -> Self {
        Self {
            name: format!("{} ({judge})", Equivalence::OUTCOME),
            stored: Arc::clone(stored),
        }
    }
}

#[async_trait]
impl Evaluator<Qa> for FormerVerdict {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let case = self.stored.find(&context.case.id, context.repeat);
        let verdict = case.and_then(|case| case.outcome(Equivalence::OUTCOME));
        let Some(verdict) = verdict else {
            return Ok(vec![Outcome::undefined(
                &self.name,
                "the former judge failed",
            )]);
        };
        let outcome = match &verdict.value {
            Value::Assertion(passed) => Outcome::assertion(&self.name, *passed),
            Value::Undefined | Value::Score(_) | Value::Label(_) => {
                Outcome::undefined(&self.name, "no former verdict")
            }
        };
        Ok(vec![match &verdict.reason {
            Some(reason) => outcome.because(reason),
            None => outcome,
        }])
    }
}
