//! What has to be the same in run and baseline.

use evals::{Allowance, Gate, GateError, GateVerdict, Identity, Report};
use serde_json::json;

use super::{check, gate, judged, judged_snapshots, max, max_drop, scored, snapshot};
use crate::fakes::{Words, failed, finished, report, score};

fn allowing(what: Allowance) -> Gate {
    Gate {
        allowed: [what].into(),
        ..gate([max_drop(0.1)])
    }
}

fn edited() -> [Report<Words>; 2] {
    let before = scored(&[0.5; 30]);
    let mut after = scored(&[0.5; 30]);
    "another question".clone_into(&mut after.cases[7].input);
    after.cases.remove(3);
    [before, after]
}

#[test]
fn edited_and_missing_cases_fail_unless_they_are_allowed() {
    let [before, after] = edited();
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::Failed);
    let same = check(&found, "same dataset");
    assert_eq!(
        same.reason,
        "1 case edited: q007 (input); 1 case only in the baseline: q003; `--allow changed-dataset` accepts that"
    );
    assert_eq!(found.runs[0].pairs, Some(28));
    let found = judged(&allowing(Allowance::ChangedDataset), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::Passed);
    let same = check(&found, "same dataset");
    assert!(
        same.reason
            .ends_with("(allowed by `--allow changed-dataset`)")
    );
}

