//! Tests of changes between two reports of the same cases.

use std::num::NonZeroU32;

use evals::render::{self, Console, Drawings, Symbols};
use evals::{
    CasePart, CaseReport, Change, Direction, MeasureChange, PairTest, PairTesting, Report, Unit,
    Value, Verdict,
};
use evals_metrics::PairedTest;
use insta::assert_snapshot;

use crate::compared::{Compared, by, printed};
use crate::fakes::{Words, failed, finished, outcome, report, score, undefined};

fn change(before: &Report<Words>, after: &Report<Words>) -> Change {
    Compared::of(before, after).change()
}

fn scored(values: &[f64]) -> Report<Words> {
    let cases = (0..).zip(values);
    report(
        cases
            .map(|(number, value)| finished(&format!("q{number}"), vec![score("RR", *value)]))
            .collect(),
    )
}

fn measure<'c>(change: &'c Change, name: &str) -> &'c MeasureChange {
    let mut measures = change.measures.iter();
    measures.find(|it| it.measure == name).unwrap()
}

/// 40 questions: `improved` of them become right, and three become wrong.
fn benchmark(improved: usize) -> [Report<Words>; 2] {
    let case = |number: usize, right: bool| -> CaseReport<Words> {
        let rank = f64::from(u32::try_from(number % 3 + 1).unwrap());
        let value = if right { 1.0 } else { 1.0 / (rank + 1.0) };
        let mut errors = score("errors", 1.0 - value);
        errors.better = Direction::Lower;
        let passed = outcome("right", Value::Assertion(right));
        let mut case = finished(
            &format!("q{number:02}"),
            vec![score("RR@5", value), passed, errors],
        );
        let tokens = if right { 120.0 } else { 100.0 };
        case.metrics.insert("tokens".to_owned(), tokens);
        case
    };
    let before = (0..40).map(|number| case(number, number >= improved));
    let after = (0..40).map(|number| case(number, number < 37));
    [report(before.collect()), report(after.collect())]
}

#[test]
fn a_gain_on_most_cases_is_significant_in_either_direction() {
    let [before, after] = benchmark(20);
    let found = change(&before, &after);
    for name in ["RR@5", "right", "errors"] {
        assert_eq!(
            measure(&found, name).finding.verdict,
            Verdict::Better,
            "{name}"
        );
    }
    let back = change(&after, &before);
    for name in ["RR@5", "right", "errors"] {
        assert_eq!(
            measure(&back, name).finding.verdict,
            Verdict::Worse,
            "{name}"
        );
    }
    let tokens = measure(&found, "tokens");
    assert_eq!(
        (tokens.finding.verdict, tokens.unit),
        (Verdict::None, Unit::Metric)
    );
    assert_eq!(
        tokens.finding.adjusted_p_value, None,
        "neither end is better"
    );
    assert!(tokens.difference.as_ref().unwrap().p_value.unwrap() < 0.05);
    // Of 23 cases that changed, 20 for the better: z = 17 / √23, whose two tails are 0.000393.
    let right = measure(&found, "right");
    let p_value = right.difference.as_ref().unwrap().p_value.unwrap();
    assert!((p_value - 0.000_393).abs() < 1e-6, "{p_value}");
    assert!(right.finding.adjusted_p_value.unwrap() >= p_value);
    let by_swaps = Compared::of(&before, &after).change_by(by(PairTest::Randomization));
    let p_value = measure(&by_swaps, "right")
        .difference
        .as_ref()
        .unwrap()
        .p_value;
    // 2 * (1 + 23 + 253 + 1771) / 2^23.
    let expected = 2.0 * 2048.0 / 2_f64.powi(23);
    assert!((p_value.unwrap() - expected).abs() < 1e-12);
}

#[test]
fn a_gain_on_few_cases_is_unclear() {
    let [before, after] = benchmark(7);
    let found = change(&before, &after);
    let measure = measure(&found, "right");
    assert!(measure.difference.as_ref().unwrap().difference > 0.0);
    assert_eq!(measure.finding.verdict, Verdict::Unclear);
}

