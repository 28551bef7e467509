//! The answers to label, in a random order, with what the labeller has said about them so far.

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::failure::ReplyFailure;
use super::labeller::Labeller;
use super::runs::{Judged, LabelledRuns};
use crate::annotations::{
    Counted, CurrentLabels, LEAST_STRATIFIED, LabelVerdict, Method, RunAnswers, Sample,
};

/// Which answers to label, and who does it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Wanted {
    pub(super) labeller: Labeller,
    pub(super) method: Method,
    pub(super) size: usize,
    pub(super) seed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Queue {
    answers: Vec<Entry>,
}

/// An answer to label. It does not contain the judge's verdict.
#[derive(Debug, Serialize)]
struct Entry {
    case: String,
    repeat: u32,
    verdict: Option<LabelVerdict>,
    note: String,
}

pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<Judged>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Queue>, ReplyFailure> {
    let queue = runs.with(name, judged, move |run| {
        let sample = wanted.sample(&run.answers)?;
        let labels = run.file.read()?;
        let current = CurrentLabels::of(&run.answers, &labels);
        let own = current.people.get(wanted.labeller.name()?);
        let own = own.map_or(&[][..], Vec::as_slice);
        Ok(Queue {
            answers: entries(&run.answers, own, sample),
        })
    });
    Ok(Json(queue.await?))
}

impl Wanted {
    /// Checks the sample that the request names.
    pub(super) fn sample(&self, run: &RunAnswers) -> Result<Sample, PageFailure> {
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

/// The drawn answers, with the labels of one person, which are in the order of the answers.
fn entries(run: &RunAnswers, own: &[Counted<'_>], sample: Sample) -> Vec<Entry> {
    let drawn = sample.draw(&run.answers).into_iter();
    drawn
        .map(|drawn| {
            let answer = &run.answers[drawn.place];
            let label = own.binary_search_by_key(&drawn.place, |it| it.place);
            let label = label.ok().map(|found| own[found].label);
            Entry {
                case: answer.id.to_string(),
                repeat: answer.repeat,
                verdict: label.map(|label| label.verdict),
                note: label.map(|label| label.note.clone()).unwrap_or_default(),
            }
        })
        .collect()
}
