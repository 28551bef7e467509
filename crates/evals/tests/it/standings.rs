//! Tests of several reports compared with each other.

use evals::render::{self, Console, Drawings, Symbols};
use evals::{
    Adjustment, CaseReport, Direction, PairTest, PairTesting, Report, Standings, Timing, Titled,
    Unit, Value, Verdict,
};
use evals_metrics::{Bootstrap, PairedTest};
use insta::assert_snapshot;
use serde_json::json;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::compared::{by, in_one_line, printed_standings, standings_of};
use crate::fakes::{Words, failed, finished, outcome, report, score, undefined};
use crate::topics::{Topics, with_metadata};

fn standings_by(runs: &[(&str, &Report<Words>)], test: PairTesting) -> Standings {
    standings_of(runs, test, &[])
}

fn standings(runs: &[(&str, &Report<Words>)]) -> Standings {
    standings_by(runs, PairTesting::default())
}

/// A case whose score falls with `loss` in most cases, a pass rate, and a time.
fn case(number: u32, loss: f64, milliseconds: u64) -> CaseReport<Words> {
    let base = f64::from(number % 5) / 10.0 + 0.5;
    let value = if number.is_multiple_of(4) {
        base
    } else {
        base - loss
    };
    let passed = outcome("right", Value::Assertion(value > 0.6));
    let mut case = finished(&format!("q{number:02}"), vec![score("RR@5", value), passed]);
    case.timings = vec![Timing {
        stage: "search".to_owned(),
        duration: Duration::from_millis(milliseconds + u64::from(number % 7)),
        cached: false,
    }];
    case
}

fn run(loss: f64, milliseconds: u64) -> Report<Words> {
    report(
        (0..40)
            .map(|number| case(number, loss, milliseconds))
            .collect(),
    )
}

fn four() -> [Report<Words>; 4] {
    [run(0.2, 5), run(0.0, 30), run(0.21, 5), run(0.002, 12)]
}

fn named(runs: &[Report<Words>]) -> Vec<(&'static str, &Report<Words>)> {
    ["bm25", "hybrid", "unranked", "linear"]
        .into_iter()
        .zip(runs)
        .collect()
}

fn letters(standings: &Standings, measure: usize) -> Vec<(&str, &str)> {
    let ranked = &standings.measures[measure].standings;
    let shown = ranked.iter();
    shown
        .map(|it| (standings.title(it.report), it.letters.as_str()))
        .collect()
}

#[test]
fn runs_that_differ_in_every_case_have_letters_of_their_own() {
    let runs = four();
    let found = standings(&named(&runs));
    assert_eq!(found.shared, 40);
    assert_eq!(
        letters(&found, 0),
        [
            ("hybrid", "a"),
            ("linear", "b"),
            ("bm25", "c"),
            ("unranked", "d")
        ]
    );
    let score = &found.measures[0];
    assert_eq!((score.n, score.pairs.len()), (40, 6));
    let page = printed_standings(&found, 200);
    assert!(
        page.contains("RR@5: hybrid leads linear by 0.0015 "),
        "{page}"
    );
    // Six pairs by score, of 30 cases each, so that all p values are small; passes agree in some pairs, which are no tests.
    let same = |pair: &&evals::PairOutcome| pair.finding.verdict == Verdict::Same;
    let agreeing: usize = found
        .measures
        .iter()
        .map(|it| it.pairs.iter().filter(same).count())
        .sum();
    assert!(agreeing > 0);
    assert_eq!((found.headline_tests, found.tests), (6, 6 - agreeing));
}

#[test]
fn holm_counts_the_pairs_of_the_headline_and_those_of_the_others() {
    let runs = four();
    let corrected = standings(&named(&runs));
    let plain = PairTesting {
        adjustment: Adjustment::None,
        ..PairTesting::default()
    };
    let plain = standings_by(&named(&runs), plain);
    let least = |standings: &Standings, measure: usize| {
        let pairs = standings.measures[measure].pairs.iter();
        let p_values = pairs.filter_map(|it| it.finding.adjusted_p_value);
        p_values.fold(1.0, f64::min)
    };
    assert_eq!(corrected.headline.as_deref(), Some("RR@5"));
    for (measure, tests) in [corrected.headline_tests, corrected.tests]
        .into_iter()
        .enumerate()
    {
        let factor = least(&corrected, measure) / least(&plain, measure);
        let tests = f64::from(u32::try_from(tests).unwrap());
        assert!((factor - tests).abs() < 1e-9, "{factor} {tests}");
    }
    for (strict, loose) in corrected.measures[0]
        .pairs
        .iter()
        .zip(&plain.measures[0].pairs)
    {
        assert!(strict.finding.detectable.unwrap() > loose.finding.detectable.unwrap());
    }
}

