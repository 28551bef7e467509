//! Evidence: the smaller verdicts that an outcome is computed from.

use serde::{Deserialize, Serialize};

/// One of the smaller verdicts that an outcome is computed from, such as that on a single claim of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the verdict is about, such as a claim.
    pub text: String,
    /// The verdict in a few words, such as `not found`.
    pub verdict: String,
    /// Whether the verdict speaks for the outcome: only such evidence raises a score.
    pub holds: bool,
    /// The reason for the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the verdict was found, such as `passage 2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The verdicts that this one was counted from, if several judges were asked or one judge several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
}

/// The verdict of one judge in one repetition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Names the judge.
    pub judge: String,
    /// Which of the judge's repetitions this is, from 1.
    pub repeat: u32,
    /// The verdict in a few words.
    pub verdict: String,
    /// Whether the verdict speaks for the outcome.
    pub holds: bool,
    /// The reason for the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
