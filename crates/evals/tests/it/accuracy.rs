//! Pass rates with failures, against values computed by hand.

use evals::{
    Accuracy, CaseOutcome, CaseReport, Comparison, Direction, EvaluatorFailure, EvaluatorOrigin,
    FailureKind, Report, Row, Summary, Unit, Value, render,
};
use evals_metrics::Bootstrap;
use proptest::prelude::*;

use crate::fakes::{Words, failed, finished, outcome, report, undefined};

/// The result of one repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Passes,
    Fails,
    JudgeFails,
    TaskFails,
    Undefined,
}

use Fate::{Fails, JudgeFails, Passes, TaskFails, Undefined};

fn case(id: usize, repeat: u32, fate: Fate, better: Direction) -> CaseReport<Words> {
    let id = format!("case {id}");
    let verdict = |passed| CaseOutcome {
        better,
        ..outcome("exact", Value::Assertion(passed))
    };
    let mut case = match fate {
        Passes => finished(&id, vec![verdict(true)]),
        Fails => finished(&id, vec![verdict(false)]),
        Undefined => finished(
            &id,
            vec![CaseOutcome {
                better,
                // A reason that reads like a failure is not a failure.
                ..undefined("exact", "task failed")
            }],
        ),
        TaskFails => failed(&id, "gone"),
        JudgeFails => CaseReport {
            evaluator_failures: vec![EvaluatorFailure {
                evaluator: "exact".to_owned(),
                origin: EvaluatorOrigin::default(),
                kind: FailureKind::Error,
                class: None,
                message: "unreadable".to_owned(),
            }],
            ..finished(&id, vec![])
        },
    };
    case.repeat = repeat;
    case
}

/// A report with the repetitions of each case.
fn of_cases(cases: &[Vec<Fate>], better: Direction) -> Report<Words> {
    let repeat = cases.iter().map(Vec::len).max().unwrap_or(1);
    let cases = cases.iter().enumerate().flat_map(|(id, fates)| {
        let repetitions = (1..).zip(fates);
        repetitions.map(move |(repeat, fate)| case(id, repeat, *fate, better))
    });
    Report {
        repeat: repeat.try_into().unwrap(),
        ..report(cases.collect())
    }
}

fn of(fates: &[(Fate, usize)]) -> Report<Words> {
    let fates = fates.iter();
    let cases: Vec<_> = fates
        .flat_map(|(fate, count)| vec![vec![*fate]; *count])
        .collect();
    of_cases(&cases, Direction::Higher)
}

fn summary(report: &Report<Words>) -> Summary {
    report.summary(&Bootstrap::default())
}

fn accuracy(report: &Report<Words>) -> Accuracy {
    summary(report).accuracy[0].1.clone()
}

/// Twelve cases: one judge and two tasks failed, and seven of the other nine passed.
fn twelve() -> Report<Words> {
    of(&[(Passes, 7), (Fails, 2), (JudgeFails, 1), (TaskFails, 2)])
}

fn shares(accuracy: &Accuracy) -> [Option<f64>; 4] {
    [
        accuracy.scored.value,
        accuracy.worst,
        accuracy.best,
        accuracy.coverage,
    ]
}

#[test]
fn failures_are_neither_right_nor_wrong() {
    let accuracy = accuracy(&twelve());
    let expected = [7.0 / 9.0, 7.0 / 12.0, 10.0 / 12.0, 9.0 / 12.0];
    assert_eq!(shares(&accuracy), expected.map(Some));
    assert_eq!((accuracy.passed, accuracy.failed), (7, 2));
    assert_eq!((accuracy.judge_failures, accuracy.task_failures), (1, 2));
    assert_eq!((accuracy.cases, accuracy.undefined), (12, 0));
    // Wilson's formula for 7 of 9, computed with z = 1.959964.
    let interval = accuracy.scored.interval.unwrap();
    assert!((interval.low - 0.452_589).abs() < 1e-6, "{interval:?}");
    assert!((interval.high - 0.936_775).abs() < 1e-6, "{interval:?}");
}

