//! The answers to label, in a random order, with what the labeller has said about them so far.

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::agreement::ShownAgreement;
use super::failure::ReplyFailure;
use super::runs::{Judged, LabelledRuns};
use crate::annotations::{LabelVerdict, Method, RunAnswers, Sample, Standing};

/// Which answers to label, and who does it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Wanted {
    pub(super) labeller: String,
    pub(super) method: Method,
    pub(super) size: usize,
    pub(super) seed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Queue {
    answers: Vec<Entry>,
    agreement: Option<ShownAgreement>,
}

/// An answer to label. It tells nothing of the judge.
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
        let standing = Standing::of(&run.answers, &labels);
        Ok(Queue {
            answers: entries(&run.answers, &standing, &wanted, sample),
            agreement: ShownAgreement::of(&run.answers, &standing, wanted.name()),
        })
    });
    Ok(Json(queue.await?))
}

impl Wanted {
    /// The labeller's name without white space around it.
    pub(super) fn name(&self) -> &str {
        self.labeller.trim()
    }

    /// Checks the request and gives the sample that it names.
    pub(super) fn sample(&self, run: &RunAnswers) -> Result<Sample, PageFailure> {
        if self.name().is_empty() {
            return Err(PageFailure::bad_request(
                "Say who labels: fill in your name.",
            ));
        }
        if self.name().chars().count() > 100 {
            return Err(PageFailure::bad_request(
                "The name is longer than 100 characters.",
            ));
        }
        if self.method == Method::Chosen {
            return Err(PageFailure::bad_request("A queue is drawn, not chosen."));
        }
        if self.method == Method::Stratified && run.measure.is_none() {
            return Err(PageFailure::bad_request(
                "The run has no judge, so answers cannot be drawn by its verdict.",
            ));
        }
        Ok(Sample {
            method: self.method,
            size: Some(self.size),
            seed: self.seed,
        })
    }
}

fn entries(
    run: &RunAnswers,
    standing: &Standing<'_>,
    wanted: &Wanted,
    sample: Sample,
) -> Vec<Entry> {
    let own = standing
        .people
        .get(wanted.name())
        .map_or(&[][..], Vec::as_slice);
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
