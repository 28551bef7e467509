//! Stores a label, and afterwards replies what the judge said, if the labeller asked for it.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use evals_runs::annotations::{
    JudgedAnswer, LabelVerdict, LabelVersion, NewLabel, StoredLabel, Storing, checked_note, digest,
};
use evals_runs::clock::{now, timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

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

pub(super) async fn add(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Json(sent): Json<SentLabel>,
) -> Result<(StatusCode, Json<Value>), ReplyFailure> {
    let (status, reply) = runs.with(name, judged, move |run| sent.store(run)).await?;
    Ok((status, Json(reply)))
}

impl SentLabel {
    /// Stores the label, unless it would replace one that the page has not shown.
    fn store(&self, run: &LabelledRun) -> Result<(StatusCode, Value), PageFailure> {
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
            Storing::Stored(label) => {
                let answer = &run.answers.answers[place];
                let judged = self.reveal.then(|| judged(answer));
                (StatusCode::OK, json!({"label": label, "judged": judged}))
            }
            Storing::Unseen(label) => {
                let message = unseen(labelling.labeller, &label);
                let reply = json!({"message": message, "label": label});
                (StatusCode::CONFLICT, reply)
            }
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

/// What the judge said about an answer.
fn judged(answer: &JudgedAnswer) -> Value {
    let verdict = match answer.verdict {
        Some(true) => "The judge passed the answer.",
        Some(false) => "The judge failed the answer.",
        None => "The judge has no verdict about the answer.",
    };
    json!({"verdict": verdict, "reason": answer.reason.as_deref().unwrap_or_default()})
}