#[test]
fn unchanged_measures_do_not_count_as_tests() {
    let with = |values: [f64; 30]| {
        let cases = values.iter().enumerate().map(|(number, value)| {
            let scores = vec![score("same", 0.5), score("RR", *value)];
            finished(&format!("q{number}"), scores)
        });
        report(cases.collect())
    };
    let mut better = [0.2; 30];
    better[..6].fill(0.7);
    let found = change(&with([0.2; 30]), &with(better));
    let same = measure(&found, "same");
    assert_eq!(
        (same.finding.verdict, same.finding.adjusted_p_value),
        (Verdict::Same, None)
    );
    let rr = measure(&found, "RR");
    let p_value = rr.difference.as_ref().unwrap().p_value;
    assert!(p_value.is_some_and(|p| p < 0.05));
    assert_eq!(rr.finding.adjusted_p_value, p_value, "of one test");
    assert_eq!(rr.finding.verdict, Verdict::Better);
}

#[test]
fn many_tests_take_more_swaps_than_one() {
    // `RR` rises in all 50 cases by different amounts, and 60 other scores in one case each.
    let side = |rise: f64| {
        let cases = (0..50_u32).map(|number| {
            let rise_of = f64::from(1 + number % 7) / 10.0 * rise;
            let others = (0..60_u32).map(|other| {
                let luck = if other == number { rise } else { 0.0 };
                score(&format!("luck {other}"), luck)
            });
            let scores = std::iter::once(score("RR", rise_of)).chain(others);
            finished(&format!("q{number}"), scores.collect())
        });
        report(cases.collect())
    };
    let (before, after) = (side(0.0), side(0.5));
    let testing = PairTesting::by(PairedTest {
        method: PairTest::Randomization,
        resamples: NonZeroU32::new(500).unwrap(),
        ..PairedTest::default()
    });
    let change = Compared::of(&before, &after).change_by(testing);
    // 50 of the others are tests. The least p value of 500 swaps, times 51, is 0.1.
    let rising = measure(&change, "RR");
    assert_eq!(rising.finding.verdict, Verdict::Better);
    let difference = rising.difference.as_ref().unwrap();
    assert!((difference.p_value.unwrap() - 1.0 / 10_201.0).abs() < 1e-12);
    assert_eq!(measure(&change, "luck 7").finding.verdict, Verdict::Unclear);
}

#[test]
fn values_on_one_side_only_are_dropped_and_counted() {
    let before = report(vec![
        finished("a", vec![score("RR", 1.0)]),
        finished("b", vec![score("RR", 0.0)]),
        finished("c", vec![score("RR", 0.5)]),
        finished("d", vec![undefined("RR", "no relevant documents")]),
        finished("only before", vec![score("RR", 1.0)]),
    ]);
    let after = report(vec![
        failed("b", "timed out"),
        finished("a", vec![score("RR", 0.5), score("new", 1.0)]),
        finished("c", vec![score("RR", 0.5)]),
        finished("d", vec![undefined("RR", "no relevant documents")]),
    ]);
    let found = change(&before, &after);
    assert_eq!((found.only_before, found.only_after), (1, 0));
    assert_eq!((found.pairs, found.removed.len()), (4, 1));
    assert_eq!(found.removed[0].as_str(), "only before");
    assert_eq!(found.measures.len(), 1);
    assert_eq!(found.measures_only_after, ["new"]);
    assert!(found.measures_only_before.is_empty());
    let rr = measure(&found, "RR");
    let difference = rr.difference.as_ref().unwrap();
    assert_eq!(difference.n, 2);
    assert_eq!((difference.before, difference.after), (0.75, 0.5));
    assert_eq!((rr.only_before, rr.only_after), (1, 0), "b failed after");
    assert_eq!(
        rr.excluded["no relevant documents"], 1,
        "d is on neither side"
    );
    let page = printed(&found);
    for line in [
        "\nn = 2 pairs\n",
        "\nexcluded: 1 × no relevant documents (RR)\n",
        "\ncases only before (1): only before\n",
        "\ncases left out of RR: 1 without a value after\n",
    ] {
        assert!(page.contains(line), "{line}{page}");
    }
}

