//! Tests of calibrations as they are written, kept and chosen.

use std::fs;

use evals::{CheckNumbers, GateBound, GateVerdict};
use evals_metrics::Confusion;

use super::super::calibration::{Calibration, Drawing};
use super::super::decided::DecidedBy;
use super::super::judged_run::JudgedRun;
use super::super::requirement::RequiredAgreement;
use super::super::store::CalibrationStore;
use super::{calibration, judged, labels, recorded};
use crate::annotations::tests::run;

/// Of 60 answers the judge failed every third, and it has no verdict about the last.
#[test]
fn the_counts_are_those_of_the_labels() {
    let answers = run(61);
    // Place 0 and 3 are fails of the judge, 1 is a pass.
    let found = calibration(&answers, &labels(&answers, 30, &[0, 1, 3]));
    assert_eq!(
        found.labels,
        Confusion {
            true_passes: 19,
            false_passes: 1,
            false_fails: 2,
            true_fails: 8,
        }
    );
    assert_eq!(
        (found.drawing, found.decided_by),
        (Drawing::Random, DecidedBy::OnePerson)
    );
    assert_eq!(
        (found.run.verdicts.passes, found.run.verdicts.fails),
        (40, 20)
    );
    let agreement = found.agreement();
    assert!((agreement.agreement.unwrap().value - 27.0 / 30.0).abs() < 1e-12);
    assert!((agreement.true_pass_rate.unwrap().value - 19.0 / 21.0).abs() < 1e-12);
    assert!((agreement.true_fail_rate.unwrap().value - 8.0 / 9.0).abs() < 1e-12);
}

#[test]
fn the_same_labels_give_the_same_bytes_and_hold_no_text() {
    let answers = run(61);
    let labels = labels(&answers, 30, &[0, 1]);
    let written = |calibration: &Calibration| serde_json::to_string(calibration).unwrap();
    let found = calibration(&answers, &labels);
    assert_eq!(written(&found), written(&calibration(&answers, &labels)));
    for text in ["question", "answer to", "because", "one,"] {
        assert!(!written(&found).contains(text), "{text}");
    }
    let more = calibration(&answers, &super::labels(&answers, 40, &[0, 1]));
    assert_eq!(
        more.id, found.id,
        "a later calibration replaces the earlier"
    );
}

#[test]
fn a_kept_calibration_is_found_by_the_start_of_its_id_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = CalibrationStore::at(folder.path().join("calibrations"));
    assert!(store.list().unwrap().0.is_empty());
    let answers = run(61);
    let found = calibration(&answers, &labels(&answers, 30, &[0, 1]));
    let path = store.save(&found).unwrap();
    let bytes = fs::read(&path).unwrap();
    store.save(&found).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(store.find("equivalent").unwrap(), found);
    assert_eq!(store.find(path.to_str().unwrap()).unwrap(), found);
    let error = store.find("equal").unwrap_err().to_string();
    assert!(error.contains("there is no calibration `equal`"), "{error}");

    let damaged = |from: &str, to: &str| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.contains(from));
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (calibrations, problems) = store.list().unwrap();
        assert!(calibrations.is_empty());
        problems[0].clone()
    };
    let version = damaged("\"schema_version\": 2", "\"schema_version\": 9");
    assert!(version.contains("has schema version 9"), "{version}");
    let counts = damaged("\"true_passes\": 19", "\"true_passes\": 190");
    assert!(
        counts.contains("more answers than `run.verdicts`"),
        "{counts}"
    );
    for (count, stored) in [("true_passes", 19), ("true_fails", 9), ("passes", 40)] {
        for huge in [u64::MAX, u64::MAX - 30, 1 << 32] {
            let member = |value: u64| format!("\"{count}\": {value}");
            let overflowing = damaged(&member(stored), &member(huge));
            assert!(
                overflowing.contains("more answers than a run can have"),
                "{overflowing}"
            );
        }
    }
    let blind = damaged("\"not_blind\": 0", "\"not_blind\": 18446744073709551615");
    assert!(blind.contains("`not_blind` counts more"), "{blind}");
    let unknown = damaged("\"labellers\"", "\"label\"");
    assert!(unknown.contains("is not a calibration"), "{unknown}");

    store.delete("equivalent").unwrap();
    assert!(store.list().unwrap().1.is_empty() && !path.exists());
}

#[test]
fn labels_of_the_run_itself_are_best_and_then_the_most() {
    let answers = run(61);
    let own = calibration(&answers, &labels(&answers, 30, &[0, 1]));
    let elsewhere = |n: usize| {
        let mut found = calibration(&answers, &labels(&answers, n, &[0, 1]));
        found.run.digest = "elsewhere".to_owned();
        found.id = format!("elsewhere-{n}");
        found
    };
    let judged = judged(&answers);
    let best = |all: &[Calibration], run: &JudgedRun| match Calibration::best(all, run) {
        Ok(best) => best.id.clone(),
        Err(reason) => reason.unwrap_or_default(),
    };
    let others = [elsewhere(40), elsewhere(50)];
    assert_eq!(best(&others, &judged), "elsewhere-50");
    let all = [others[1].clone(), own.clone(), others[0].clone()];
    assert_eq!(best(&all, &judged), own.id);
    assert_eq!(best(&[], &judged), "");
    let mut changed = judged.clone();
    recorded(&mut changed).repeats = 3;
    assert_eq!(
        best(std::slice::from_ref(&own), &changed),
        format!(
            "calibration `{}` is of a different judge (repeats: 1 -> 3)",
            own.id
        )
    );
    changed.data.name = "wixqa".to_owned();
    assert_eq!(
        best(&[own], &changed),
        "",
        "a calibration for something else altogether"
    );
}

#[test]
fn a_gate_passes_over_a_calibration_whose_answers_somebody_picked() {
    let answers = run(61);
    let judged = judged(&answers);
    let drawn = calibration(&answers, &labels(&answers, 30, &[0, 1]));
    let mut picked = calibration(&answers, &labels(&answers, 40, &[]));
    picked.drawing = Drawing::Picked;
    picked.id = "picked-40".to_owned();
    let required = RequiredAgreement {
        least_kappa: 0.6,
        bound: GateBound::Point,
    };
    let check = |all: &[Calibration], run: &JudgedRun| {
        let check = required.check(run, all);
        let CheckNumbers::Agreement(numbers) = check.numbers else {
            panic!("{check:?}")
        };
        (check.verdict, numbers.calibration, check.reason)
    };
    let both = [drawn.clone(), picked.clone()];
    let (verdict, by, reason) = check(&both, &judged);
    assert_eq!(verdict, GateVerdict::Passed, "{reason}");
    assert_eq!(by.as_ref(), Some(&drawn.id));

    let alone = std::slice::from_ref(&picked);
    let (verdict, by, reason) = check(alone, &judged);
    assert_eq!(
        (verdict, by.as_deref()),
        (GateVerdict::Failed, Some("picked-40"))
    );
    assert!(reason.contains("somebody picked"), "{reason}");

    let mut other = judged.clone();
    recorded(&mut other).repeats = 3;
    let (verdict, by, reason) = check(&both, &other);
    assert_eq!((verdict, by), (GateVerdict::Failed, None));
    assert!(reason.contains("a different judge"), "{reason}");
}
