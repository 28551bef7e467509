//! Tests of calibrations and corrections with values worked by hand.

use std::fs;

use evals_metrics::{Confusion, VerdictCounts};
use evals_rag::Prompt;
use evals_rag::rag_judges::Rule;
use serde_json::{Value, json};

use super::calibration::{Calibration, Drawing};
use super::correction::{Correction, Method, OtherData};
use super::decided::{DecidedBy, DecidedLabels, WhoCounts};
use super::disagreement::Disagreement;
use super::judged_run::JudgedRun;
use super::store::CalibrationStore;
use crate::annotations::tests::{label, run, stored};
use crate::annotations::{
    CurrentLabels, Label, LabelVerdict, Method as Drawn, RunAnswers, StoredLabels,
};
use crate::judged_by::JudgeRecord;

fn manifest() -> Value {
    json!({"repeat": 1, "dataset": {"name": "sample", "provenance": {"files": "a"}}})
}

fn judged(answers: &RunAnswers) -> JudgedRun {
    JudgedRun::of(answers, &manifest()).unwrap()
}

fn recorded(run: &mut JudgedRun) -> &mut JudgeRecord {
    run.judge.by.as_mut().unwrap()
}

#[test]
fn a_run_that_does_not_record_its_judge_is_corrected_by_its_own_labels_alone() {
    let mut answers = run(61);
    answers.judged_by = None;
    let found = calibration(&answers, &labels(&answers, 30, &[0, 1]));
    let own = judged(&answers);
    assert!(Correction::of(&found, &own, OtherData::Refused).is_ok());
    let other = other_run(&own, 40, 20);
    let refused = Correction::of(&found, &other, OtherData::Refused).unwrap_err();
    assert_eq!(
        refused,
        "another judge (the calibrated run does not record its panel, prompts and criteria)"
    );
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
    let more = calibration(&answers, &self::labels(&answers, 40, &[0, 1]));
    assert_eq!(
        more.id, found.id,
        "a later calibration replaces the earlier"
    );
}

/// With 40 of 50 people's passes and 40 of 50 fails found, TPR and TNR are 0.8. A pass rate of 0.62 is then
/// (0.62 + 0.8 - 1) / (0.8 + 0.8 - 1) = 0.7.
#[test]
fn another_run_is_corrected_by_the_rates_of_the_judge() {
    let answers = run(61);
    let run = judged(&answers);
    let found = Calibration {
        labels: Confusion {
            true_passes: 40,
            false_passes: 10,
            false_fails: 10,
            true_fails: 40,
        },
        ..calibration(&answers, &labels(&answers, 30, &[0, 1]))
    };
    let correction =
        Correction::of(&found, &other_run(&run, 620, 380), OtherData::Refused).unwrap();
    assert_eq!(correction.estimates.len(), 1);
    let (method, corrected) = correction.headline().unwrap();
    assert_eq!(method, Method::RoganGladen);
    assert!((corrected.value - 0.7).abs() < 1e-12, "{}", corrected.value);
    assert!(corrected.interval.low < 0.7 && 0.7 < corrected.interval.high);
    let raw = correction.raw.as_ref().unwrap();
    assert!((raw.value - 0.62).abs() < 1e-12);
    let table = correction.table();
    assert_eq!(table.rows[1][..2], ["corrected (Rogan-Gladen)", "0.7000"]);
    assert!(
        table
            .notes
            .iter()
            .any(|note| note.contains("TPR 0.8000, TNR 0.8000"))
    );
}

