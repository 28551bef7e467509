//! Which answers are drawn, which labels count, and who agrees.

use std::collections::BTreeSet;

use evals::CaseId;
use evals_metrics::Confusion;

use super::super::agreement::{pairs, people};
use super::super::answers::RunAnswers;
use super::super::current::{CurrentLabels, Stale};
use super::super::label::{Label, LabelVerdict};
use super::super::sample::{Method, Sample};
use super::super::texts::Digests;
use super::{label, run, sample, stored};

fn ids(run: &RunAnswers, sample: Sample) -> Vec<&str> {
    let drawn = sample.draw(&run.answers).into_iter();
    drawn.map(|it| run.answers[it.place].id.as_str()).collect()
}

#[test]
fn a_larger_sample_holds_the_smaller_one() {
    let run = run(60);
    for method in [Method::Random, Method::Stratified] {
        let mut before = BTreeSet::new();
        for size in 1..=59 {
            let drawn = ids(&run, sample(method, Some(size), 7));
            assert_eq!(drawn.len(), size);
            let drawn: BTreeSet<&str> = drawn.into_iter().collect();
            assert!(drawn.is_superset(&before), "{method:?} {size}");
            before = drawn;
        }
    }
    let ten = ids(&run, sample(Method::Random, Some(10), 7));
    assert_eq!(ids(&run, sample(Method::Random, None, 7))[..10], ten[..]);
    assert_ne!(ids(&run, sample(Method::Random, Some(10), 8)), ten);
}

