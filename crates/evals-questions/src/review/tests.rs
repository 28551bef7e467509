use evals_metrics::Xoshiro256PlusPlus;

use super::*;
use crate::Kind;

/// Questions of some kinds, numbered.
fn items(kinds: &[(Kind, usize)]) -> Vec<Item> {
    let kinds = kinds.iter();
    let kinds = kinds.flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
    kinds
        .enumerate()
        .map(|(number, kind)| Item::new(format!("q{number}"), format!("What is {number}?"), kind))
        .collect()
}

fn review(id: &str, verdict: ReviewVerdict, seed: Option<u64>) -> Review {
    Review {
        id: id.to_owned(),
        verdict,
        defect: None,
        question: (verdict == ReviewVerdict::Edit).then(|| "What else?".to_owned()),
        answer: None,
        author: "Ada".to_owned(),
        time: "2026-05-01T12:00:00Z".to_owned(),
        seed,
    }
}

fn ids<'i>(sample: &[&'i Item]) -> Vec<&'i str> {
    sample.iter().map(|item| item.id.as_str()).collect()
}

const MIX: [(Kind, usize); 3] = [(Kind::SingleFact, 70), (Kind::Number, 28), (Kind::YesNo, 2)];

#[test]
fn a_larger_sample_contains_a_smaller_one_and_every_kind() {
    let set = items(&MIX);
    let mut before: Vec<&str> = Vec::new();
    for count in 0..=110 {
        let drawn = sample(&set, count, 7);
        assert_eq!(drawn.len(), count.clamp(3, 100));
        let drawn = ids(&drawn);
        assert!(before.iter().all(|id| drawn.contains(id)), "{count}");
        before = drawn;
    }
    let of = |kind| {
        sample(&set, 50, 7)
            .iter()
            .filter(|it| it.kind == kind)
            .count()
    };
    assert_eq!(
        (of(Kind::SingleFact), of(Kind::Number), of(Kind::YesNo)),
        (35, 14, 1)
    );
    assert_ne!(ids(&sample(&set, 50, 7)), ids(&sample(&set, 50, 8)));
    assert!(sample(&[], 50, 7).is_empty());
}

#[test]
fn the_last_review_of_a_question_is_applied() {
    let set = items(&[(Kind::SingleFact, 3)]);
    let reviews = [
        review("q0", ReviewVerdict::Drop, None),
        review("q1", ReviewVerdict::Edit, None),
        review("q2", ReviewVerdict::Drop, None),
        review("q0", ReviewVerdict::Keep, None),
        review("another set's", ReviewVerdict::Drop, None),
    ];
    let current = current(&reviews);
    let mut left = set.clone();
    left.retain_mut(|item| {
        let review = current.get(item.id.as_str());
        let mut answer = Some(item.answer.clone());
        review.is_none_or(|review| review.apply(&mut item.question, &mut answer))
    });
    assert_eq!(left[0], set[0]);
    assert_eq!(
        (left[1].id.as_str(), left[1].question.as_str()),
        ("q1", "What else?")
    );
    assert_eq!(left.len(), 2);
}

#[test]
fn rates_weigh_kinds_by_their_size() {
    let set = items(&[
        (Kind::SingleFact, 60),
        (Kind::Number, 30),
        (Kind::YesNo, 10),
    ]);
    let mut reviews: Vec<Review> = (0..10)
        .map(|number| {
            let verdict = if number < 2 {
                ReviewVerdict::Edit
            } else {
                ReviewVerdict::Keep
            };
            review(&format!("q{number}"), verdict, Some(7))
        })
        .collect();
    reviews.extend((60..70).map(|number| {
        let verdict = if number < 65 {
            ReviewVerdict::Drop
        } else {
            ReviewVerdict::Keep
        };
        review(&format!("q{number}"), verdict, Some(7))
    }));
    // Picked by a person because it looked wrong, so it says nothing about the others.
    reviews.push(review("q99", ReviewVerdict::Drop, None));
    let rates = DefectRates::of(&set, &reviews).unwrap();
    assert_eq!(rates.missing, [Kind::YesNo]);
    // (60 × 0.2 + 30 × 0.5) / 90.
    assert!((rates.all.rate - 0.3).abs() < 1e-12);
    assert_eq!(
        (rates.all.questions, rates.all.reviewed, rates.all.defective),
        (90, 20, 7)
    );
    // 90² / (60² / 10 + 30² / 10) = 18, times 89 / 70; scipy 1.17.1 as in the tests of Wilson's interval.
    let interval = evals_metrics::wilson_of_effective(0.3, 18.0 * 89.0 / 70.0, 0.95);
    assert!(
        (rates.all.low - interval.low).abs() < 1e-12
            && (rates.all.high - interval.high).abs() < 1e-12
    );
    assert!((rates.kinds[1].rate - 0.5).abs() < 1e-12);

    let all: Vec<Review> = set
        .iter()
        .map(|it| review(&it.id, ReviewVerdict::Drop, Some(1)))
        .collect();
    let all = DefectRates::of(&set, &all).unwrap().all;
    assert_eq!((all.low, all.rate, all.high), (1.0, 1.0, 1.0));
    assert_eq!(DefectRates::of(&set, &[]), None);

    // Without a drawing, reviews count only if every question has one.
    let mut picked: Vec<Review> = set
        .iter()
        .map(|it| review(&it.id, ReviewVerdict::Keep, None))
        .collect();
    let all = DefectRates::of(&set, &picked).unwrap().all;
    assert_eq!((all.reviewed, all.low, all.high), (100, 0.0, 0.0));
    picked.pop();
    assert_eq!(DefectRates::of(&set, &picked), None);
}

/// In 2,000 sets with eight kinds of different quality, of which a quarter is reviewed.
#[test]
fn intervals_cover_the_rate_of_the_set() {
    let settings = crate::QuestionSettings::default();
    let kinds: Vec<_> = settings.mix.into_keys().map(|kind| (kind, 25)).collect();
    let set = items(&kinds);
    let mut random = Xoshiro256PlusPlus::seeded(5);
    let mut covered = 0;
    for seed in 0..2_000 {
        let is_defective: Vec<bool> = (0..set.len())
            .map(|place| random.share() < 0.04 + 0.04 * evals_metrics::as_f64(place / 25))
            .collect();
        let truth = is_defective.iter().filter(|it| **it).count();
        let truth = evals_metrics::as_f64(truth) / evals_metrics::as_f64(set.len());
        let reviews = sample(&set, 50, seed).into_iter().map(|item| {
            let place: usize = item.id[1..].parse().unwrap();
            let verdict = if is_defective[place] {
                ReviewVerdict::Drop
            } else {
                ReviewVerdict::Keep
            };
            review(&item.id, verdict, Some(seed))
        });
        let all = DefectRates::of(&set, &reviews.collect::<Vec<_>>())
            .unwrap()
            .all;
        covered += usize::from(all.low <= truth && truth <= all.high);
    }
    assert!((1_880..=1_970).contains(&covered), "{covered} of 2,000");
}

#[test]
fn a_review_is_new_unless_its_author_just_said_the_same() {
    let keep = review("q0", ReviewVerdict::Keep, None);
    let later = Review {
        time: "2027-01-01T00:00:00Z".to_owned(),
        ..keep.clone()
    };
    let gone = review("q0", ReviewVerdict::Drop, None);
    let others = review("q1", ReviewVerdict::Drop, None);
    assert!(keep.is_new(&[]));
    assert!(!later.is_new(&[keep.clone(), others]));
    assert!(later.is_new(&[keep, gone]));
}
