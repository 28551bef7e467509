//! The cases that a curve is drawn from: a score each, and whether the case is positive.

use evals::{CaseReport, Report, TaskResult, Value as Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{Arguments, BuildError, Parameter, Untyped, result_keys};

/// Where the score and the class of a case are.
#[derive(Debug, Deserialize)]
pub(super) struct CurveColumns {
    score_key: String,
    score_from: ScoreFrom,
    positive_from: PositiveFrom,
    positive_key: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScoreFrom {
    Scores,
    Metrics,
}

/// Where the class of a case is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PositiveFrom {
    /// The expected output is true in Python's sense.
    ExpectedOutput,
    /// An assertion passed.
    Assertions,
    /// A label is not empty.
    Labels,
}

/// The class of a case is in its assertions or labels, but nothing says in which.
#[derive(Debug, Error)]
#[error("`positive_key` is required if `positive_from` is `assertions` or `labels`")]
struct NoKey;

/// The cases that have both a score and a class.
#[derive(Debug)]
pub(super) struct ScoredCases {
    /// Scores, the highest first, each with whether its case is positive.
    pub(super) cases: Vec<(f64, bool)>,
    pub(super) positives: usize,
    pub(super) negatives: usize,
    /// The number of all cases.
    total: usize,
}

/// The parameters that choose the columns.
pub(super) fn parameters() -> [Parameter; 4] {
    [
        Parameter::text("score_key", "The name of the score or of the metric."),
        Parameter::required(
            "positive_from",
            json!({"enum": ["expected_output", "assertions", "labels"]}),
            "What makes a case positive: its `expected_output`, one of its `assertions` or one of its `labels`.",
        ),
        Parameter::optional_text("positive_key", "The name of the assertion or of the label."),
        Parameter::choice(
            "score_from",
            "scores",
            &["scores", "metrics"],
            "Where the score is: `scores` or `metrics`.",
        ),
    ]
}

impl CurveColumns {
    pub(super) fn read(arguments: &Arguments) -> Result<Self, BuildError> {
        let columns: Self = arguments.read()?;
        let needs_key = !matches!(columns.positive_from, PositiveFrom::ExpectedOutput);
        if needs_key && columns.positive_key.is_none() {
            return Err(NoKey.into());
        }
        Ok(columns)
    }

    /// The cases of a report that have both columns. Failed cases have neither.
    pub(super) fn of(&self, report: &Report<Untyped>) -> ScoredCases {
        let finished = report.cases.iter().filter(|case| match case.result {
            TaskResult::Output(_) => true,
            TaskResult::Failure(_) => false,
        });
        let scored = finished.filter_map(|case| Some((self.score(case)?, self.is_positive(case)?)));
        let mut cases: Vec<(f64, bool)> = scored.collect();
        cases.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let positives = cases.iter().filter(|(_, positive)| *positive).count();
        ScoredCases {
            positives,
            negatives: cases.len() - positives,
            cases,
            total: report.cases.len(),
        }
    }

    fn score(&self, case: &CaseReport<Untyped>) -> Option<f64> {
        match self.score_from {
            ScoreFrom::Scores => match result_keys::value(case, &self.score_key)? {
                Verdict::Score(score) => Some(*score),
                Verdict::Assertion(_) | Verdict::Label(_) | Verdict::Undefined => None,
            },
            ScoreFrom::Metrics => case.metrics.get(&self.score_key).copied(),
        }
    }

    fn is_positive(&self, case: &CaseReport<Untyped>) -> Option<bool> {
        let key = self.positive_key.as_deref();
        let result = || result_keys::value(case, key?);
        match self.positive_from {
            PositiveFrom::ExpectedOutput => case.expected.as_ref().and_then(truth),
            PositiveFrom::Assertions => match result()? {
                Verdict::Assertion(passed) => Some(*passed),
                Verdict::Score(_) | Verdict::Label(_) | Verdict::Undefined => None,
            },
            PositiveFrom::Labels => match result()? {
                Verdict::Label(label) => Some(!label.is_empty()),
                Verdict::Score(_) | Verdict::Assertion(_) | Verdict::Undefined => None,
            },
        }
    }

    /// Why an analysis of these cases has no value, if it needs both classes.
    pub(super) fn undefined(&self, cases: &ScoredCases) -> Option<String> {
        if cases.cases.is_empty() {
            Some(format!(
                "undefined: no case has both `{}` and a class",
                self.score_key
            ))
        } else if cases.positives == 0 {
            Some("undefined: no case is positive".to_owned())
        } else if cases.negatives == 0 {
            Some("undefined: no case is negative".to_owned())
        } else {
            None
        }
    }

    /// How many cases were left out, if any were.
    pub(super) fn left_out(&self, cases: &ScoredCases) -> Option<String> {
        let (kept, total) = (cases.cases.len(), cases.total);
        (kept < total).then(|| {
            format!(
                "{kept} of {total} cases; the others failed or lack `{}` or a class",
                self.score_key
            )
        })
    }
}

impl ScoredCases {
    /// For each distinct score, the highest first, how many positive and how many negative cases have at least this score.
    pub(super) fn counts(&self) -> Vec<(f64, usize, usize)> {
        let mut counts: Vec<(f64, usize, usize)> = Vec::new();
        let (mut positives, mut negatives) = (0, 0);
        for (score, is_positive) in &self.cases {
            if *is_positive {
                positives += 1;
            } else {
                negatives += 1;
            }
            match counts.last_mut() {
                // 0 and -0 are one score.
                Some(last) if last.0 <= *score => *last = (last.0, positives, negatives),
                _ => counts.push((*score, positives, negatives)),
            }
        }
        counts
    }
}

/// Python's `bool` of a value; nothing for `None`.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Null => None,
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) => Some(!text.is_empty()),
        Value::Array(items) => Some(!items.is_empty()),
        Value::Object(members) => Some(!members.is_empty()),
    }
}
