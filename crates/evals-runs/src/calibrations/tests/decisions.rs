//! Tests of whose labels decide, and of labels that are left out.

use super::super::decided::{DecidedBy, WhoCounts};
use super::super::disagreement::Disagreement;
use super::{decided, labels, verdict};
use crate::annotations::tests::{label, run};
use crate::annotations::{Label, LabelVerdict};

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
