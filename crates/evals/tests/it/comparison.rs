//! Comparisons: winners, ties and missing values.

use std::time::Duration;

use evals::{
    CaseOutcome, Cell, Comparison, Direction, EvaluatorFailure, EvaluatorOrigin, FailureKind, Row,
    Summary, Unit,
};
use evals_metrics::Bootstrap;

use crate::fakes::{finished, report, score, timing, undefined};

/// A report of 20 cases with these scores and durations.
fn summary(scores: &[(&str, f64)], micros: u64) -> Summary {
    let cases = (0..20).map(|number| {
        let mut case = finished(
            &number.to_string(),
            scores
                .iter()
                .map(|(name, value)| score(name, *value))
                .collect(),
        );
        case.duration = Duration::from_micros(micros);
        case.timings = vec![timing("search", micros, false)];
        case
    });
    report(cases.collect()).summary(&Bootstrap::default())
}

fn row<'a>(comparison: &'a Comparison, measure: &str) -> &'a Row {
    comparison
        .rows
        .iter()
        .find(|row| row.measure == measure)
        .unwrap()
}

#[test]
fn the_higher_score_and_the_lower_time_win() {
    let (slow, fast) = (
        summary(&[("RR", 0.7)], 2_000),
        summary(&[("RR", 0.6)], 1_000),
    );
    let comparison = Comparison::new(&[("semantic", &slow), ("bm25", &fast)]);
    let titles = comparison.reports.iter().map(|report| &report.title);
    assert_eq!(titles.collect::<Vec<_>>(), ["semantic", "bm25"]);
    assert_eq!(row(&comparison, "RR").winner, Some(0));
    assert_eq!(row(&comparison, "task (wall) p50").winner, Some(1));
    assert_eq!(
        row(&comparison, "search p50").winner,
        None,
        "a stage is a part of the time"
    );
}

#[test]
fn values_that_print_alike_are_a_tie() {
    let (left, right) = (
        summary(&[("RR", 0.687_11)], 1_000),
        summary(&[("RR", 0.687_14)], 1_010),
    );
    let comparison = Comparison::new(&[("left", &left), ("right", &right)]);
    assert_eq!(row(&comparison, "RR").winner, None);
    assert_eq!(
        row(&comparison, "task (wall) p50").winner,
        None,
        "both print as 1.0 ms"
    );
}

#[test]
fn a_tie_of_the_best_two_has_no_winner_even_above_a_third() {
    let (high, low) = (
        summary(&[("RR", 0.7)], 1_000),
        summary(&[("RR", 0.1)], 1_000),
    );
    let comparison = Comparison::new(&[("a", &high), ("b", &low), ("c", &high)]);
    assert_eq!(row(&comparison, "RR").winner, None);
}

#[test]
fn a_measure_that_one_report_lacks_says_so_and_has_no_winner() {
    let (left, right) = (
        summary(&[("RR", 0.5), ("AP", 0.4)], 1_000),
        summary(&[("RR", 0.6)], 1_000),
    );
    let comparison = Comparison::new(&[("left", &left), ("right", &right)]);
    assert_eq!(row(&comparison, "AP").cells[1], Cell::Missing);
    assert_eq!(row(&comparison, "AP").winner, None);
    assert_eq!(row(&comparison, "RR").winner, Some(1));
}

#[test]
fn an_undefined_measure_keeps_its_reason() {
    let left = summary(&[("RR", 0.5)], 1_000);
    let right = report(vec![finished(
        "a",
        vec![undefined("RR", "no relevant documents")],
    )])
    .summary(&Bootstrap::default());
    let comparison = Comparison::new(&[("left", &left), ("right", &right)]);
    let reasons = |reason: &str| Cell::Undefined {
        reasons: vec![reason.to_owned()],
    };
    assert_eq!(
        row(&comparison, "RR").cells[1],
        reasons("no relevant documents")
    );
    assert_eq!(row(&comparison, "RR").winner, None);
}

#[test]
fn latencies_that_only_some_reports_have_are_left_out() {
    let timed = summary(&[("RR", 0.5)], 1_000);
    let untimed =
        report(vec![finished("a", vec![score("RR", 0.5)])]).summary(&Bootstrap::default());
    let measures = |comparison: &Comparison| -> Vec<String> {
        comparison
            .rows
            .iter()
            .map(|row| row.measure.clone())
            .collect()
    };
    let both = Comparison::new(&[("left", &timed), ("right", &timed)]);
    assert_eq!(
        measures(&both),
        ["RR", "search p50", "task (wall) p50", "task (wall) p95"]
    );
    assert_eq!(
        measures(&Comparison::new(&[("left", &timed), ("right", &untimed)])),
        ["RR"]
    );
}