#[test]
fn cases_with_changed_content_are_not_paired() {
    let cases = |expected: &str| {
        let mut cases: Vec<CaseReport<Words>> = (0..12)
            .map(|number| finished(&format!("q{number:02}"), vec![score("RR", 1.0)]))
            .collect();
        for case in &mut cases {
            case.expected = Some(expected.to_owned());
        }
        cases
    };
    let before = report(cases("right"));
    let mut after = cases("right");
    for case in &mut after {
        case.outcomes = vec![score("RR", 0.5)];
    }
    // Seven cases score worse because their content changed.
    after[0].input = "another question".to_owned();
    after[1].input = "another question".to_owned();
    after[1].expected = None;
    for case in &mut after[2..7] {
        case.expected = Some("other".to_owned());
    }
    after.push(finished("new", vec![score("RR", 0.0)]));
    let found = change(&before, &report(after));

    let parts = found.changed.iter();
    let parts: Vec<_> = parts.map(|it| (it.id.as_str(), &it.parts[..])).collect();
    assert_eq!(parts.len(), 7);
    assert_eq!(parts[0], ("q00", &[CasePart::Input][..]));
    assert_eq!(
        parts[1],
        ("q01", &[CasePart::Input, CasePart::Expected][..])
    );
    assert_eq!(parts[6], ("q06", &[CasePart::Expected][..]));
    assert_eq!((found.pairs, found.only_after), (5, 1));
    let rr = measure(&found, "RR");
    assert_eq!(rr.difference.as_ref().unwrap().n, 5);
    let worst: Vec<&str> = rr.worst.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(worst, ["q07", "q08", "q09", "q10", "q11"]);
    let page = printed(&found);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for note in [
        "n = 5 pairs",
        "changed cases, not paired (7): q00 (input), q01 (input, expected output), q02 (expected output), \
         q03 (expected output), q04 (expected output), and 2 more",
        "cases only after (1): new",
    ] {
        assert!(page.contains(note), "{note}: {page}");
    }
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["changed"][0]["parts"], serde_json::json!(["input"]));
    assert_eq!(serde_json::from_value::<Change>(json).unwrap(), found);
}

#[test]
fn repetitions_of_a_case_are_one_pair() {
    let twice = |value| {
        let cases = (1..=2).map(|repeat| CaseReport {
            repeat,
            ..finished("q", vec![score("RR", value)])
        });
        report(cases.collect())
    };
    assert_eq!(change(&twice(0.0), &twice(1.0)).pairs, 1);
}

#[test]
fn tables_and_headings_use_the_title_of_the_mean() {
    let luck = |value| {
        let cases = (0..30).map(|number| finished(&number.to_string(), vec![score("luck", value)]));
        report(cases.collect())
    };
    let found = change(&luck(0.5), &luck(0.25));
    let page = printed(&found);
    assert!(page.contains("\nmean luck  0.5000"), "{page}");
    assert!(
        page.contains("\nWorse by mean luck, largest change first\n"),
        "{page}"
    );
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["measures"][0]["measure"], "luck");
    assert_eq!(json["measures"][0]["mean_title"], "mean luck");
}

#[test]
fn repetitions_of_a_case_are_one_value() {
    let repeated = |values: [f64; 2]| {
        let cases = values.iter().zip(1..).map(|(value, repeat)| CaseReport {
            repeat,
            ..finished("q", vec![score("RR", *value)])
        });
        report(cases.collect())
    };
    let found = change(&repeated([0.0, 1.0]), &repeated([1.0, 1.0]));
    let difference = measure(&found, "RR").difference.clone().unwrap();
    assert_eq!((difference.n, difference.difference), (1, 0.5));
}