#[test]
fn a_pair_reads_from_the_first_run_to_the_second() {
    let runs = four();
    let found = standings(&named(&runs));
    let pair = found.measures[0].pair(1, 0).unwrap();
    assert_eq!((pair.first, pair.second), (0, 1));
    assert_eq!(pair.finding.verdict, Verdict::Better, "hybrid against bm25");
    assert!((pair.difference.difference - 0.15).abs() < 1e-12);
    assert!(pair.finding.effect.unwrap().value > 1.0);
}

#[test]
fn the_chosen_test_is_the_one_that_runs() {
    let runs = four();
    let p = |method| {
        let test = PairTesting {
            adjustment: Adjustment::None,
            ..by(method)
        };
        let found = standings_by(&named(&runs), test);
        let pair = &found.measures[0].pairs[0];
        let found = &pair.difference;
        (found.p_value.unwrap(), found.method.unwrap())
    };
    // 30 of 30 changed cases fell.
    let (sign, method) = p(PairTest::Sign);
    assert!((sign - 2.0 * 0.5_f64.powi(30)).abs() < 1e-15);
    assert_eq!(method.to_string(), "exact sign test");
    assert_eq!(p(PairTest::T).1.to_string(), "paired t test");
    assert!(p(PairTest::Wilcoxon).1.to_string().contains("Wilcoxon"));
    // Where all changes have one size, swapping sides is tossing coins.
    assert!((p(PairTest::Randomization).0 / sign - 1.0).abs() < 1e-9);
}