/// The judge passed 40 of 60 answers. Of 20 labelled ones among them people pass 19, and of 10 others 2:
/// 2/3 · 0.95 + 1/3 · 0.2 = 0.7.
#[test]
fn labels_of_the_run_itself_correct_it_without_the_rates() {
    let answers = run(61);
    let found = calibration(&answers, &labels(&answers, 30, &[0, 1, 3]));
    let correction = Correction::of(&found, &judged(&answers), OtherData::Refused).unwrap();
    let methods: Vec<Method> = correction
        .estimates
        .iter()
        .map(|(method, _)| *method)
        .collect();
    assert_eq!(
        methods,
        [
            Method::DoubleSampling,
            Method::PredictionPowered,
            Method::RoganGladen
        ]
    );
    let (_, corrected) = correction.headline().unwrap();
    assert!((corrected.value - 0.7).abs() < 1e-12, "{}", corrected.value);

    let all = calibration(&answers, &labels(&answers, 60, &[0, 1, 3]));
    let correction = Correction::of(&all, &judged(&answers), OtherData::Refused).unwrap();
    let reason = correction.estimates[1].1.as_ref().unwrap_err();
    assert_eq!(
        reason,
        "people labelled every answer, so nothing is predicted"
    );
}

#[test]
fn another_judge_prompt_or_dataset_is_refused_with_the_fact_that_differs() {
    let answers = run(61);
    let found = calibration(&answers, &labels(&answers, 30, &[0, 1]));
    let run = judged(&answers);
    let refused = |change: &dyn Fn(&mut JudgedRun)| {
        let mut other = other_run(&run, 40, 20);
        change(&mut other);
        Correction::of(&found, &other, OtherData::Refused).unwrap_err()
    };
    assert_eq!(
        refused(&|run| recorded(run).repeats = 3),
        "another judge (repeats: 1 -> 3)"
    );
    assert_eq!(
        refused(&|run| recorded(run).rule = Some(Rule::Unanimous)),
        "another judge (rule: not set -> \"unanimous\")"
    );
    assert_eq!(
        refused(&|run| recorded(run).prompts.clear()),
        "another judge (prompts.judge.md.jinja: \"PROMPT\" -> not set)"
            .replace("PROMPT", &Prompt::judge().digest()[..16])
    );
    assert_eq!(
        refused(&|run| run.judge.by = None),
        "another judge (this run does not record its panel, prompts and criteria)"
    );
    assert_eq!(
        refused(&|run| run.judge.measure = "polite".to_owned()),
        "another judge (measure: equivalent -> polite)"
    );
    assert_eq!(
        refused(&|run| run.data.digest = "x".to_owned()),
        "other data (dataset files: other content)"
    );
    assert!(refused(&|run| run.repeat = 3).contains("asked each question 3 times"));

    let mut elsewhere = other_run(&run, 40, 20);
    elsewhere.data.name = "wixqa".to_owned();
    let correction = Correction::of(&found, &elsewhere, OtherData::Accepted).unwrap();
    assert!(correction.headline().is_ok());
    let accepted = "the calibration is of other data (dataset: sample -> wixqa)";
    assert!(
        correction
            .assumptions
            .iter()
            .any(|it| it.starts_with(accepted))
    );
}

#[test]
fn a_judge_no_better_than_chance_corrects_nothing() {
    let answers = run(61);
    let found = Calibration {
        labels: Confusion {
            true_passes: 10,
            false_passes: 20,
            false_fails: 10,
            true_fails: 5,
        },
        ..calibration(&answers, &labels(&answers, 30, &[]))
    };
    let correction = Correction::of(
        &found,
        &other_run(&judged(&answers), 620, 380),
        OtherData::Refused,
    );
    let correction = correction.unwrap();
    let reason = correction.headline().unwrap_err();
    assert!(reason.contains("no better than chance"), "{reason}");
    assert_eq!(correction.table().rows[1][1], "–");
    assert!(correction.line().contains("undefined"));
}

#[test]
fn picked_answers_and_few_labels_correct_nothing() {
    let answers = run(61);
    let mut picked = labels(&answers, 30, &[0, 1]);
    picked.labels[7].sampling.method = Drawn::Chosen;
    let found = calibration(&answers, &picked);
    assert_eq!(found.drawing, Drawing::Picked);
    let correction = Correction::of(&found, &judged(&answers), OtherData::Refused).unwrap();
    assert!(correction.estimates.iter().all(|(_, found)| found.is_err()));

    let chosen = decided(&answers, &picked, WhoCounts::Everybody).unwrap();
    let assumed = Calibration::of(&judged(&answers), &chosen, true, &[]).unwrap();
    assert_eq!(assumed.drawing, Drawing::Random);

    let few = labels(&answers, 19, &[0, 1]);
    let few = decided(&answers, &few, WhoCounts::Everybody).unwrap();
    let error = Calibration::of(&judged(&answers), &few, false, &["2 stale".to_owned()]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "run `the-run` has 19 answers with a verdict of people and one of the judge, and a calibration needs at least 20\n2 stale"
    );
}

