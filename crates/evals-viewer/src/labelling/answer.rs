//! One answer, without what the judge said.

use axum::Json;
use axum::extract::{Path, Query, State};
use evals_runs::annotations::{JudgedAnswer, ShownPassage, digest};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::super::reply::ReplyFailure;
use super::runs::{JudgedMeasureName, LabelledRuns};

#[derive(Debug, Deserialize)]
pub(super) struct WantedAnswer {
    case: String,
    repeat: u32,
}

/// An answer without the judge's verdict and reason, and without the system that gave it.
#[derive(Debug, Serialize)]
pub(super) struct BlindAnswer {
    criterion: String,
    question: String,
    reference: Option<String>,
    answer: String,
    digest: String,
    passages: Vec<ShownPassage>,
}

pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Query(wanted): Query<WantedAnswer>,
) -> Result<Json<BlindAnswer>, ReplyFailure> {
    let answer = runs.with(name, judged, move |run| {
        let answer = run.answers.find(&wanted.case, wanted.repeat);
        let answer = answer.ok_or_else(|| {
            PageFailure::bad_request("The run has no such answer any more. Reload the page.")
        })?;
        Ok(BlindAnswer::of(answer))
    });
    Ok(Json(answer.await?))
}

impl BlindAnswer {
    fn of(answer: &JudgedAnswer) -> Self {
        Self {
            criterion: answer.criterion.clone(),
            question: answer.question.clone(),
            reference: answer.reference.clone(),
            answer: answer.answer.clone(),
            digest: digest(answer),
            passages: answer.passages.clone(),
        }
    }
}
