//! What has to be the same in run and baseline.

use evals::{Allowance, Gate, GateError, GateVerdict, Identity, Report, Snapshot};
use serde_json::{Value, json};

use super::{check, gate, judged, judged_snapshots, max, max_drop, scored, snapshot};
use crate::fakes::{Words, failed, finished, report, score};

fn allowing(what: Allowance) -> Gate {
    Gate {
        allowed: [what].into(),
        ..gate([max_drop(0.2)])
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
    let found = judged(&gate([max_drop(0.2)]), &before, &after).unwrap();
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
    let found = judged_snapshots(&gate([max_drop(0.2)]), Some(&before), &after).unwrap();
    let same = check(&found, "same dataset");
    assert_eq!(same.verdict, GateVerdict::Failed);
    assert!(
        same.reason
            .starts_with(r#"files.corpus.parquet: "sha256:aa" -> "sha256:bb""#),
        "{}",
        same.reason
    );
    let found = judged_snapshots(&gate([max_drop(0.2)]), Some(&before), &run).unwrap();
    let same = check(&found, "same dataset");
    assert_eq!(same.verdict, GateVerdict::CannotTell, "{}", same.reason);
    let allowed = allowing(Allowance::ChangedDataset);
    let found = judged_snapshots(&allowed, Some(&before), &run).unwrap();
    let same = check(&found, "same dataset");
    assert_eq!(same.verdict, GateVerdict::Passed);
    let expected = "the run does not record it (allowed by `--allow changed-dataset`)";
    assert_eq!(same.reason, expected);
}

/// A run with measures, each 0.5 in all of 30 cases, and its judges.
fn judged_by(measures: &[&str], judge: Value) -> Snapshot {
    let cases = (0..30).map(|number| {
        let scores = measures.iter().map(|name| score(name, 0.5));
        finished(&format!("q{number:02}"), scores.collect())
    });
    snapshot(&report(cases.collect())).identified(Identity {
        judge,
        ..Identity::default()
    })
}

/// The verdict on the judge, with its reason.
fn same_judge(gate: &Gate, before: &Snapshot, after: &Snapshot) -> (GateVerdict, String) {
    let found = judged_snapshots(gate, Some(before), after).unwrap();
    let same = check(&found, "same judge");
    (same.verdict, same.reason.clone())
}

const MEASURES: [&str; 3] = ["RR", "equivalent", "polite"];

#[test]
fn another_judge_fails() {
    let judged = |name: &str| {
        let judge = json!({"equivalent": {"model": name}, "polite": {"model": name}});
        judged_by(&MEASURES, judge)
    };
    let [before, after] = ["m1", "m2"].map(judged);
    let strict = gate([max_drop(0.2)]);
    let (verdict, reason) = same_judge(&strict, &before, &after);
    assert_eq!(verdict, GateVerdict::Failed);
    let expected =
        "model: \"m1\" -> \"m2\" (equivalent, polite); `--allow changed-judge` accepts that";
    assert_eq!(reason, expected);
    let (verdict, _) = same_judge(&allowing(Allowance::ChangedJudge), &before, &after);
    assert_eq!(verdict, GateVerdict::Passed);
}

#[test]
fn the_judges_of_measures_that_only_one_run_has_do_not_count() {
    let before = judged_by(&["RR", "equivalent"], json!({"equivalent": {"model": "m"}}));
    let judge = json!({"equivalent": {"model": "m"}, "polite": {"model": "n"}});
    let after = judged_by(&MEASURES, judge);
    let (verdict, reason) = same_judge(&gate([max_drop(0.2)]), &before, &after);
    assert_eq!(verdict, GateVerdict::Passed, "{reason}");
}

#[test]
fn a_judge_differs_from_none() {
    let judge = json!({"equivalent": {"model": "m"}, "polite": {"model": "m"}});
    let all = judged_by(&MEASURES, judge);
    let one = judged_by(&MEASURES, json!({"equivalent": {"model": "m"}}));
    let none = judged_by(&MEASURES, Value::Null);
    let only = |side: &str, other: &str, measures: &str| {
        format!(
            "{side} has a judge, and {other} does not ({measures}); `--allow changed-judge` accepts that"
        )
    };
    let (run, baseline) = ("the run", "the baseline");
    for (before, after, expected) in [
        (&none, &all, only(run, baseline, "equivalent, polite")),
        (&all, &none, only(baseline, run, "equivalent, polite")),
        (&one, &all, only(run, baseline, "polite")),
        (&all, &one, only(baseline, run, "polite")),
    ] {
        let (verdict, reason) = same_judge(&gate([max_drop(0.2)]), before, after);
        assert_eq!((verdict, reason), (GateVerdict::Failed, expected));
    }
    let (verdict, reason) = same_judge(&gate([max_drop(0.2)]), &none, &none);
    assert_eq!(verdict, GateVerdict::Passed, "{reason}");
}

#[test]
fn a_gate_cannot_tell_whether_unknown_judges_are_the_same() {
    let judged = |judge| judged_by(&MEASURES, judge);
    let judges = |polite: Value| judged(json!({"equivalent": {"model": "m"}, "polite": polite}));
    let known = judges(json!({"model": "m"}));
    let partly = judges(Identity::UNKNOWN.into());
    let unknown = judged(Identity::UNKNOWN.into());
    let none = judged(Value::Null);
    for (before, after, expected) in [
        (&unknown, &known, "the baseline does not record it"),
        (&known, &unknown, "the run does not record it"),
        (&none, &unknown, "the run does not record it"),
        (
            &unknown,
            &unknown,
            "the baseline and the run do not record it",
        ),
        (&partly, &known, "the baseline does not record it (polite)"),
        (&known, &partly, "the run does not record it (polite)"),
        (
            &partly,
            &partly,
            "the baseline and the run do not record it (polite)",
        ),
    ] {
        let (verdict, reason) = same_judge(&gate([max_drop(0.2)]), before, after);
        assert_eq!(verdict, GateVerdict::CannotTell, "{reason}");
        let refused = format!("{expected}; `--allow changed-judge` accepts that");
        assert_eq!(reason, refused);
        let allowed = same_judge(&allowing(Allowance::ChangedJudge), before, after);
        let reason = format!("{expected} (allowed by `--allow changed-judge`)");
        assert_eq!(allowed, (GateVerdict::Passed, reason));
    }
}

#[test]
fn a_known_difference_fails_beside_an_unknown_judge() {
    let judged = |name: &str, polite: Value| {
        judged_by(
            &MEASURES,
            json!({"equivalent": {"model": name}, "polite": polite}),
        )
    };
    let before = judged("m", json!({"model": "m"}));
    let after = judged("n", Identity::UNKNOWN.into());
    let (verdict, reason) = same_judge(&gate([max_drop(0.2)]), &before, &after);
    assert_eq!(verdict, GateVerdict::Failed);
    assert_eq!(
        reason,
        "model: \"m\" -> \"n\" (equivalent); the run does not record it (polite); `--allow changed-judge` accepts that"
    );
}

#[test]
fn a_measure_of_another_evaluator_fails() {
    let before = scored(&[0.5; 30]);
    let mut after = scored(&[0.5; 30]);
    for case in &mut after.cases {
        case.outcomes[0].evaluator = "another".to_owned();
    }
    let found = judged(&gate([max_drop(0.2)]), &before, &after).unwrap();
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
    let found = judged(&gate([max_drop(0.2)]), &before, &after).unwrap();
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
    let limited = gate([max_drop(0.2), max("failed", 1.0)]);
    let found = judged(&limited, &before, &after).unwrap();
    let reason = &check(&found, "coverage").reason;
    assert!(
        reason.starts_with("1 case lost"),
        "the rule counts failures: {reason}"
    );
    let found = judged(&gate([max_drop(0.2)]), &after, &before).unwrap();
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
    let found = judged(&gate([max_drop(0.2)]), &before, &after).unwrap();
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
    let error = judged(&gate([max_drop(0.2)]), &before, &after).unwrap_err();
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