/// Ben decides otherwise than Ada about one answer, and Cem agrees with Ben.
#[test]
fn people_who_disagree_need_a_choice() {
    let answers = run(61);
    let mut labels = labels(&answers, 30, &[]);
    let opposite = verdict(!answers.answers[4].verdict.unwrap());
    labels.labels.push(label(&answers, 4, "ben", opposite));
    let refusal = decided(&answers, &labels, WhoCounts::Everybody).unwrap_err();
    assert!(
        refusal.contains("people disagree about 1 answer"),
        "{refusal}"
    );
    assert!(
        refusal.contains("`q4`: ada passed it, ben failed it"),
        "{refusal}"
    );
    assert!(
        refusal.contains("the judge agrees with ada about 30 of 30 answers"),
        "{refusal}"
    );
    assert!(refusal.contains("`--majority`"), "{refusal}");

    let ada = decided(&answers, &labels, WhoCounts::Person("ada")).unwrap();
    assert_eq!(
        (ada.labellers, ada.answers.len()),
        (vec!["ada".to_owned()], 30)
    );
    let divided = decided(&answers, &labels, WhoCounts::Majority).unwrap();
    assert_eq!(divided.answers.len(), 29);
    assert_eq!(divided.left_out["people are divided equally"], 1);

    labels.labels.push(label(&answers, 4, "cem", opposite));
    let majority = decided(&answers, &labels, WhoCounts::Majority).unwrap();
    assert_eq!(
        (majority.by, majority.answers.len()),
        (DecidedBy::Majority, 30)
    );
    let disagreements = Disagreement::all(&majority);
    assert_eq!(disagreements.len(), 1);
    let people: Vec<&str> = disagreements[0]
        .people
        .iter()
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(
        (people, disagreements[0].judge_passes),
        (vec!["ben", "cem"], true)
    );
    assert_eq!(disagreements[0].reason, Some("because"));

    let unknown = decided(&answers, &labels, WhoCounts::Person("bem")).unwrap_err();
    assert!(
        unknown.contains("labels are of `ada`, `ben`, `cem`"),
        "{unknown}"
    );
}

#[test]
fn answers_that_cannot_be_compared_are_left_out_with_the_reason() {
    let mut answers = run(61);
    answers.answers[9].id = answers.answers[8].id.clone();
    answers.answers[9].repeat = 2;
    let mut labels = labels(&answers, 30, &[]);
    labels
        .labels
        .push(label(&answers, 60, "ada", LabelVerdict::Pass));
    let unsure = |label: &mut Label| label.verdict = LabelVerdict::CannotSay;
    unsure(&mut labels.labels[3]);
    let found = decided(&answers, &labels, WhoCounts::Everybody).unwrap();
    let left_out: Vec<(&str, usize)> = found
        .left_out
        .iter()
        .map(|(reason, n)| (reason.as_str(), *n))
        .collect();
    assert_eq!(
        left_out,
        [
            ("another repetition of the question counts", 1),
            ("people cannot say", 1),
            ("the judge has no verdict", 1),
        ]
    );
    assert_eq!(found.answers.len(), 28);
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
        format!("{:#}", problems[0])
    };
    let version = damaged("\"schema_version\": 2", "\"schema_version\": 9");
    assert!(version.contains("has schema version 9"), "{version}");
    let counts = damaged("\"true_passes\": 19", "\"true_passes\": 190");
    assert!(
        counts.contains("more answers than `run.verdicts`"),
        "{counts}"
    );
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
            "calibration `{}` is of another judge (repeats: 1 -> 3)",
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