#[test]
fn another_dataset_fails_by_its_digests() {
    let identity = |digest: &str| Identity {
        dataset: json!({"files": {"corpus.parquet": digest}}),
        ..Identity::default()
    };
    let run = snapshot(&scored(&[0.5; 30]));
    let before = run.clone().identified(identity("sha256:aa"));
    let after = run.clone().identified(identity("sha256:bb"));
    let found = judged_snapshots(&gate([max_drop(0.1)]), Some(&before), &after).unwrap();
    let same = check(&found, "same dataset");
    assert_eq!(same.verdict, GateVerdict::Failed);
    assert!(
        same.reason
            .starts_with(r#"files.corpus.parquet: "sha256:aa" -> "sha256:bb""#),
        "{}",
        same.reason
    );
    let found = judged_snapshots(&gate([max_drop(0.1)]), Some(&before), &run).unwrap();
    let same = check(&found, "same dataset");
    assert_eq!(same.verdict, GateVerdict::CannotTell, "{}", same.reason);
}

#[test]
fn another_judge_fails() {
    let identity = |name: &str| Identity {
        judge: json!({"equivalent": {"model": name}, "polite": {"model": name}}),
        ..Identity::default()
    };
    let run = snapshot(&scored(&[0.5; 30]));
    let [before, after] = ["m1", "m2"].map(|name| run.clone().identified(identity(name)));
    let found = judged_snapshots(&gate([max_drop(0.1)]), Some(&before), &after).unwrap();
    let same = check(&found, "same judge");
    assert_eq!(same.verdict, GateVerdict::Failed);
    let reason =
        "model: \"m1\" -> \"m2\" (equivalent, polite); `--allow changed-judge` accepts that";
    assert_eq!(same.reason, reason);
    let allowed = allowing(Allowance::ChangedJudge);
    let found = judged_snapshots(&allowed, Some(&before), &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::Passed);
}

#[test]
fn the_judges_of_measures_that_only_one_run_has_do_not_count() {
    let run = snapshot(&scored(&[0.5; 30]));
    let judged = |judge| {
        run.clone().identified(Identity {
            judge,
            ..Identity::default()
        })
    };
    let before = judged(json!({"equivalent": {"model": "m"}}));
    let after = judged(json!({"equivalent": {"model": "m"}, "faithfulness": {"model": "n"}}));
    let found = judged_snapshots(&gate([max_drop(0.1)]), Some(&before), &after).unwrap();
    let same = check(&found, "same judge");
    assert_eq!(same.verdict, GateVerdict::Passed, "{}", same.reason);
}

#[test]
fn a_gate_cannot_tell_whether_unknown_judges_are_the_same() {
    let run = snapshot(&scored(&[0.5; 30]));
    let judged = |judge| {
        run.clone().identified(Identity {
            judge,
            ..Identity::default()
        })
    };
    let known = judged(json!({"equivalent": {"model": "m"}}));
    let unknown = judged(Identity::UNKNOWN.into());
    for (before, after, reason) in [
        (&unknown, &known, "the baseline does not record it"),
        (&known, &unknown, "the run does not record it"),
        (
            &unknown,
            &unknown,
            "the baseline and the run do not record it",
        ),
    ] {
        let found = judged_snapshots(&gate([max_drop(0.1)]), Some(before), after).unwrap();
        let same = check(&found, "same judge");
        assert_eq!(same.verdict, GateVerdict::CannotTell, "{}", same.reason);
        let expected = format!("{reason}; `--allow changed-judge` accepts that");
        assert_eq!(same.reason, expected);
    }
}

#[test]
fn a_measure_of_another_evaluator_fails() {
    let before = scored(&[0.5; 30]);
    let mut after = scored(&[0.5; 30]);
    for case in &mut after.cases {
        case.outcomes[0].evaluator = "another".to_owned();
    }
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    let judge = check(&found, "same judge");
    assert_eq!(judge.verdict, GateVerdict::Failed);
    assert!(
        judge
            .reason
            .contains("`RR` comes from `another` instead of"),
        "{}",
        judge.reason
    );
}

#[test]
fn more_failures_and_lost_values_fail() {
    let before = scored(&[0.5; 30]);
    let mut after = scored(&[0.5; 30]);
    after.cases[4] = failed("q004", "timed out");
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    let coverage = check(&found, "coverage");
    assert_eq!(coverage.verdict, GateVerdict::Failed);
    assert!(
        coverage.reason.starts_with(
            "1 of 30 cases failed, and 0 of 30 in the baseline; 1 case lost its value of `RR`"
        ),
        "{}",
        coverage.reason
    );
    let found = judged(&allowing(Allowance::LowerCoverage), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::Passed);
    let limited = gate([max_drop(0.1), max("failed", 1.0)]);
    let found = judged(&limited, &before, &after).unwrap();
    let reason = &check(&found, "coverage").reason;
    assert!(
        reason.starts_with("1 case lost"),
        "the rule counts failures: {reason}"
    );
    let found = judged(&gate([max_drop(0.1)]), &after, &before).unwrap();
    assert_eq!(
        found.verdict,
        GateVerdict::Passed,
        "fewer failures are fine"
    );
}

#[test]
fn a_measure_that_is_gone_fails_with_and_without_a_rule() {
    let both = |with: bool| {
        let cases = (0..30).map(|number| {
            let mut scores = vec![score("RR", 0.5)];
            scores.extend(with.then(|| score("AP", 0.5)));
            finished(&format!("q{number:02}"), scores)
        });
        report(cases.collect())
    };
    let (before, after) = (both(true), both(false));
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    let gone = check(&found, "same measures");
    assert_eq!(gone.verdict, GateVerdict::Failed);
    assert!(
        gone.reason.starts_with("the run has no measure `AP`"),
        "{}",
        gone.reason
    );
    let of_gone = gate([evals::Rule::MaxDrop {
        measure: "AP".to_owned(),
        tolerance: 0.1,
    }]);
    let found = judged(&of_gone, &before, &after).unwrap();
    assert_eq!(check(&found, "AP drop <= 0.1").verdict, GateVerdict::Failed);
}

#[test]
fn runs_without_a_common_case_are_an_error() {
    let before = report(vec![finished("a", vec![score("RR", 1.0)])]);
    let after = report(vec![finished("b", vec![score("RR", 1.0)])]);
    let error = judged(&gate([max_drop(0.1)]), &before, &after).unwrap_err();
    assert!(matches!(
        error,
        GateError::NothingInCommon {
            removed: 1,
            added: 1,
            changed: 0,
            ..
        }
    ));
}
