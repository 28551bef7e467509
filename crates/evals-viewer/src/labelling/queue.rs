//! The answers to label, in a random order, with what the labeller has said about them so far.

use axum::Json;
use axum::extract::{Path, Query, State};
use evals_runs::annotations::{
    LEAST_STRATIFIED, Labelling, Method, Queued, RunAnswers, Sample, StoredLabel, checked_labeller,
};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::super::reply::ReplyFailure;
use super::runs::{JudgedMeasureName, LabelledRun, LabelledRuns};

/// The name of a labeller, not checked yet.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Labeller(String);

impl Labeller {
    /// The name without white space around it. An empty name and one that is too long are errors.
    pub(super) fn name(&self) -> Result<&str, PageFailure> {
        checked_labeller(&self.0).map_err(|error| PageFailure::bad_request(error.to_string()))
    }
}

/// Which answers to label, and who does it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct WantedQueue {
    labeller: Labeller,
    method: Method,
    size: usize,
    seed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Queue {
    answers: Vec<QueuedAnswer>,
}

/// An answer to label. It does not contain the judge's verdict.
#[derive(Debug, Serialize)]
struct QueuedAnswer {
    case: String,
    repeat: u32,
    /// The labeller's own label.
    label: Option<StoredLabel>,
}

pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Query(wanted): Query<WantedQueue>,
) -> Result<Json<Queue>, ReplyFailure> {
    let queue = runs.with(name, judged, move |run| {
        let answers = wanted.labelling(run)?.queue()?.into_iter();
        let answers = answers.map(|queued| QueuedAnswer::of(&run.answers, queued));
        Ok(Queue {
            answers: answers.collect(),
        })
    });
    Ok(Json(queue.await?))
}

impl WantedQueue {
    /// Checks the name and the sample of the request.
    pub(super) fn labelling<'r>(
        &'r self,
        run: &'r LabelledRun,
    ) -> Result<Labelling<'r>, PageFailure> {
        Ok(Labelling {
            sample: self.sample(&run.answers)?,
            labeller: self.labeller.name()?,
            run: &run.answers,
            file: &run.file,
        })
    }

    fn sample(&self, run: &RunAnswers) -> Result<Sample, PageFailure> {
        if self.method == Method::Chosen {
            return Err(PageFailure::bad_request("A queue is drawn, not chosen."));
        }
        if self.method == Method::Stratified && run.measure.is_none() {
            return Err(PageFailure::bad_request(
                "The run has no judge, so answers cannot be drawn by its verdict.",
            ));
        }
        if self.method == Method::Stratified && self.size < LEAST_STRATIFIED {
            return Err(PageFailure::bad_request(format!(
                "A sample of passed and failed answers needs at least {LEAST_STRATIFIED}, one of each. Choose more, or choose them at random.",
            )));
        }
        Ok(Sample {
            method: self.method,
            size: Some(self.size),
            seed: self.seed,
        })
    }
}

impl QueuedAnswer {
    fn of(run: &RunAnswers, queued: Queued) -> Self {
        let answer = &run.answers[queued.place];
        Self {
            case: answer.id.to_string(),
            repeat: answer.repeat,
            label: queued.label,
        }
    }
}