#[test]
fn undefined_outcomes_are_in_no_share() {
    let report = of(&[(Passes, 1), (Fails, 1), (JudgeFails, 1), (Undefined, 5)]);
    let accuracy = accuracy(&report);
    let expected = [1.0 / 2.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    assert_eq!(shares(&accuracy), expected.map(Some));
    assert_eq!((accuracy.cases, accuracy.undefined), (3, 5));
}

#[test]
fn every_case_has_the_same_weight() {
    let cases = [
        vec![Passes, Passes, JudgeFails, Undefined],
        vec![Fails],
        vec![TaskFails, TaskFails],
    ];
    let accuracy = accuracy(&of_cases(&cases, Direction::Higher));
    // By case: scored 1, 0 and nothing; worst 2/3, 0, 0; best 1, 0, 1; coverage 2/3, 1, 0.
    let expected = [1.0 / 2.0, 2.0 / 9.0, 2.0 / 3.0, 5.0 / 9.0];
    for (share, expected) in shares(&accuracy).into_iter().zip(expected) {
        assert!((share.unwrap() - expected).abs() < 1e-12, "{accuracy:?}");
    }
    assert_eq!((accuracy.passed, accuracy.failed), (2, 1));
    assert_eq!((accuracy.judge_failures, accuracy.task_failures), (1, 2));
}

#[test]
fn the_worst_case_is_the_higher_rate_when_lower_is_better() {
    let cases = [vec![Passes], vec![Fails], vec![TaskFails], vec![Fails]];
    let accuracy = accuracy(&of_cases(&cases, Direction::Lower));
    assert_eq!((accuracy.worst, accuracy.best), (Some(0.5), Some(0.25)));
}

#[test]
fn only_undefined_outcomes_give_no_share() {
    let cases = [vec![Passes, Undefined], vec![Undefined, Undefined]];
    let some = accuracy(&of_cases(&cases, Direction::Higher));
    assert_eq!(shares(&some), [Some(1.0); 4]);
    assert!(some.is_complete());
    assert!(summary(&of(&[(Undefined, 2)])).accuracy.is_empty());
}

fn fate() -> impl Strategy<Value = Fate> {
    prop::sample::select(vec![Passes, Fails, JudgeFails, TaskFails, Undefined])
}

proptest! {
    #[test]
    fn the_rate_lies_between_worst_and_best(
        cases in prop::collection::vec(prop::collection::vec(fate(), 1..4), 1..12),
        better in prop::sample::select(vec![Direction::Higher, Direction::Lower]),
    ) {
        let summary = summary(&of_cases(&cases, better));
        let Some((_, accuracy)) = summary.accuracy.first() else {
            prop_assert!(!cases.iter().flatten().any(|fate| matches!(fate, Passes | Fails)));
            return Ok(());
        };
        let [scored, worst, best, coverage] = shares(accuracy).map(Option::unwrap);
        let (low, high) = match better {
            Direction::Lower => (best, worst),
            _ => (worst, best),
        };
        let slack = 1e-9;
        prop_assert!(0.0 <= low && low <= scored + slack && scored <= high + slack && high <= 1.0 + slack);
        // The bounds differ by the share that was not scored.
        prop_assert!((high - low - (1.0 - coverage)).abs() < slack);
        prop_assert_eq!(&accuracy.scored, &summary.assertions[0].1);
        let counted = accuracy.passed + accuracy.failed + accuracy.judge_failures
            + accuracy.task_failures + accuracy.undefined;
        prop_assert_eq!(counted, cases.iter().flatten().count());
        if accuracy.is_complete() {
            prop_assert!((worst - best).abs() < slack && (coverage - 1.0).abs() < slack);
        }
    }
}

#[test]
fn an_accuracy_reads_back() {
    let summary = summary(&twelve());
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

fn page(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_renderers_print_the_bounds_of_pass_rates() {
    let report = twelve();
    let summary = summary(&report);
    let console = page(|out| render::Console::default().report(out, &report, &summary));
    insta::assert_snapshot!("console", console);
    let markdown = page(|out| render::markdown::report(out, &report, &summary));
    insta::assert_snapshot!("markdown", markdown);
}

#[test]
fn without_failures_no_bounds_are_printed() {
    let report = of(&[(Passes, 7), (Fails, 2), (Undefined, 1)]);
    let summary = summary(&report);
    let console = page(|out| render::Console::default().report(out, &report, &summary));
    let markdown = page(|out| render::markdown::report(out, &report, &summary));
    for page in [console, markdown] {
        assert!(!page.contains("Worst"), "{page}");
    }
    let comparison = Comparison::new(&[("one", &summary), ("two", &summary)]);
    let measures: Vec<_> = comparison.rows.iter().map(|row| &row.measure).collect();
    assert_eq!(measures, ["exact"]);
}

#[test]
fn bounds_have_a_winner_when_rates_cover_different_cases() {
    let other = summary(&of(&[(Passes, 8), (Fails, 4)]));
    let twelve = summary(&twelve());
    let comparison = Comparison::new(&[("failing", &twelve), ("whole", &other)]);
    let rows: Vec<_> = comparison
        .rows
        .iter()
        .map(|row: &Row| (row.measure.as_str(), row.unit, row.winner))
        .collect();
    assert_eq!(
        rows,
        [
            ("exact", Unit::PassRate, None),
            ("exact (worst)", Unit::Share, Some(1)),
            ("exact (best)", Unit::Share, Some(0)),
            ("exact (coverage)", Unit::Share, Some(1)),
        ]
    );
    let table = page(|out| render::Console::default().comparison(out, &comparison));
    insta::assert_snapshot!("comparison", table);
}