#[test]
fn only_cases_of_all_runs_count_and_others_are_named() {
    let mut first = run(0.0, 5);
    let mut second = run(0.1, 5);
    let third = run(0.2, 5);
    first.cases.truncate(38);
    second.cases[3].input = "another question".to_owned();
    second.cases[5] = failed("q05", "timed out");
    let found = standings(&[("one", &first), ("two", &second), ("three", &third)]);
    // q38 and q39 are missing, and q03 differs; q05 failed in one run.
    assert_eq!(found.shared, 37);
    assert_eq!(found.measures[0].n, 36);
    assert_eq!(found.unshared[0].missing.len(), 2);
    assert_eq!(found.unshared[1].changed.len(), 1);
    let without: usize = found.measures[0]
        .standings
        .iter()
        .map(|it| it.without_value)
        .sum();
    assert_eq!(without, 1);
    let page = printed_standings(&found, 200);
    for line in [
        "2 cases not compared, because one does not have them: q38, q39",
        "1 case not compared, because they differ between two and the first run: q03",
        "left out of all runs: 1 without a value in two",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
}

#[test]
fn one_case_and_equal_runs_have_no_verdict() {
    let alone = |value| report(vec![finished("q", vec![score("RR@5", value)])]);
    let runs = [alone(0.1), alone(0.9), alone(0.5)];
    let found = standings(&named(&runs));
    assert_eq!(
        letters(&found, 0),
        [("hybrid", "a"), ("unranked", "a"), ("bm25", "a")]
    );
    let pair = &found.measures[0].pairs[0];
    assert_eq!((pair.finding.effect, pair.finding.detectable), (None, None));
    assert!(pair.finding.undetectable.is_some());
    assert!(printed_standings(&found, 100).contains("only 1 case: below 30"));

    let equal = [run(0.0, 5), run(0.0, 5), run(0.0, 5)];
    let found = standings(&named(&equal));
    assert_eq!(found.tests, 0);
    assert!(
        found.measures[0]
            .pairs
            .iter()
            .all(|it| it.finding.verdict == Verdict::Same)
    );
    let lead = found.measures[0].lead.as_ref().unwrap();
    assert_eq!((&lead.best[..], lead.rival), (&[0, 1, 2][..], None));
    let page = printed_standings(&found, 200);
    assert!(
        page.contains("RR@5: bm25, hybrid and unranked are equal in every case"),
        "{page}"
    );
    assert!(found.disagreements.as_ref().unwrap().cases.is_empty());
    assert_eq!(found.disagreements.unwrap().agreed, 40);
}

#[test]
fn runs_that_are_equal_in_every_case_lead_together() {
    let runs = [run(0.2, 5), run(0.0, 5), run(0.0, 5)];
    let found = standings(&named(&runs));
    let lead = found.measures[0].lead.as_ref().unwrap();
    assert_eq!((&lead.best[..], lead.rival), (&[1, 2][..], Some(0)));
    let page = printed_standings(&found, 200);
    assert!(
        page.contains(
            "RR@5: hybrid and unranked are equal in every case; both lead bm25 by 0.1500"
        ),
        "{page}"
    );
    assert!(!page.contains("RR@5: hybrid leads"), "{page}");

    let leads = |runs: &[(&str, &Report<Words>)]| {
        let summaries: Vec<_> = runs
            .iter()
            .map(|(_, report)| report.summary(&Bootstrap::default()))
            .collect();
        let titled: Vec<Titled<'_, Words>> = runs
            .iter()
            .zip(&summaries)
            .map(|((title, report), summary)| Titled {
                title,
                report,
                summary,
            })
            .collect();
        Standings::leads(&titled, &PairTesting::default(), |_| true)
    };
    let found = leads(&named(&runs));
    let best: Vec<&[usize]> = found.iter().map(|it| &it.best[..]).collect();
    assert_eq!(best, [[1, 2]], "no measure tells these two apart");
    // Two runs with the same scores differ in what passes.
    let mut other = run(0.0, 5);
    for case in &mut other.cases[..20] {
        case.outcomes[1] = outcome("right", Value::Assertion(false));
    }
    let found = leads(&[("bm25", &runs[0]), ("other", &other), ("best", &runs[1])]);
    let best: Vec<&[usize]> = found.iter().map(|it| &it.best[..]).collect();
    assert_eq!(best, [&[1, 2][..], &[2][..]]);
    assert_eq!((found[1].title(), found[1].rival), ("right", Some(1)));
}

/// Runs with these values in each of 60 cases, of which every second one is about law.
fn scattered(value: impl Fn(u32) -> f64) -> Report<Topics> {
    let case = |number: u32| {
        let case = finished(&format!("q{number:02}"), vec![score("RR@5", value(number))]);
        let topic = if number.is_multiple_of(2) {
            "law"
        } else {
            "tax"
        };
        (case, json!({"topic": topic}))
    };
    with_metadata((0..60).map(case).collect())
}

#[test]
fn the_best_run_is_tested_against_its_closest_rival_without_a_correction() {
    let noise = |number: u32, factor: u32| f64::from(number * factor % 31) / 31.0 - 0.5;
    let best = scattered(|number| 0.5 + noise(number, 7) / 10.0);
    // The run with the next mean is told apart in every case. The third run is further behind, and varies.
    let copy = scattered(|number| 0.49 + noise(number, 7) / 10.0 + noise(number, 3) / 1_000.0);
    let rival = scattered(|number| 0.4 + noise(number, 11));
    let far = scattered(|number| 0.1 + noise(number, 5) / 10.0);
    let runs = [
        ("best", &best),
        ("copy", &copy),
        ("rival", &rival),
        ("far", &far),
    ];
    let found = standings_of(&runs, PairTesting::default(), &["topic"]);
    let measure = &found.measures[0];
    assert_eq!(measure.standings[1].report, 1, "the copy has the next mean");
    let lead = measure.lead.as_ref().unwrap();
    assert_eq!(
        (&lead.best[..], lead.rival, lead.rivals),
        (&[0][..], Some(2), 3)
    );
    let alone = lead.finding.adjusted_p_value.unwrap();
    let corrected = measure
        .pair(0, 2)
        .unwrap()
        .finding
        .adjusted_p_value
        .unwrap();
    assert!(alone < corrected || corrected >= 1.0, "{alone} {corrected}");
    let page = in_one_line(&printed_standings(&found, 200));
    assert!(page.contains("RR@5: best leads rival by "), "{page}");
    assert!(page.contains("the largest of 3 tests: "), "{page}");
    for group in &found.groups[0].groups {
        let lead = group.measures[0].lead.as_ref().unwrap();
        assert_eq!(
            (&lead.best[..], lead.rival),
            (&[0][..], Some(2)),
            "{}",
            group.name
        );
    }
}

#[test]
fn each_group_names_its_winner_or_says_that_it_has_none() {
    let law = |number: u32| number.is_multiple_of(2);
    let of = |gain: f64| {
        scattered(|number| {
            let value = 0.3 + f64::from(number % 5) / 10.0;
            let swing = f64::from(number / 2 % 4) / 100.0 - 0.015;
            if law(number) {
                value + gain + swing * gain
            } else {
                value + swing * gain
            }
        })
    };
    let [one, two, three] = [0.0, 0.1, 0.2].map(of);
    let runs = [("one", &one), ("two", &two), ("three", &three)];
    let found = standings_of(&runs, PairTesting::default(), &["topic"]);
    let winners: Vec<(&str, Verdict)> = found.groups[0]
        .groups
        .iter()
        .map(|group| {
            let lead = group.measures[0].lead.as_ref().unwrap();
            (group.name.as_str(), lead.finding.verdict)
        })
        .collect();
    assert_eq!(
        winners,
        [("law", Verdict::Better), ("tax", Verdict::Unclear)]
    );
    let page = in_one_line(&printed_standings(&found, 200));
    assert!(page.contains("three (p < 0.0001)"), "{page}");
    assert!(page.contains("no winner (p = "), "{page}");
    assert!(page.contains("Holm-corrected for 2 groups"), "{page}");
}

#[test]
fn a_measure_without_any_value_in_a_run_has_no_order() {
    let none = report(vec![finished(
        "q",
        vec![undefined("RR@5", "no relevant documents")],
    )]);
    let found = standings(&[("a", &none), ("b", &none), ("c", &none)]);
    let measure = &found.measures[0];
    assert_eq!((measure.n, measure.is_ranked()), (0, false));
    assert_eq!(measure.excluded["no relevant documents"], 1);
    assert!(measure.pairs.is_empty());
}

#[test]
fn lower_is_better_where_the_measure_says_so_and_for_costs() {
    let of = |errors: f64, tokens: f64| {
        let case = |number: u32| {
            let mut outcome = score("errors", errors + f64::from(number % 3) / 10.0);
            outcome.better = Direction::Lower;
            let mut case = finished(&format!("q{number:02}"), vec![outcome]);
            case.metrics.insert("cost".to_owned(), tokens);
            case.metrics.insert("tokens".to_owned(), tokens);
            case
        };
        report((0..40).map(case).collect())
    };
    let runs = [of(0.5, 1.0), of(0.1, 3.0), of(0.3, 2.0)];
    let found = standings(&named(&runs));
    assert_eq!(letters(&found, 0)[0], ("hybrid", "a"));
    let measure = |name: &str| {
        found
            .measures
            .iter()
            .position(|it| it.measure == name)
            .unwrap()
    };
    assert_eq!(letters(&found, measure("cost"))[0], ("bm25", "a"));
    let tokens = &found.measures[measure("tokens")];
    assert!(tokens.standings.iter().all(|it| it.letters.is_empty()));
    assert_eq!(tokens.unit, Unit::Metric);
}

#[test]
fn a_cost_that_a_run_does_not_know_is_not_compared() {
    let of = |tokens: f64| {
        let case = |number: u32| {
            let mut case = finished(&format!("q{number}"), vec![score("RR@5", 0.5)]);
            case.metrics.insert("tokens".to_owned(), tokens);
            case
        };
        report((0..3).map(case).collect())
    };
    let runs = [of(1.0), of(2.0), of(3.0)];
    let has_cost = |found: &Standings| found.measures.iter().any(|it| it.measure == "cost");
    assert!(has_cost(&standings(&named(&runs[..2]))));
    assert!(
        !has_cost(&standings(&named(&runs))),
        "the third has no price"
    );
}

#[test]
fn the_faster_run_wins_by_its_median_and_few_times_are_none() {
    let runs = four();
    let found = standings(&named(&runs));
    let median = &found.times[0];
    assert_eq!((median.name.as_str(), median.n), ("latency p50", 40));
    let order: Vec<(&str, &str)> = median
        .standings
        .iter()
        .map(|it| (found.title(it.report), it.letters.as_str()))
        .collect();
    // Equal times share a letter; the others differ by the same time in every case.
    assert_eq!(
        order,
        [
            ("bm25", "a"),
            ("unranked", "a"),
            ("linear", "b"),
            ("hybrid", "c")
        ]
    );

    let mut untimed = run(0.0, 5);
    for case in untimed.cases.iter_mut().skip(19) {
        case.timings.clear();
    }
    let found = standings(&[("a", &runs[0]), ("b", &runs[1]), ("few", &untimed)]);
    assert_eq!(found.untimed, [2]);
    assert_eq!(found.times[0].standings.len(), 2);
}

#[test]
fn cases_with_the_widest_range_come_first() {
    let runs = four();
    let found = standings(&named(&runs)).disagreements.unwrap();
    assert_eq!((found.n, found.agreed, found.cases.len()), (40, 10, 10));
    let spread = found.cases[0].spread;
    assert!(spread > 0.1 && spread < 0.11, "{spread}");
    assert_eq!(found.cases[0].values.len(), 4);
    assert!(
        found
            .cases
            .windows(2)
            .all(|pair| pair[0].spread >= pair[1].spread)
    );
}

#[test]
fn standings_read_back_from_json() {
    let runs = four();
    let found = standings(&named(&runs));
    let mut json = Vec::new();
    render::json::standings(&mut json, &found).unwrap();
    let back: Standings = serde_json::from_slice(&json).unwrap();
    assert_eq!(back.measures, found.measures);
    let mut csv = Vec::new();
    render::csv::standings(&mut csv, &found).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let pairs: usize = found.measures.iter().map(|it| it.pairs.len()).sum();
    assert_eq!(csv.lines().count(), pairs + 1);
    assert!(
        csv.starts_with("measure,unit,better,first,second,n,"),
        "{csv}"
    );
}

#[test]
fn a_page_shows_letters_pairs_times_and_disagreements() {
    let runs = four();
    let test = PairTesting::by(PairedTest::default());
    let found = standings_by(&named(&runs), test);
    assert_snapshot!("standings_100", printed_standings(&found, 100));
    assert_snapshot!("standings_60", printed_standings(&found, 60));
    let mut markdown = Vec::new();
    render::markdown::standings(&mut markdown, &found).unwrap();
    assert_snapshot!("standings_markdown", String::from_utf8(markdown).unwrap());
}

#[test]
fn drawings_are_a_column_of_the_first_measure() {
    let runs = four();
    let found = standings(&named(&runs));
    let mut page = Vec::new();
    let console = Console {
        drawings: Drawings::On,
        symbols: Symbols::Unicode,
        width: 100,
        ..Console::default()
    };
    console.standings(&mut page, &found).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("0 Cases 1"), "{page}");
    assert!(page.contains('█'), "{page}");
}

