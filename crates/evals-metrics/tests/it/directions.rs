//! The direction that a test finds, and whether its p value is exact.

use std::cmp::Ordering;

use evals_metrics::{
    Alternative, ChangePointTest, ClusterCorrection, Clusters, PairedTest, TestResult,
    exact_mcnemar, paired_t, sign_test, wilcoxon,
};

const TWO_SIDED: Alternative = Alternative::TwoSided;

/// 30 small gains and two large losses: the mean is (3 - 10) / 32.
fn mostly_gains() -> Vec<f64> {
    let mut differences = vec![0.1; 30];
    differences.extend([-5.0; 2]);
    differences
}

#[test]
fn ranks_and_signs_may_point_away_from_the_mean() {
    let differences = mostly_gains();
    let sign = sign_test(&differences, TWO_SIDED).unwrap();
    let ranks = wilcoxon(&differences, TWO_SIDED).unwrap();
    let mean = paired_t(&differences, TWO_SIDED).unwrap();
    assert_eq!(sign.direction(), Some(Ordering::Greater), "30 of 32 rose");
    // The ranks 1 to 30 are those of gains, 465 of 528.
    assert_eq!(
        (ranks.statistic, ranks.direction()),
        (465.0, Some(Ordering::Greater))
    );
    assert_eq!(mean.direction(), Some(Ordering::Less));
    assert!(sign.p_value < 1e-6 && ranks.p_value < 1e-3);
}

#[test]
fn opposite_differences_have_the_opposite_direction_and_balanced_ones_none() {
    let reversed: Vec<f64> = mostly_gains().iter().map(|it| -it).collect();
    let balanced = [0.25, -0.25, 0.5, -0.5];
    for test in [sign_test, wilcoxon] {
        let of = |differences: &[f64]| test(differences, TWO_SIDED).unwrap().direction();
        assert_eq!(of(&reversed), Some(Ordering::Less));
        assert_eq!(of(&balanced), Some(Ordering::Equal));
    }
    let verdicts = |gained, lost| exact_mcnemar(gained, lost, TWO_SIDED).unwrap().direction();
    assert_eq!(verdicts(3, 1), Some(Ordering::Greater));
    assert_eq!(verdicts(1, 3), Some(Ordering::Less));
    assert_eq!(verdicts(2, 2), Some(Ordering::Equal));
}

/// `count` clusters of two values each. All values fell.
fn clusters(count: u32) -> Clusters {
    let values = (0..2 * count).map(|case| (case / 2, -0.1 - f64::from(case % 7) / 10.0));
    Clusters::new(values)
}

#[test]
fn tests_of_clusters_have_the_direction_of_the_mean() {
    let swapped = clusters(12).randomization_test(&PairedTest::default());
    let t = clusters(12).t_test(ClusterCorrection::Cr2, TWO_SIDED);
    for result in [swapped, t] {
        assert_eq!(result.unwrap().direction(), Some(Ordering::Less));
    }
}

#[test]
fn a_p_value_is_exact_where_all_signs_count() {
    let is_exact = |result: Result<TestResult, _>| result.unwrap().is_exact;
    let of_clusters = |count| clusters(count).randomization_test(&PairedTest::default());
    assert!(is_exact(of_clusters(20)));
    assert!(!is_exact(of_clusters(21)), "2^21 signs are too many");
    let rising: Vec<f64> = (1..=26).map(f64::from).collect();
    assert!(is_exact(wilcoxon(&rising[..25], TWO_SIDED)));
    assert!(
        !is_exact(wilcoxon(&rising, TWO_SIDED)),
        "the normal approximation"
    );
    assert!(is_exact(sign_test(&rising, TWO_SIDED)));
    assert!(!is_exact(paired_t(&rising, TWO_SIDED)));
}

#[test]
fn a_change_point_compares_no_pairs() {
    let values = [0.7, 0.71, 0.7, 0.72, 0.5, 0.52, 0.5, 0.51];
    let found = ChangePointTest::default().find(&values).unwrap();
    assert_eq!(found.test.direction(), None);
}
