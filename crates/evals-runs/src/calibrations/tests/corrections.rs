//! Tests of corrections of pass rates.

use evals_metrics::Confusion;
use evals_rag::Prompt;
use evals_rag::rag_judges::Rule;

use super::super::calibration::{Calibration, Drawing};
use super::super::correction::{Correction, Method, OtherData};
use super::super::decided::WhoCounts;
use super::super::judged_run::JudgedRun;
use super::{calibration, decided, judged, labels, other_run, recorded};
use crate::annotations::Method as Drawn;
use crate::annotations::tests::run;

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
        "a different judge (the calibrated run does not record its panel, prompts and criteria)"
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
        "a different judge (repeats: 1 -> 3)"
    );
    assert_eq!(
        refused(&|run| recorded(run).rule = Some(Rule::Unanimous)),
        "a different judge (rule: not set -> \"unanimous\")"
    );
    assert_eq!(
        refused(&|run| recorded(run).prompts.clear()),
        "a different judge (prompts.judge.md.jinja: \"PROMPT\" -> not set)"
            .replace("PROMPT", &Prompt::judge().digest()[..16])
    );
    assert_eq!(
        refused(&|run| run.judge.by = None),
        "a different judge (this run does not record its panel, prompts and criteria)"
    );
    assert_eq!(
        refused(&|run| run.judge.measure = "polite".to_owned()),
        "a different judge (measure: equivalent -> polite)"
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

/// With so few labels, the rates could be those of a judge that guesses, and then the interval is all of 0 to 1.
#[test]
fn an_interval_of_every_rate_is_a_reason_and_no_estimate() {
    let answers = run(61);
    let found = Calibration {
        labels: Confusion {
            true_passes: 6,
            false_passes: 5,
            false_fails: 4,
            true_fails: 6,
        },
        ..calibration(&answers, &labels(&answers, 30, &[0, 1]))
    };
    let other = other_run(&judged(&answers), 620, 380);
    let correction = Correction::of(&found, &other, OtherData::Refused).unwrap();
    let reason = correction.headline().unwrap_err();
    assert_eq!(
        reason,
        "every rate from 0 to 1 is possible, because 21 labels do not show that the judge is better than chance (TPR 0.60, TNR 0.55, \
         which add up to 1 for a judge that guesses)"
    );
    let table = correction.table();
    assert_eq!(table.rows[1], ["corrected (Rogan-Gladen)", "–", "", ""]);
    assert!(table.notes[0].ends_with(reason), "{}", table.notes[0]);
}

#[test]
fn answers_that_people_cannot_decide_limit_what_the_rate_is_of() {
    let answers = run(61);
    let mut found = calibration(&answers, &labels(&answers, 30, &[0, 1]));
    let limits = |found: &Calibration| {
        let correction = Correction::of(found, &judged(&answers), OtherData::Refused).unwrap();
        let mut assumptions = correction.assumptions.into_iter();
        assumptions.find(|it| it.contains("cannot say"))
    };
    assert_eq!(limits(&found), None);
    for (reason, number) in [
        ("people cannot say", 2),
        ("people are divided equally", 5),
        ("the judge has no verdict", 100),
    ] {
        found.left_out.insert(reason.to_owned(), number);
    }
    let expected = "7 labelled answers are left out, because people cannot say or are divided: the rate covers only the others";
    assert_eq!(limits(&found).as_deref(), Some(expected));
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