#[test]
fn recorded_metrics_have_no_better_direction() {
    let with_tokens = |tokens: f64| {
        let mut case = finished("a", vec![]);
        case.metrics.insert("tokens".to_owned(), tokens);
        report(vec![case]).summary(&Bootstrap::default())
    };
    let (few, many) = (with_tokens(1.0), with_tokens(2.0));
    let comparison = Comparison::new(&[("few", &few), ("many", &many)]);
    assert_eq!(row(&comparison, "tokens").better, Direction::Unknown);
    assert_eq!(row(&comparison, "tokens").winner, None);
}

#[test]
fn no_reports_give_an_empty_comparison() {
    let comparison = Comparison::new(&[]);
    assert!(comparison.reports.is_empty());
    assert!(
        comparison
            .rows
            .iter()
            .all(|row| row.cells.is_empty() && row.winner.is_none())
    );
}

#[test]
fn a_comparison_reads_back() {
    let (left, right) = (
        summary(&[("RR", 0.5), ("AP", 0.4)], 1_000),
        summary(&[("RR", 0.6)], 1_000),
    );
    let comparison = Comparison::new(&[("left", &left), ("right", &right)]);
    let text = serde_json::to_string(&comparison).unwrap();
    assert_eq!(
        serde_json::from_str::<Comparison>(&text).unwrap(),
        comparison
    );
}

#[test]
fn means_over_different_numbers_of_cases_have_no_winner() {
    let all = summary(&[("RR", 0.5)], 1_000);
    let mut few = summary(&[("RR", 0.9)], 1_000);
    few.scores[0].1.n -= 1;
    few.interrupted = true;
    few.not_run = 1;
    let comparison = Comparison::new(&[("all", &all), ("few", &few)]);
    assert_eq!(row(&comparison, "RR").winner, None);
    assert_eq!(comparison.reports[1].not_run, 1);
}

#[test]
fn zero_and_minus_zero_tie() {
    let (left, right) = (
        summary(&[("gain", -0.000_01)], 1_000),
        summary(&[("gain", 0.0)], 1_000),
    );
    let comparison = Comparison::new(&[("left", &left), ("right", &right)]);
    assert_eq!(row(&comparison, "gain").winner, None);
}

#[test]
fn a_mean_that_is_not_finite_is_undefined() {
    let mut broken = summary(&[("RR", 0.5)], 1_000);
    broken.scores[0].1.value = Some(f64::INFINITY);
    let comparison = Comparison::new(&[("broken", &broken)]);
    assert_eq!(row(&comparison, "RR").cells[0].value(), None);
}

/// An evaluator's name and number, with its outcomes for twenty cases; `None` stands for a failure.
fn judged(judges: &[(&str, u32, Option<f64>)]) -> Summary {
    let cases = (0..20).map(|number| {
        let mut case = finished(&number.to_string(), vec![]);
        let mut accurate = 0;
        for (judge, origin, value) in judges {
            let origin = EvaluatorOrigin::Dataset(*origin);
            let Some(value) = value else {
                case.evaluator_failures.push(EvaluatorFailure {
                    evaluator: (*judge).to_owned(),
                    origin,
                    kind: FailureKind::Error,
                    class: None,
                    message: "timeout".to_owned(),
                });
                continue;
            };
            accurate += 1;
            let title = match accurate {
                1 => "accurate".to_owned(),
                number => format!("accurate_{number}"),
            };
            case.outcomes.push(CaseOutcome {
                evaluator: (*judge).to_owned(),
                origin,
                given_name: Some("accurate".to_owned()),
                ..score(&title, *value)
            });
        }
        case
    });
    report(cases.collect()).summary(&Bootstrap::default())
}

fn values(comparison: &Comparison) -> Vec<(&str, Vec<Option<f64>>)> {
    let scores = comparison.rows.iter().filter(|row| row.unit == Unit::Score);
    scores
        .map(|row| {
            let values = row.cells.iter().map(Cell::value);
            (row.measure.as_str(), values.collect())
        })
        .collect()
}

