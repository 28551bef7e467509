//! Rank correlations against scipy, and against all ways to break ties.

use evals_metrics::{Bootstrap, NoStatistic, kendalls_tau, rank_agreement, tau_ap};
use proptest::prelude::*;

use crate::golden_rows::{assert_close, number, numbers, rows};

/// Written by `golden/pool.py`.
const GOLDEN: &str = include_str!("../golden/pool.jsonl");

#[test]
fn kendalls_tau_equals_scipy() {
    let rows = rows(GOLDEN, "tau");
    assert!(rows.len() >= 15);
    for row in rows {
        let tau = kendalls_tau(&numbers(&row["one"]), &numbers(&row["other"])).unwrap();
        assert_close(tau, number(&row["tau"]), &row);
    }
}

/// The formula of Yilmaz, Aslam and Robertson for two rankings without ties, as lists of places.
fn tau_ap_of_places(truth: &[usize], estimated: &[usize]) -> f64 {
    let as_f64 = |count: usize| f64::from(u32::try_from(count).unwrap());
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by_key(|&system| estimated[system]);
    let right = (1..order.len()).map(|rank| {
        let above = order[..rank].iter();
        let right = above.filter(|&&above| truth[above] < truth[order[rank]]);
        as_f64(right.count()) / as_f64(rank)
    });
    2.0 * right.sum::<f64>() / as_f64(truth.len() - 1) - 1.0
}

/// Every ranking that breaks the ties of scores, as lists of places.
fn broken(scores: &[u8]) -> Vec<Vec<usize>> {
    fn place(scores: &[u8], order: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        if order.len() == scores.len() {
            let mut places = vec![0; scores.len()];
            for (rank, &system) in order.iter().enumerate() {
                places[system] = rank;
            }
            found.push(places);
            return;
        }
        let left: Vec<usize> = (0..scores.len()).filter(|it| !order.contains(it)).collect();
        let best = left.iter().map(|&system| scores[system]).max().unwrap();
        for system in left.into_iter().filter(|&system| scores[system] == best) {
            order.push(system);
            place(scores, order, found);
            order.pop();
        }
    }
    let mut found = Vec::new();
    place(scores, &mut Vec::new(), &mut found);
    found
}

proptest! {
    #[test]
    fn ties_of_tau_ap_are_the_mean_over_all_orders(pairs in proptest::collection::vec((0_u8..4, 0_u8..4), 2..6)) {
        let (truth, estimated): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
        let as_scores = |grades: &[u8]| grades.iter().map(|&grade| f64::from(grade)).collect::<Vec<_>>();
        let Ok(found) = tau_ap(&as_scores(&truth), &as_scores(&estimated)) else { return Ok(()) };
        let orders: Vec<f64> = broken(&truth).iter()
            .flat_map(|truth| broken(&estimated).into_iter().map(move |estimated| tau_ap_of_places(truth, &estimated)))
            .collect();
        let mean = orders.iter().sum::<f64>() / f64::from(u32::try_from(orders.len()).unwrap());
        prop_assert!((found - mean).abs() < 1e-12, "{found} instead of {mean}");
    }
}

#[test]
fn the_ends_are_equal_and_opposite_rankings() {
    let scores = [0.9, 0.5, 0.4, 0.1];
    let opposite = [0.1, 0.2, 0.3, 0.4];
    assert_eq!(kendalls_tau(&scores, &scores), Ok(1.0));
    assert_eq!(tau_ap(&scores, &scores), Ok(1.0));
    assert_eq!(kendalls_tau(&scores, &opposite), Ok(-1.0));
    assert_eq!(tau_ap(&scores, &opposite), Ok(-1.0));
}

#[test]
fn what_cannot_be_correlated_has_a_reason() {
    for correlation in [kendalls_tau, tau_ap] {
        assert_eq!(correlation(&[], &[]), Err(NoStatistic::NoValues));
        assert_eq!(correlation(&[1.0], &[1.0]), Err(NoStatistic::OneValue));
        assert_eq!(correlation(&[1.0, 2.0], &[1.0]), Err(NoStatistic::Shape));
        assert_eq!(
            correlation(&[1.0, 2.0], &[1.0, 1.0]),
            Err(NoStatistic::NoSpread)
        );
        assert_eq!(
            correlation(&[1.0, f64::NAN], &[1.0, 2.0]),
            Err(NoStatistic::NotFinite)
        );
    }
    let settings = Bootstrap::default();
    let ragged = [vec![1.0, 2.0], vec![1.0]];
    let even = [vec![1.0, 2.0], vec![1.0, 3.0]];
    assert_eq!(
        rank_agreement(&ragged, &even, &settings),
        Err(NoStatistic::Shape)
    );
    assert_eq!(
        rank_agreement(&even[..1], &even, &settings),
        Err(NoStatistic::Shape)
    );
    assert_eq!(
        rank_agreement(&[], &[], &settings),
        Err(NoStatistic::NoValues)
    );
}

/// Three systems over four questions. By people, the first is ahead of the second in two questions and behind in none.
#[test]
fn the_interval_is_over_questions() {
    let people = [
        vec![1.0, 1.0, 0.5, 0.5],
        vec![1.0, 0.0, 0.5, 0.0],
        vec![0.0, 0.0, 0.2, 0.1],
    ];
    let model = [
        vec![0.5, 0.5, 0.5, 0.5],
        vec![0.9, 0.2, 0.9, 0.2],
        vec![0.0, 0.1, 0.0, 0.1],
    ];
    let settings = Bootstrap {
        resamples: 2_000.try_into().unwrap(),
        ..Bootstrap::default()
    };
    let found = rank_agreement(&people, &model, &settings).unwrap();
    assert!(
        (found.tau.value - 1.0 / 3.0).abs() < 1e-12,
        "{:?}",
        found.tau
    );
    assert!(found.tau_ap.value.abs() < 1e-12, "{:?}", found.tau_ap);
    let interval = found.tau.interval.unwrap();
    assert_eq!((interval.low.max(0.3), interval.high), (1.0_f64 / 3.0, 1.0));
    assert_eq!(found, rank_agreement(&people, &model, &settings).unwrap());

    let same = rank_agreement(&people, &people, &settings).unwrap();
    assert_eq!(
        (same.tau.value, same.tau.interval),
        (1.0, None),
        "no resample differs"
    );
}