#[test]
fn no_line_is_wider_than_the_page() {
    let runs = four();
    let found = standings(&named(&runs));
    for width in [40, 60, 80, 100] {
        for line in printed_standings(&found, width).lines() {
            let columns = line.chars().count();
            assert!(columns <= usize::from(width), "{width}: {line}");
        }
    }
}

/// Runs whose score `luck` differs in a few cases, in the same way between all of them, and whose score `RR@5` rises in all 50 cases
/// from one run to the next.
fn many() -> Vec<Report<Words>> {
    let case = |run: u32, number: u32| {
        let rise = f64::from(run) / 1_000.0 * (1.0 + f64::from(number % 7) / 10.0);
        let luck = f64::from((number * 7 + run * 11) % 50) / 50.0;
        finished(
            &format!("q{number:02}"),
            vec![score("RR@5", 0.1 + rise), score("luck", luck)],
        )
    };
    (0..12)
        .map(|run| report((0..50).map(|number| case(run, number)).collect()))
        .collect()
}

#[test]
fn many_tests_take_more_swaps_than_one() {
    let runs = many();
    let names: Vec<String> = (0..runs.len()).map(|run| format!("run {run:02}")).collect();
    let named: Vec<_> = names.iter().map(String::as_str).zip(&runs).collect();
    let few_swaps = PairTesting {
        paired: PairedTest {
            method: PairTest::Randomization,
            resamples: NonZeroU32::new(1_000).unwrap(),
            ..PairedTest::default()
        },
        ..PairTesting::default()
    };
    let found = standings_by(&named, few_swaps);
    // The least p value of 1,000 swaps, times 66, is 0.066.
    assert_eq!((found.headline_tests, found.tests), (66, 66));
    let [rising, luck] = &found.measures[..] else {
        panic!("two measures");
    };
    assert!(rising.pairs.iter().all(evals::PairOutcome::is_distinct));
    assert!(!luck.pairs.iter().any(evals::PairOutcome::is_distinct));
    let page = printed_standings(&found, 200);
    assert!(page.contains("26400 random swaps"), "{page}");
}
