//! Stores a label, and afterwards replies what the judge said, if the labeller asked for it.

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::failure::ReplyFailure;
use super::queue;
use super::runs::{Judged, LabelledRun, LabelledRuns};
use crate::annotations::{JudgedAnswer, Label, LabelVerdict, RunAnswers, Sample, Sampling, digest};
use crate::clock::{now, timestamp};

/// The longest note, in characters.
const LONGEST_NOTE: usize = 10_000;

/// A label, with the sample that its answer belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct NewLabel {
    #[serde(flatten)]
    wanted: queue::Wanted,
    case: String,
    repeat: u32,
    /// Identifies the answer that the labeller saw.
    digest: String,
    verdict: LabelVerdict,
    #[serde(default)]
    note: String,
    /// Whether to reply what the judge said.
    #[serde(default)]
    reveal: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Stored {
    judged: Option<JudgeSaid>,
}

/// What the judge said about an answer.
#[derive(Debug, Serialize)]
struct JudgeSaid {
    verdict: String,
    reason: String,
}

pub(super) async fn add(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<Judged>,
    Json(new): Json<NewLabel>,
) -> Result<Json<Stored>, ReplyFailure> {
    let stored = runs.with(name, judged, move |run| new.store(run));
    Ok(Json(stored.await?))
}

impl NewLabel {
    fn store(&self, run: &LabelledRun) -> Result<Stored, PageFailure> {
        let sample = self.wanted.sample(&run.answers)?;
        if self.note.chars().count() > LONGEST_NOTE {
            let sentence = format!("The note is longer than {LONGEST_NOTE} characters.");
            return Err(PageFailure::bad_request(sentence));
        }
        let answer = run.answers.find(&self.case, self.repeat);
        let answer = answer.filter(|answer| digest(answer) == self.digest);
        let answer = answer.ok_or_else(|| {
            PageFailure::bad_request(
                "The answer has changed since it was shown, so the label was not stored. Reload the page.",
            )
        })?;
        let judged = self.reveal.then(|| JudgeSaid::of(answer));
        let label = Label {
            case: answer.id.clone(),
            repeat: answer.repeat,
            measure: run.answers.measure.clone(),
            verdict: self.verdict,
            note: self.note.trim().to_owned(),
            labeller: self.wanted.labeller.name()?.to_owned(),
            time: timestamp(now()),
            blind: true,
            revealed: judged.is_some(),
            sampling: sampling(&run.answers, answer, sample),
            digests: answer.digests.clone(),
        };
        run.file.add(|known| Ok(vec![label.after(known)]))?;
        Ok(Stored { judged })
    }
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

/// How the answer was chosen. The server draws the sample again, because the page must not know an answer's probability.
fn sampling(run: &RunAnswers, answer: &JudgedAnswer, sample: Sample) -> Sampling {
    let is_it = |place: usize| std::ptr::eq(&raw const run.answers[place], answer);
    let mut drawn = sample.draw(&run.answers).into_iter();
    let drawn = drawn.find(|drawn| is_it(drawn.place));
    drawn.map_or_else(Sampling::chosen, |drawn| sample.sampling(drawn))
}
