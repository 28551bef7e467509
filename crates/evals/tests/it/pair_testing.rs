//! Tests of how differences are tested: the direction of a verdict, clusters, and tests that do not run.

use evals::{
    ClusterKey, Direction, MeasureChange, PairOutcome, PairTest, PairTesting, Report, Standings,
    Verdict,
};
use evals_metrics::IntervalMethod;
use serde_json::json;

use crate::compared::{Compared, by, in_one_line, printed, printed_standings, standings_of};
use crate::fakes::{Words, finished, report, score};
use crate::topics::{Topics, with_metadata};

/// The values of 32 cases before and after: 30 small gains and two large losses, so that the mean falls.
fn gains_and_losses() -> [Vec<f64>; 2] {
    let before = (0..32).map(|case| f64::from(case % 5) / 10.0 + 0.5);
    let before: Vec<f64> = before.collect();
    let after = before.iter().enumerate();
    let after = after.map(|(case, value)| if case < 30 { value + 0.01 } else { value - 0.5 });
    [before.clone(), after.collect()]
}

fn scored(values: &[f64], better: Direction) -> Report<Words> {
    let cases = values.iter().enumerate().map(|(number, value)| {
        let mut score = score("RR@5", *value);
        score.better = better;
        finished(&format!("q{number:02}"), vec![score])
    });
    report(cases.collect())
}

#[test]
fn a_verdict_has_the_direction_of_its_test_rather_than_of_the_mean() {
    for (better, won) in [
        (Direction::Higher, Verdict::Better),
        (Direction::Lower, Verdict::Worse),
    ] {
        let [before, after] = gains_and_losses().map(|values| scored(&values, better));
        let compared = Compared::of(&before, &after);
        for method in [PairTest::Sign, PairTest::Wilcoxon] {
            let change = compared.change_by(by(method));
            let measure = &change.measures[0];
            assert!(measure.difference.as_ref().unwrap().difference < 0.0);
            assert_eq!(measure.finding.verdict, won, "{method:?} {better:?}");
            let page = in_one_line(&printed(&change));
            let note = "the verdict contradicts the change of the mean: RR@5.";
            assert!(page.contains(note), "{page}");
        }
        // The mean of the differences is not far enough from 0 for tests of the mean.
        for method in [PairTest::Randomization, PairTest::T] {
            let change = compared.change_by(by(method));
            assert_eq!(change.measures[0].finding.verdict, Verdict::Unclear);
            assert!(!printed(&change).contains("contradicts"));
        }
    }
}

#[test]
fn a_test_in_the_direction_of_the_mean_has_no_note() {
    let before = scored(&[0.5; 32], Direction::Higher);
    let after = scored(&[0.4; 32], Direction::Higher);
    for method in [PairTest::Sign, PairTest::Wilcoxon, PairTest::Randomization] {
        let change = Compared::of(&before, &after).change_by(by(method));
        assert_eq!(change.measures[0].finding.verdict, Verdict::Worse);
        assert!(!printed(&change).contains("contradicts"));
    }
}

#[test]
fn several_runs_are_told_apart_in_the_direction_of_the_test() {
    let [before, after] = gains_and_losses().map(|values| scored(&values, Direction::Higher));
    let runs = [("old", &before), ("new", &after), ("copy", &before)];
    let found = standings_of(&runs, by(PairTest::Sign), &[]);
    let measure = &found.measures[0];
    let verdict = |first, second| measure.pair(first, second).unwrap().finding.verdict;
    assert_eq!(verdict(0, 1), Verdict::Better, "new against old");
    assert_eq!(verdict(1, 2), Verdict::Worse, "copy against new");
    assert_eq!(verdict(0, 2), Verdict::Same);
    assert_eq!(
        measure.standings[0].report, 0,
        "the order is that of the means"
    );
    let page = in_one_line(&printed_standings(&found, 200));
    for note in [
        "differ, against means",
        "RR@5: old and copy have the best mean, and the sign test favours new over it",
        "against the means of RR@5, the sign test favours new over old, new over copy. The sign test counts",
    ] {
        assert!(page.contains(note), "{note}: {page}");
    }
}

