//! A run as a calibration sees it: its judge, its data and the counts of its verdicts.

use evals_metrics::VerdictCounts;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::judge::{DataIdentity, JudgeIdentity};
use crate::annotations::{RunAnswers, verdict_counts};
use crate::run_record::RunRecord;

/// A run with a judge.
#[derive(Debug, Clone)]
pub struct JudgedRun {
    /// The name of the run.
    pub name: String,
    /// SHA-256 of the answers and their verdicts.
    pub digest: String,
    /// Its judge.
    pub judge: JudgeIdentity,
    /// Its data.
    pub data: DataIdentity,
    /// How many answers the judge passed and failed.
    pub verdicts: VerdictCounts,
    /// How often each question was asked.
    pub repeat: u64,
    /// Questions without a verdict: the answer or the judge failed.
    pub without_verdict: usize,
}

impl JudgedRun {
    /// The run with these answers and this record; `None` if it has no judge.
    pub fn of(run: &RunAnswers, record: &RunRecord) -> Option<Self> {
        let measure = run.measure.clone()?;
        let verdicts = verdict_counts(run);
        Some(Self {
            name: run.run.clone(),
            digest: answers_digest(run),
            judge: JudgeIdentity {
                measure,
                name: run.judge.clone(),
                by: run.judged_by.clone(),
            },
            data: DataIdentity {
                name: record.dataset.name.clone(),
                digest: digest(&record.dataset.provenance),
            },
            repeat: record.repeat.into(),
            without_verdict: run.failed + run.answers.len() - verdicts.passes - verdicts.fails,
            verdicts,
        })
    }
}

fn answers_digest(run: &RunAnswers) -> String {
    let mut hash = Sha256::new();
    for answer in &run.answers {
        hash.update(answer.id.as_str());
        hash.update(answer.repeat.to_le_bytes());
        hash.update(&answer.digests.case);
        hash.update(&answer.digests.answer);
        hash.update(match answer.verdict {
            Some(true) => [1],
            Some(false) => [0],
            None => [2],
        });
    }
    hex::encode(hash.finalize())
}

/// SHA-256 of a value as JSON with sorted keys, in hexadecimal.
pub(super) fn digest(value: &Json) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    hex::encode(Sha256::digest(value.to_string()))
}
