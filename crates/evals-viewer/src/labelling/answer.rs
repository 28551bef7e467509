//! One answer, without what the judge said.

use axum::Json;
use axum::extract::{Path, Query, State};
use evals_runs::annotations::digest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::PageFailure;
use super::super::reply::ReplyFailure;
use super::runs::{JudgedMeasureName, LabelledRuns};

#[derive(Debug, Deserialize)]
pub(super) struct WantedAnswer {
    case: String,
    repeat: u32,
}

/// Shows an answer without the judge's verdict and reason, and without the system that gave it.
pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Query(wanted): Query<WantedAnswer>,
) -> Result<Json<Value>, ReplyFailure> {
    let answer = runs.with(name, judged, move |run| {
        let answer = run.answers.find(&wanted.case, wanted.repeat);
        let answer = answer.ok_or_else(|| {
            PageFailure::bad_request("The run has no such answer any more. Reload the page.")
        })?;
        Ok(json!({
            "criterion": answer.criterion,
            "said": answer.said,
            "question": answer.question,
            "reference": answer.reference,
            "answer": answer.answer,
            "digest": digest(answer),
            "passages": answer.passages,
        }))
    });
    Ok(Json(answer.await?))
}