/// 24 documents with five questions each, which gain or lose together.
fn documents(gain: f64) -> Report<Topics> {
    let case = |number: u32| {
        let document = number / 5;
        let luck = f64::from(document * 7 % 11) / 20.0 - 0.2;
        let value = 0.4 + f64::from(number % 3) / 50.0 + gain * (1.0 + luck);
        let case = finished(&format!("q{number:03}"), vec![score("RR@5", value)]);
        (case, json!({"document": document, "dataset": "one"}))
    };
    with_metadata((0..120).map(case).collect())
}

/// The report with its cases in clusters by a key of their metadata.
fn clustered(mut report: Report<Topics>, key: &str) -> Report<Topics> {
    report
        .cluster_by(&ClusterKey::Metadata(key.to_owned()))
        .unwrap();
    report
}

#[test]
fn clusters_widen_the_intervals_of_differences_and_means() {
    let runs = [0.0, 0.3, 0.1].map(documents);
    let named = [("a", &runs[0]), ("b", &runs[1]), ("c", &runs[2])];
    let alone = standings_of(&named, by(PairTest::T), &["dataset"]);
    let clustered = runs.clone().map(|run| clustered(run, "document"));
    let named = [
        ("a", &clustered[0]),
        ("b", &clustered[1]),
        ("c", &clustered[2]),
    ];
    let together = standings_of(&named, by(PairTest::T), &["dataset"]);
    let width = |interval: &evals_metrics::Interval| interval.high - interval.low;
    let [one, other] = [&alone, &together].map(|found| {
        let measure = &found.measures[0];
        let of_b = measure.standings.iter().find(|it| it.report == 1).unwrap();
        let group = &found.groups[0].groups[0].measures[0].means[1];
        let difference = measure.pair(0, 1).unwrap().difference.interval.unwrap();
        [of_b.interval.unwrap(), group.interval.unwrap(), difference]
    });
    for (alone, together) in one.iter().zip(&other) {
        assert_eq!(alone.method, IntervalMethod::StudentT);
        assert_eq!(together.method, IntervalMethod::ClusterCr2);
        assert!(
            width(together) > 1.5 * width(alone),
            "{alone:?} {together:?}"
        );
    }
}

#[test]
fn an_effect_of_cases_in_clusters_has_no_interval() {
    let [before, after] = [0.0, 0.3].map(documents);
    let effect = |before, after| {
        let change = Compared::of(before, after).change_by(by(PairTest::T));
        change.measures[0].finding.effect.unwrap()
    };
    let alone = effect(&before, &after);
    let in_clusters = clustered(after.clone(), "document");
    let together = effect(&before, &in_clusters);
    let page = in_one_line(&printed(&Compared::of(&before, &in_clusters).change()));
    let test = "(paired t test by clusters of one `document`)";
    assert!(page.contains(test), "{page}");
    assert!(alone.interval.is_some());
    assert_eq!(together.interval, None);
    assert!((alone.value - together.value).abs() < 1e-12);
}

#[test]
fn few_swapped_clusters_have_an_exact_p_value_and_many_have_not() {
    let exact = |cases: usize| {
        let [mut before, mut after] = [0.0, 0.3].map(documents);
        before.cases.truncate(cases);
        after.cases.truncate(cases);
        let after = clustered(after, "document");
        let change = Compared::of(&before, &after).change_by(by(PairTest::Randomization));
        change.measures[0].difference.as_ref().unwrap().is_exact
    };
    assert!(exact(20 * 5));
    assert!(!exact(21 * 5));
}

#[test]
fn a_note_warns_of_few_clusters() {
    let warned = |cases: usize| {
        let runs = [0.0, 0.3, 0.1].map(|shift| {
            let mut run = documents(shift);
            run.cases.truncate(cases);
            clustered(run, "document")
        });
        let [before, after, _] = &runs;
        let change = Compared::of(before, after).change_by(by(PairTest::T));
        let several = three(runs.each_ref(), by(PairTest::T));
        let pages = [printed(&change), printed_standings(&several, 200)];
        pages.map(|page| in_one_line(&page).contains("only 9 clusters: below 10, intervals and p"))
    };
    assert_eq!(warned(9 * 5), [true; 2]);
    assert_eq!(warned(10 * 5), [false; 2]);
}