/// 20 of 59 answers with a verdict failed.
#[test]
fn a_stratified_sample_is_half_and_half_and_knows_its_probabilities() {
    let run = run(60);
    let drawn = sample(Method::Stratified, Some(20), 1).draw(&run.answers);
    let of = |verdict: bool| {
        let of_verdict = |place: usize| run.answers[place].verdict == Some(verdict);
        drawn
            .iter()
            .filter(|it| of_verdict(it.place))
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!((of(true).len(), of(false).len()), (10, 10));
    assert!(
        of(true)
            .iter()
            .all(|it| (it.probability - 10.0 / 39.0).abs() < 1e-15)
    );
    assert!(
        of(false)
            .iter()
            .all(|it| (it.probability - 0.5).abs() < 1e-15)
    );

    let more = sample(Method::Stratified, Some(50), 1).draw(&run.answers);
    let fails = more
        .iter()
        .filter(|it| run.answers[it.place].verdict == Some(false));
    assert_eq!(fails.count(), 20, "all there are");
}

#[test]
fn answers_without_a_verdict_are_drawn_only_if_there_is_no_judge() {
    let mut run = run(10);
    assert!(!ids(&run, sample(Method::Random, None, 0)).contains(&"q9"));
    run.answers.iter_mut().for_each(|it| it.verdict = None);
    assert_eq!(ids(&run, sample(Method::Random, None, 0)).len(), 10);
}

#[test]
fn the_last_label_of_a_person_counts() {
    let run = run(9);
    let labels = stored(vec![
        label(&run, 2, "ada", LabelVerdict::Fail),
        label(&run, 1, "ada", LabelVerdict::Pass),
        label(&run, 2, "ben", LabelVerdict::Fail),
        label(&run, 2, "ada", LabelVerdict::Pass),
        label(&run, 3, "ada", LabelVerdict::Fail),
        label(&run, 4, "ada", LabelVerdict::CannotSay),
        label(&run, 8, "ada", LabelVerdict::Pass),
    ]);
    let current = CurrentLabels::of(&run, &labels);
    let found = people(&run, &current);
    let ada = &found[0];
    assert_eq!(
        ada.confusion,
        Confusion {
            true_passes: 2,
            true_fails: 1,
            ..Confusion::default()
        }
    );
    let counts = [
        ada.passes,
        ada.fails,
        ada.undecided,
        ada.unjudged,
        ada.missing,
    ];
    assert_eq!(counts, [3, 1, 1, 1, 4]);
    assert_eq!(found[1].labeller, "ben");
    assert_eq!(
        found[1].confusion.false_passes, 1,
        "ben fails what the judge passed"
    );
    let pairs = pairs(&run, &current);
    assert_eq!(pairs.len(), 1);
    assert_eq!(pairs[0].agreement.n, 1);
}

/// A judge that passed 39 and failed 20 answers. Ben says the same as Ada of the passes, and the opposite of the fails.
#[test]
fn the_agreement_of_people_is_that_of_the_run_and_not_of_a_stratified_sample() {
    let run = run(60);
    let sample = sample(Method::Stratified, Some(20), 1);
    let labels = |is_weighted: bool| {
        let drawn = sample.draw(&run.answers).into_iter().enumerate();
        let labels = drawn.flat_map(|(number, it)| {
            let verdicts = [LabelVerdict::Pass, LabelVerdict::Fail];
            let of_ada = verdicts[number % 2];
            let is_passed = run.answers[it.place].verdict == Some(true);
            let of_ben = verdicts[(number + usize::from(!is_passed)) % 2];
            [("ada", of_ada), ("ben", of_ben)].map(|(labeller, verdict)| {
                let mut label = label(&run, it.place, labeller, verdict);
                if is_weighted {
                    label.sampling = sample.sampling(it);
                }
                label
            })
        });
        stored(labels.collect())
    };
    for (is_weighted, expected) in [(true, 39.0 / 59.0), (false, 0.5)] {
        let labels = labels(is_weighted);
        let found = pairs(&run, &CurrentLabels::of(&run, &labels));
        assert_eq!(
            (found[0].is_weighted, found[0].agreement.n),
            (is_weighted, 20)
        );
        let agreement = found[0].agreement.agreement.unwrap().value;
        assert!((agreement - expected).abs() < 1e-12, "{agreement}");
    }
}

#[test]
fn a_label_about_something_else_is_stale_until_it_is_given_again() {
    let run = run(9);
    let changed = |change: &dyn Fn(&mut Digests)| {
        let mut label = label(&run, 2, "ada", LabelVerdict::Pass);
        change(&mut label.digests);
        label
    };
    let mut gone = label(&run, 2, "ada", LabelVerdict::Pass);
    gone.case = CaseId::from("gone");
    let reasons = [
        (changed(&|it| it.case.push('x')), Stale::Case),
        (changed(&|it| it.answer.push('x')), Stale::Answer),
        (changed(&|it| it.judge = None), Stale::Judge),
        (changed(&|it| it.prompt = None), Stale::Prompt),
        (gone, Stale::NoAnswer),
    ];
    for (stale, reason) in reasons {
        let labels = stored(vec![stale.clone()]);
        let current = CurrentLabels::of(&run, &labels);
        assert!(current.people.is_empty());
        assert_eq!(current.stale.into_iter().collect::<Vec<_>>(), [(reason, 1)]);

        let again = stored(vec![stale, label(&run, 2, "ada", LabelVerdict::Fail)]);
        let current = CurrentLabels::of(&run, &again);
        let is_replaced = reason != Stale::NoAnswer;
        assert_eq!(current.stale.is_empty(), is_replaced);
        assert_eq!(current.people["ada"].len(), 1);
    }
}

#[test]
fn labels_of_another_measure_are_apart() {
    let run = run(9);
    let mut other = label(&run, 2, "ada", LabelVerdict::Pass);
    other.measure = Some("polite".to_owned());
    let labels = stored(vec![other, label(&run, 2, "ada", LabelVerdict::Fail)]);
    let current = CurrentLabels::of(&run, &labels);
    assert_eq!(current.of_other_measures, 1);
    assert_eq!(people(&run, &current)[0].fails, 1);
}

#[test]
fn a_label_after_the_judges_verdict_was_shown_is_not_blind() {
    let run = run(9);
    let mut seen = label(&run, 2, "ada", LabelVerdict::Pass);
    seen.revealed = true;
    let known = [seen];
    let blind = |place, labeller| {
        label(&run, place, labeller, LabelVerdict::Fail)
            .after(&known)
            .blind
    };
    assert!(!blind(2, "ada"));
    assert!(blind(2, "ben") && blind(3, "ada"));

    let noted = Label {
        note: "an afterthought".to_owned(),
        ..label(&run, 2, "ada", LabelVerdict::Pass)
    };
    assert!(
        noted.after(&known).blind,
        "the verdict is still the one given blind"
    );
    let changed = label(&run, 2, "ada", LabelVerdict::Fail).after(&known);
    let [seen] = known;
    let back = label(&run, 2, "ada", LabelVerdict::Pass).after(&[seen, changed]);
    assert!(!back.blind);
}
