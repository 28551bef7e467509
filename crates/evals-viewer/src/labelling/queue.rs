//! The answers to label, in a random order, with what the labeller has said about them so far.

use axum::Json;
use axum::extract::{Path, Query, State};
use evals_runs::annotations::{LEAST_STRATIFIED, Labelling, Method, RunAnswers, Sample};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::{PageFailure, person};
use super::super::reply::ReplyFailure;
use super::runs::{JudgedMeasureName, LabelledRun, LabelledRuns};

/// Which answers to label, and who does it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct WantedQueue {
    labeller: String,
    method: Method,
    size: usize,
    seed: u64,
}

/// Lists the answers to label, each with the labeller's own label and without the judge's verdict.
pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Query(wanted): Query<WantedQueue>,
) -> Result<Json<Value>, ReplyFailure> {
    let queue = runs.with(name, judged, move |run| {
        let answers = wanted.labelling(run)?.queue()?.into_iter();
        let answers = answers.map(|queued| {
            let answer = &run.answers.answers[queued.place];
            json!({"case": answer.id, "repeat": answer.repeat, "label": queued.label})
        });
        Ok(json!({"answers": answers.collect::<Vec<_>>()}))
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
            labeller: person(&self.labeller)?,
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
