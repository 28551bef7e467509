//! The columns of a CSV file with answers to label.

use sha2::{Digest as _, Sha256};

use super::answers::RunAnswers;
use super::sample::{Method, Sample};
use super::texts::JudgedAnswer;

pub(super) const CASE: &str = "case_id";
pub(super) const REPEAT: &str = "repeat";
pub(super) const VERDICT: &str = "verdict";
pub(super) const NOTE: &str = "note";
pub(super) const LABELLER: &str = "labeller";
pub(super) const SAMPLE: &str = "sample";
pub(super) const DIGEST: &str = "digest";
pub(super) const JUDGE_VERDICT: &str = "judge_verdict";
pub(super) const JUDGE_REASON: &str = "judge_reason";

/// The columns of a blind file, those that people read and fill in between those that name the answer.
pub(super) const COLUMNS: [&str; 13] = [
    CASE,
    REPEAT,
    "criterion",
    "history",
    "question",
    "reference",
    "answer",
    "passages",
    VERDICT,
    NOTE,
    LABELLER,
    SAMPLE,
    DIGEST,
];

/// Identifies an answer to a question. It begins with a letter, so that no spreadsheet takes it for a number.
pub fn digest(answer: &JudgedAnswer) -> String {
    let mut hash = Sha256::new();
    hash.update(&answer.digests.case);
    hash.update(&answer.digests.answer);
    format!("sha-{}", &hex::encode(hash.finalize())[..16])
}

/// Names the sample of an answer. A stratified one depends on the judge's verdicts, which it names by a digest of all of them.
pub(super) fn sample(run: &RunAnswers, sample: &Sample) -> String {
    if sample.method != Method::Stratified {
        return sample.to_string();
    }
    let mut hash = Sha256::new();
    for answer in &run.answers {
        hash.update(answer.id.as_str());
        hash.update(answer.repeat.to_le_bytes());
        hash.update(match answer.verdict {
            Some(true) => [1],
            Some(false) => [0],
            None => [2],
        });
    }
    let verdicts = &hex::encode(hash.finalize())[..8];
    format!("{sample}{VERDICTS}{verdicts}")
}

/// Precedes the digest of the verdicts that a stratified sample was drawn by.
pub(super) const VERDICTS: &str = " verdicts ";
