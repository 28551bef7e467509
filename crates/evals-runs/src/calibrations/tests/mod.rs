//! Tests of calibrations and corrections with values worked by hand.

mod corrections;
mod decisions;
mod storage;

use serde_json::json;

use super::calibration::Calibration;
use super::decided::{DecidedLabels, WhoCounts};
use super::judged_run::JudgedRun;
use crate::annotations::tests::{label, stored};
use crate::annotations::{CurrentLabels, LabelVerdict, RunAnswers, StoredLabels};
use crate::judged_by::JudgeRecord;
use crate::run_record::{DatasetRecord, RunRecord};
use evals_metrics::VerdictCounts;

fn judged(answers: &RunAnswers) -> JudgedRun {
    let record = RunRecord {
        dataset: DatasetRecord {
            name: "sample".to_owned(),
            provenance: json!({"files": "a"}),
            ..DatasetRecord::default()
        },
        repeat: 1,
        ..RunRecord::default()
    };
    JudgedRun::of(answers, &record).unwrap()
}

fn recorded(run: &mut JudgedRun) -> &mut JudgeRecord {
    run.judge.by.as_mut().unwrap()
}

/// The same judge and data in another run with these verdicts.
fn other_run(run: &JudgedRun, passes: usize, fails: usize) -> JudgedRun {
    JudgedRun {
        name: "other".to_owned(),
        digest: "another".to_owned(),
        verdicts: VerdictCounts { passes, fails },
        ..run.clone()
    }
}

/// Labels of Ada for the first `n` answers, where she decides otherwise than the judge about the places in `differs`.
fn labels(answers: &RunAnswers, n: usize, differs: &[usize]) -> StoredLabels {
    let labels = (0..n).map(|place| {
        let passes = answers.answers[place].verdict.unwrap() != differs.contains(&place);
        label(answers, place, "ada", verdict(passes))
    });
    stored(labels.collect())
}

fn verdict(passes: bool) -> LabelVerdict {
    if passes {
        LabelVerdict::Pass
    } else {
        LabelVerdict::Fail
    }
}

fn decided<'r>(
    answers: &'r RunAnswers,
    labels: &'r StoredLabels,
    who: WhoCounts<'_>,
) -> Result<DecidedLabels<'r>, String> {
    let current = CurrentLabels::of(answers, labels);
    DecidedLabels::of(&current, who).map_err(|error| error.to_string())
}

fn calibration(answers: &RunAnswers, labels: &StoredLabels) -> Calibration {
    let decided = decided(answers, labels, WhoCounts::Everybody).unwrap();
    Calibration::of(&judged(answers), &decided, false, &[]).unwrap()
}