#[test]
fn the_cases_that_changed_most_come_first_and_ties_by_id() {
    let before = scored(&[1.0, 0.5, 0.0, 1.0, 0.2, 1.0, 1.0, 1.0, 1.0]);
    let after = scored(&[0.0, 0.5, 1.0, 0.5, 0.3, 0.0, 0.9, 0.8, 0.7]);
    let found = change(&before, &after);
    let rr = measure(&found, "RR");
    let ids = |cases: &[evals::CaseChange]| {
        let ids = cases.iter().map(|case| case.id.as_str().to_owned());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&rr.worst), ["q0", "q5", "q3", "q8", "q7"]);
    assert_eq!(ids(&rr.best), ["q2", "q4"]);
}

#[test]
fn a_change_is_printed_for_people_and_reads_back_for_programs() {
    let [before, mut after] = benchmark(20);
    after.cases[5] = failed("q05", "timed out");
    after.cases.truncate(39);
    let changes = ["profile: bm25 -> hybrid", "k: 5 -> 10"];
    let found = change(&before, &after).made_by(changes.map(str::to_owned).to_vec());
    let print = |console: Console| {
        let mut page = Vec::new();
        console.change(&mut page, &found).unwrap();
        String::from_utf8(page).unwrap()
    };
    let wide = Console {
        width: 120,
        ..Console::default()
    };
    assert_snapshot!("change_wide", print(wide));
    assert_snapshot!("change_80", print(Console::default()));
    let drawn = |width, symbols| {
        print(Console {
            width,
            symbols,
            drawings: Drawings::On,
            ..Console::default()
        })
    };
    assert_snapshot!("change_drawn", drawn(200, Symbols::Unicode));
    assert_snapshot!("change_drawn_108", drawn(108, Symbols::Ascii));
    let narrow = Console {
        width: 60,
        ..Console::default()
    };
    assert_eq!(drawn(60, Symbols::Unicode), print(narrow));
    let alone = Change {
        measures: found.measures[..1].to_vec(),
        ..found.clone()
    };
    for (change, width, expected) in [
        (
            &found,
            80,
            "Measure Before After Change 95 % interval Verdict",
        ),
        (&found, 60, "Measure Change 95 % interval Verdict"),
        (
            &alone,
            80,
            "Measure Before After Change 95 % interval p Verdict",
        ),
        (&alone, 60, "Measure After Change 95 % interval Verdict"),
    ] {
        let mut page = Vec::new();
        let console = Console { width, ..wide };
        console.change(&mut page, change).unwrap();
        let page = String::from_utf8(page).unwrap();
        let heads = page.lines().find(|line| line.starts_with("Measure"));
        let heads: Vec<&str> = heads.unwrap().split_whitespace().collect();
        assert_eq!(heads.join(" "), expected, "{width}");
    }
    let mut markdown = Vec::new();
    render::markdown::change(&mut markdown, &found).unwrap();
    assert_snapshot!("change_markdown", String::from_utf8(markdown).unwrap());
    let mut json = Vec::new();
    render::json::change(&mut json, &found).unwrap();
    let read: Change = serde_json::from_slice(&json).unwrap();
    assert_eq!(read, found);
}

#[test]
fn a_measure_without_a_value_in_either_report_has_no_row() {
    let scored = |value| vec![score("RR", value), undefined("AP", "unjudged")];
    let of = |values: &[f64]| {
        let cases = (0..).zip(values);
        let cases = cases.map(|(number, value)| finished(&format!("q{number}"), scored(*value)));
        report(cases.collect())
    };
    let found = change(&of(&[0.5, 1.0]), &of(&[1.0, 0.5]));
    let mut page = Vec::new();
    Console::default().change(&mut page, &found).unwrap();
    let page = String::from_utf8(page).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("AP "));
    assert_eq!(rows.count(), 0, "{page}");
    assert!(page.contains("excluded: 2 × unjudged (AP)"), "{page}");
}