#[test]
fn a_measure_is_compared_by_evaluator_and_not_by_title() {
    let both = judged(&[("strict", 1, Some(0.25)), ("lenient", 2, Some(0.875))]);
    let lenient = judged(&[("lenient", 1, Some(0.75))]);
    let comparison = Comparison::new(&[("both", &both), ("lenient", &lenient)]);
    assert_eq!(
        values(&comparison),
        [
            ("accurate", vec![Some(0.25), None]),
            ("accurate_2", vec![Some(0.875), Some(0.75)]),
        ]
    );
    assert_eq!(row(&comparison, "accurate").cells[1], Cell::Missing);
    assert_eq!(row(&comparison, "accurate_2").winner, Some(0));

    let reverse = Comparison::new(&[("lenient", &lenient), ("both", &both)]);
    assert_eq!(
        values(&reverse),
        [
            ("accurate", vec![Some(0.75), Some(0.875)]),
            ("accurate_2", vec![None, Some(0.25)]),
        ]
    );
}

#[test]
fn two_evaluators_with_one_name_are_never_mixed_up() {
    let whole = judged(&[("judge", 1, Some(0.25)), ("judge", 2, Some(0.875))]);
    let broken = judged(&[("judge", 1, None), ("judge", 2, Some(0.75))]);
    let comparison = Comparison::new(&[("whole", &whole), ("broken", &broken)]);
    assert_eq!(
        values(&comparison),
        [
            ("accurate", vec![Some(0.25), None]),
            ("accurate_2", vec![Some(0.875), Some(0.75)]),
            ("judge", vec![None, None]),
        ]
    );
}

/// Twenty cases with an error rate, where lower is better.
fn error_rate(value: f64, better: Direction) -> Summary {
    let cases = (0..20).map(|number| {
        let outcome = CaseOutcome {
            better,
            ..score("error rate", value)
        };
        finished(&number.to_string(), vec![outcome])
    });
    report(cases.collect()).summary(&Bootstrap::default())
}

#[test]
fn the_lower_score_wins_if_its_evaluator_declares_it() {
    let (many, few) = (
        error_rate(0.4, Direction::Lower),
        error_rate(0.3, Direction::Lower),
    );
    let comparison = Comparison::new(&[("many", &many), ("few", &few)]);
    let row = row(&comparison, "error rate");
    assert_eq!((row.better, row.winner), (Direction::Lower, Some(1)));
}

#[test]
fn reports_that_disagree_on_the_better_direction_have_no_winner() {
    let (many, few) = (
        error_rate(0.4, Direction::Higher),
        error_rate(0.3, Direction::Lower),
    );
    let comparison = Comparison::new(&[("many", &many), ("few", &few)]);
    let row = row(&comparison, "error rate");
    assert_eq!((row.better, row.winner), (Direction::Unknown, None));
}

#[test]
fn exclusions_name_their_reports() {
    let of = |unanswerable: usize, failed: usize| {
        let cases = (0..30).map(|number| {
            let outcome = |name| {
                if number < unanswerable {
                    undefined(name, "unanswerable")
                } else if number < unanswerable + failed {
                    undefined(name, "no ranking")
                } else {
                    score(name, 0.5)
                }
            };
            finished(&number.to_string(), vec![outcome("luck"), outcome("R@1")])
        });
        report(cases.collect()).summary(&Bootstrap::default())
    };
    let (first, second, alike) = (of(6, 0), of(6, 2), of(6, 0));
    let notes = |summaries: &[(&str, &Summary)]| {
        let comparison = Comparison::new(summaries);
        let mut page = Vec::new();
        evals::render::Console::default()
            .comparison(&mut page, &comparison)
            .unwrap();
        let text = serde_json::to_string(&comparison).unwrap();
        assert_eq!(
            serde_json::from_str::<Comparison>(&text).unwrap(),
            comparison
        );
        String::from_utf8(page).unwrap()
    };
    let page = notes(&[("bm25", &first), ("hybrid", &alike)]);
    assert!(
        page.contains("\nn = 24\nexcluded: 6 × unanswerable (every measure)\n"),
        "{page}"
    );
    assert!(page.contains("\nmean luck "), "{page}");
    let page = notes(&[("bm25", &first), ("hybrid", &second)]);
    assert!(
        page.contains("\nexcluded in hybrid: 2 × no ranking (every measure)\n")
            && page.contains("\nexcluded: 6 × unanswerable (every measure)\n"),
        "{page}"
    );
}