#[test]
fn tests_of_ranks_and_signs_say_that_they_have_no_form_for_clusters() {
    let [before, after] = [0.0, 0.3].map(|gain| clustered(documents(gain), "document"));
    for method in [PairTest::Sign, PairTest::Wilcoxon] {
        let change = Compared::of(&before, &after).change_by(by(method));
        let finding = &change.measures[0].finding;
        assert_eq!(finding.verdict, Verdict::None);
        let reason = "this test has no form for cases in clusters";
        assert_eq!(finding.untested.as_deref(), Some(reason));
    }
}

fn three<D: evals::Domain>(runs: [&Report<D>; 3], test: PairTesting) -> Standings {
    let [one, two, three] = runs;
    standings_of(&[("a", one), ("b", two), ("c", three)], test, &[])
}

#[test]
fn runs_without_a_test_are_not_called_equally_good() {
    let runs = [0.0, 0.3, 0.1].map(documents);
    let clustered = runs.clone().map(|run| clustered(run, "dataset"));
    let runs = runs.each_ref();
    let one_cluster = three(clustered.each_ref(), by(PairTest::T));
    let page = in_one_line(&printed_standings(&one_cluster, 200));
    let note = "without a p value (all values are in one cluster): it may be chance";
    assert!(page.contains(note), "{page}");
    assert!(page.contains("RR@5: b leads c by "), "{page}");

    let same = three([runs[0]; 3], by(PairTest::Randomization));
    let page = in_one_line(&printed_standings(&same, 200));
    let note = "RR@5: a, b and c are equal in every case";
    assert!(page.contains(note), "{page}");
}

#[test]
fn a_measure_that_no_case_changed_in_is_no_test_with_any_method() {
    let side = |value: f64| {
        let case = |number: u32| {
            let scores = vec![
                score("same", 0.5),
                score("RR@5", value + f64::from(number) / 100.0),
            ];
            finished(&format!("q{number}"), scores)
        };
        report((0..10).map(case).collect())
    };
    let after = {
        let mut after = side(0.2);
        for (number, case) in after.cases.iter_mut().enumerate() {
            let gain = if number < 8 { 0.1 } else { -0.05 };
            let evals::Value::Score(value) = &mut case.outcomes[1].value else {
                unreachable!("a score")
            };
            *value += gain;
        }
        after
    };
    let before = side(0.2);
    for method in [
        PairTest::Randomization,
        PairTest::T,
        PairTest::Wilcoxon,
        PairTest::Sign,
    ] {
        let change = Compared::of(&before, &after).change_by(by(method));
        let find = |name: &str| -> &MeasureChange {
            change
                .measures
                .iter()
                .find(|it| it.measure == name)
                .unwrap()
        };
        let same = &find("same").finding;
        assert_eq!((same.verdict, same.adjusted_p_value), (Verdict::Same, None));
        assert_eq!(same.untested, None, "{method:?}");
        let changed = find("RR@5");
        let p_value = changed.difference.as_ref().unwrap().p_value;
        assert_eq!(changed.finding.adjusted_p_value, p_value, "{method:?}");
    }
}

#[test]
fn findings_keep_their_names_in_files() {
    let [before, after] = gains_and_losses().map(|values| scored(&values, Direction::Higher));
    let change = Compared::of(&before, &after).change();
    let json = serde_json::to_value(&change.measures[0]).unwrap();
    for name in ["adjusted_p_value", "verdict", "effect", "detectable"] {
        assert!(!json[name].is_null(), "{name}");
    }
    assert_eq!(
        serde_json::from_value::<MeasureChange>(json).unwrap(),
        change.measures[0]
    );
    let standings = three([&before, &after, &before], PairTesting::default());
    let json = serde_json::to_value(&standings.measures[0].pairs[0]).unwrap();
    for name in [
        "first",
        "second",
        "difference",
        "adjusted_p_value",
        "verdict",
    ] {
        assert!(json.get(name).is_some(), "{name}");
    }
    let pair: PairOutcome = serde_json::from_value(json).unwrap();
    assert_eq!(pair, standings.measures[0].pairs[0]);
}
