//! Stores a label, and afterwards replies what the judge said, if the labeller asked for it.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use evals_runs::annotations::{
    JudgedAnswer, LabelVerdict, LabelVersion, NewLabel, StoredLabel, Storing, checked_note, digest,
};
use evals_runs::clock::{now, timestamp};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::super::reply::ReplyFailure;
use super::queue;
use super::runs::{JudgedMeasureName, LabelledRun, LabelledRuns};

/// A label, with the sample that its answer belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct SentLabel {
    #[serde(flatten)]
    wanted: queue::WantedQueue,
    case: String,
    repeat: u32,
    /// Identifies the answer that the labeller saw.
    digest: String,
    verdict: LabelVerdict,
    #[serde(default)]
    note: String,
    /// The version of the label that the page showed with the answer; `None` if it showed none.
    #[serde(default)]
    seen: Option<LabelVersion>,
    /// Whether to reply what the judge said.
    #[serde(default)]
    reveal: bool,
}

/// What became of a label.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Reply {
    Stored {
        label: StoredLabel,
        judged: Option<JudgeSaid>,
    },
    /// It would replace a label that the page has not shown.
    Unseen {
        message: String,
        /// The label that remains.
        label: StoredLabel,
    },
}

/// What the judge said about an answer.
#[derive(Debug, Serialize)]
pub(super) struct JudgeSaid {
    verdict: String,
    reason: String,
}

pub(super) async fn add(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Json(sent): Json<SentLabel>,
) -> Result<Reply, ReplyFailure> {
    let reply = runs.with(name, judged, move |run| sent.store(run));
    Ok(reply.await?)
}

impl SentLabel {
    fn store(&self, run: &LabelledRun) -> Result<Reply, PageFailure> {
        let labelling = self.wanted.labelling(run)?;
        let note = checked_note(&self.note)
            .map_err(|error| PageFailure::bad_request(error.to_string()))?;
        let place = run.answers.place(&self.case, self.repeat);
        let place = place.filter(|place| digest(&run.answers.answers[*place]) == self.digest);
        let place = place.ok_or_else(|| {
            PageFailure::bad_request(
                "The answer has changed since it was shown, so the label was not stored. Reload the page.",
            )
        })?;
        let storing = labelling.store(&NewLabel {
            place,
            verdict: self.verdict,
            note,
            seen: self.seen.as_ref(),
            reveals: self.reveal,
            time: &timestamp(now()),
        })?;
        Ok(match storing {
            Storing::Stored(label) => Reply::Stored {
                judged: self
                    .reveal
                    .then(|| JudgeSaid::of(&run.answers.answers[place])),
                label,
            },
            Storing::Unseen(label) => Reply::Unseen {
                message: unseen(labelling.labeller, &label),
                label,
            },
        })
    }
}

/// Why a label was not stored: another page or another program has stored one under the same name.
fn unseen(labeller: &str, label: &StoredLabel) -> String {
    let verdict = label.verdict;
    format!(
        "Your label is not stored, because a label of {labeller} for this answer was stored after you opened it: “{verdict}”. Choose which of the two to keep."
    )
}

impl JudgeSaid {
    fn of(answer: &JudgedAnswer) -> Self {
        let verdict = match answer.verdict {
            Some(true) => "The judge passed the answer.",
            Some(false) => "The judge failed the answer.",
            None => "The judge has no verdict about the answer.",
        };
        Self {
            verdict: verdict.to_owned(),
            reason: answer.reason.clone().unwrap_or_default(),
        }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Stored { .. } => StatusCode::OK,
            Self::Unseen { .. } => StatusCode::CONFLICT,
        };
        (status, Json(self)).into_response()
    }
}
