//! Snapshots of all renderers.

use std::collections::BTreeMap;

use evals::render::{self, Color, Console, Messages, Symbols};
use evals::{
    CaseReport, Comparison, EvaluatorFailure, EvaluatorOrigin, FailureKind, Report, Summary, Value,
};
use evals_metrics::Bootstrap;
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

use crate::fakes::{Words, failed, finished, outcome, report, score, timing, undefined};

const HOSTILE: &str = "# a|b, \"c\"\nd\r\n\x1b[31mred <b>*x*</b> [l](u)";

/// A retrieval run of 40 questions: two have no relevant documents, and seven failed.
fn retrieval() -> Report<Words> {
    let mut cases: Vec<_> = (0..31).map(question).collect();
    for id in ["q31", "q32"] {
        let reason = "no relevant documents";
        cases.push(finished(
            id,
            vec![undefined("RR@5", reason), undefined("nDCG@10", reason)],
        ));
    }
    for number in 33..39 {
        cases.push(failed(
            &format!("q{number}"),
            "could not search: connection refused",
        ));
    }
    let mut broken = question(39);
    broken.outcomes.pop();
    broken.evaluator_failures.push(EvaluatorFailure {
        evaluator: "nDCG@10".to_owned(),
        origin: EvaluatorOrigin::default(),
        kind: FailureKind::Error,
        class: None,
        message: "gain is too large".to_owned(),
    });
    cases.push(broken);
    report(cases)
}

fn question(number: u32) -> CaseReport<Words> {
    let rank = f64::from(number % 4 + 1);
    let scores = vec![
        score("RR@5", 1.0 / rank),
        score("nDCG@10", 1.0 / (rank + 1.0).log2()),
    ];
    let mut case = finished(&format!("q{number}"), scores);
    let micros = 1_000 + 37 * u64::from(number);
    case.timings = vec![
        timing("embed", 420, number.is_multiple_of(3)),
        timing("search", micros, false),
    ];
    case
}

/// One outcome of each kind, with text that would break out of its cell if it were not escaped.
fn awkward() -> Report<Words> {
    let mut wide = finished(
        "東京都庁 🗼",
        vec![
            score("nDCG|10", 0.25),
            outcome(HOSTILE, Value::Assertion(true)),
        ],
    );
    wide.outcomes
        .push(outcome("tone", Value::Label(HOSTILE.to_owned())));
    wide.outcomes.push(outcome("品質", Value::Assertion(false)));
    wide.metrics = BTreeMap::from([("tokens".to_owned(), 12_345.6), ("cost".to_owned(), 0.002)]);
    wide.timings = vec![
        timing("em|bed", 1_500, false),
        timing("em|bed", 500, false),
        timing("judge", 2_000_000, true),
    ];
    let long = failed(HOSTILE, &"a very long message ".repeat(20));
    let mut report = report(vec![wide, long]);
    report.name = format!("{HOSTILE} {}", "long name ".repeat(12));
    report
}

fn all_failed() -> Report<Words> {
    report(
        (0..3)
            .map(|number| failed(&format!("q{number}"), "connection refused"))
            .collect(),
    )
}

fn interrupted() -> Report<Words> {
    Report {
        repeat: 2,
        interrupted: true,
        not_run: 3,
        ..report(vec![
            finished("a", vec![score("s", 1.0)]),
            CaseReport {
                repeat: 2,
                ..failed("a", "gone")
            },
        ])
    }
}

fn summary(report: &Report<Words>) -> Summary {
    report.summary(&Bootstrap::default())
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn on_console(console: Console, report: &Report<Words>) -> String {
    written(|out| console.report(out, report, &summary(report)))
}

fn as_markdown(report: &Report<Words>) -> String {
    written(|out| render::markdown::report(out, report, &summary(report)))
}

/// Asserts that a page fits its width, in columns of a terminal.
fn fits(page: &str, width: usize) {
    for line in page.lines() {
        assert!(line.width() <= width, "{} columns: {line}", line.width());
    }
}

fn plain(width: u16) -> Console {
    Console {
        width,
        ..Console::default()
    }
}

fn ascii(width: u16) -> Console {
    Console {
        symbols: Symbols::Ascii,
        ..plain(width)
    }
}

#[test]
fn console_retrieval() {
    assert_snapshot!(on_console(plain(80), &retrieval()));
}

#[test]
fn console_retrieval_in_60_columns() {
    let page = on_console(plain(60), &retrieval());
    fits(&page, 60);
    assert_snapshot!(page);
}

#[test]
fn console_retrieval_in_color() {
    let console = Console {
        color: Color::On,
        ..plain(80)
    };
    assert_snapshot!(on_console(console, &retrieval()).replace('\x1b', "ESC"));
}

#[test]
fn console_retrieval_in_ascii() {
    let page = on_console(ascii(80), &retrieval());
    assert!(page.is_ascii());
    assert_snapshot!(page);
}

#[test]
fn console_awkward() {
    let page = on_console(plain(60), &awkward());
    assert!(!page.contains('\x1b'));
    fits(&page, 60);
    assert_snapshot!(page);
}

#[test]
fn console_without_cases() {
    assert_snapshot!(on_console(plain(80), &report(vec![])));
}

#[test]
fn console_all_failed() {
    assert_snapshot!(on_console(plain(80), &all_failed()));
}

#[test]
fn console_interrupted() {
    assert_snapshot!(on_console(plain(80), &interrupted()));
}

/// The reason comes from a server, so it may contain anything.
fn stopped() -> Report<Words> {
    Report {
        stopped: Some("quota *exhausted*\nsee <billing>".to_owned()),
        ..interrupted()
    }
}

#[test]
fn a_stopped_run_says_why_and_how_much_is_missing() {
    let report = stopped();
    let warning = "stopped, 3 of 5 were not run: quota *exhausted* see <billing>";
    let page = on_console(plain(80), &report);
    assert_eq!(page.lines().nth(2), Some(warning));
    let page = as_markdown(&report);
    let escaped = r"**stopped, 3 of 5 were not run: quota \*exhausted\* see &lt;billing&gt;**";
    assert!(page.lines().any(|line| line == escaped), "{page}");

    let document = written(|out| render::json::report(out, &report, &summary(&report)));
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["stopped"], "quota *exhausted*\nsee <billing>");
    assert_eq!(document["summary"]["stopped"], document["stopped"]);

    let comparison = Comparison::new(&[("bm25", &summary(&report))]);
    let page = written(|out| plain(80).comparison(out, &comparison));
    let note = "bm25 was stopped, 3 of 5 were not run: quota *exhausted* see <billing>";
    assert!(page.lines().any(|line| line == note), "{page}");
}

#[test]
fn a_message_is_cut_for_a_terminal_and_whole_for_a_file() {
    let report = report(vec![failed("q0", &"a long message ".repeat(9))]);
    let cut = on_console(plain(40), &report);
    let expected = "  q0: a long message a long message a l…";
    assert_eq!(cut.lines().last(), Some(expected));
    let file = Console {
        messages: Messages::Whole,
        ..plain(40)
    };
    let whole = on_console(file, &report);
    let expected = format!("  q0: {}", ["a long message"; 9].join(" "));
    assert_eq!(whole.lines().last(), Some(expected.as_str()));
}

#[test]
fn console_survives_any_width() {
    for width in [0, 1, 7, 20, u16::MAX] {
        let page = on_console(plain(width), &retrieval());
        assert!(page.starts_with("bm25\n"), "{page}");
    }
}

#[test]
fn markdown_retrieval() {
    assert_snapshot!(as_markdown(&retrieval()));
}

#[test]
fn markdown_awkward() {
    let page = as_markdown(&awkward());
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let columns = line.replace("\\|", "").matches('|').count() - 1;
        assert!([4, 5].contains(&columns), "{columns} columns: {line}");
    }
    assert_snapshot!(page);
}

#[test]
fn markdown_without_cases() {
    assert_snapshot!(as_markdown(&report(vec![])));
}

#[test]
fn markdown_all_failed() {
    assert_snapshot!(as_markdown(&all_failed()));
}

#[test]
fn json_interrupted() {
    let report = interrupted();
    assert_snapshot!(written(|out| render::json::report(
        out,
        &report,
        &summary(&report)
    )));
}

#[test]
fn jsonl_awkward() {
    let lines = written(|out| render::jsonl::report(out, &awkward()));
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        serde_json::from_str::<CaseReport<Words>>(line).unwrap();
    }
    assert_snapshot!(lines);
}

#[test]
fn jsonl_without_cases_is_empty() {
    assert_eq!(
        written(|out| render::jsonl::report(out, &report(vec![]))),
        ""
    );
}

#[test]
fn csv_awkward() {
    let table = written(|out| render::csv::report(out, &awkward()));
    assert_snapshot!(table.replace('\r', "CR").replace('\x1b', "ESC"));
}

#[test]
fn csv_interrupted() {
    let table = written(|out| render::csv::report(out, &interrupted()));
    assert_snapshot!(table.replace('\r', "CR"));
}

#[test]
fn csv_tells_equal_titles_apart() {
    let mut case = finished("a", vec![score("case", 1.0), score("embed_seconds", 2.0)]);
    case.timings = vec![timing("embed", 1_500, false)];
    case.metrics = BTreeMap::from([("case".to_owned(), 3.0)]);
    let table = written(|out| render::csv::report(out, &report(vec![case])));
    assert_eq!(
        table,
        "case,repeat,failure,evaluator_failures,seconds,case_2,embed_seconds,case_3,embed_seconds_2\r\n\
         a,1,,,0.002,1,2,3,0.0015\r\n"
    );
}

#[test]
fn csv_says_why_an_outcome_is_undefined() {
    let cases = vec![
        finished("a", vec![score("RR", 1.0), score("R", 1.0)]),
        finished(
            "b",
            vec![undefined("RR", "no relevant documents"), score("R", 0.0)],
        ),
    ];
    let table = written(|out| render::csv::report(out, &report(cases)));
    assert_eq!(
        table,
        "case,repeat,failure,evaluator_failures,seconds,RR,RR reason,R\r\n\
         a,1,,,0.002,1,,1\r\n\
         b,1,,,0.002,,no relevant documents,0\r\n"
    );
}

#[test]
fn csv_holds_no_formulas() {
    let label = |name: &str, text: &str| outcome(name, Value::Label(text.to_owned()));
    let cases = vec![
        finished(
            "@case",
            vec![label("=a", "=1+1"), label("b", "-0.5"), score("c", -0.5)],
        ),
        failed("b", "-inf"),
    ];
    let table = written(|out| render::csv::report(out, &report(cases)));
    assert_eq!(
        table,
        "case,repeat,failure,evaluator_failures,seconds,'=a,b,c\r\n\
         '@case,1,,,0.002,'=1+1,-0.5,-0.5\r\n\
         b,1,'-inf,,0.002,,,\r\n"
    );
}

/// Case a lacks one repetition of every measure, case b lacks all of them.
fn repeated() -> Report<Words> {
    let outcomes = || {
        vec![
            score("RR", 1.0),
            outcome("exact", Value::Assertion(true)),
            outcome("short", Value::Assertion(false)),
            outcome("tone", Value::Label("polite".to_owned())),
        ]
    };
    let again = |repeat, case| CaseReport { repeat, ..case };
    Report {
        repeat: 2,
        ..report(vec![
            finished("a", outcomes()),
            again(2, failed("a", "gone")),
            failed("b", "gone"),
            again(2, failed("b", "gone")),
        ])
    }
}

#[test]
fn console_repeated() {
    assert_snapshot!(on_console(plain(80), &repeated()));
}

#[test]
fn markdown_repeated() {
    assert_snapshot!(as_markdown(&repeated()));
}

/// Text that begins a markdown block, or contains bidirectional controls.
fn deceptive() -> Report<Words> {
    let mut case = finished("[q1]", vec![score("- $RR$", 0.5)]);
    case.evaluator_failures.push(EvaluatorFailure {
        evaluator: "+ judge".to_owned(),
        origin: EvaluatorOrigin::Dataset(1),
        kind: FailureKind::Error,
        class: None,
        message: "\u{202e}evil\u{2069}".to_owned(),
    });
    Report {
        dataset: "1. dataset".to_owned(),
        observer_failures: vec!["disk full".to_owned()],
        ..report(vec![
            case,
            failed("[q2]", "timeout"),
            failed("- q3", "timeout"),
        ])
    }
}

#[test]
fn markdown_deceptive() {
    assert_snapshot!(as_markdown(&deceptive()));
}

#[test]
fn console_deceptive() {
    assert_snapshot!(on_console(plain(80), &deceptive()));
}

fn profiles() -> [Summary; 3] {
    let mut semantic = retrieval();
    for case in &mut semantic.cases {
        case.outcomes.retain(|outcome| outcome.name != "nDCG@10");
        for outcome in &mut case.outcomes {
            if let Value::Score(score) = &mut outcome.value {
                *score *= 0.9;
            }
        }
    }
    [
        summary(&retrieval()),
        summary(&semantic),
        summary(&report(vec![])),
    ]
}

fn compared() -> Comparison {
    let [bm25, semantic, empty] = &profiles();
    Comparison::new(&[("bm25", bm25), ("semantic", semantic), ("empty|run", empty)])
}

#[test]
fn console_comparison() {
    assert_snapshot!(written(|out| plain(120).comparison(out, &compared())));
}

#[test]
fn console_comparison_keeps_its_intervals_where_they_just_fit() {
    let wide = written(|out| plain(120).comparison(out, &compared()));
    let rule = wide.lines().nth(1).unwrap().width().try_into().unwrap();
    let fitting = written(|out| plain(rule).comparison(out, &compared()));
    assert!(fitting.contains("0.5208 [0.4219, 0.6250]"), "{fitting}");
    let below = written(|out| plain(rule - 1).comparison(out, &compared()));
    assert!(
        below.contains("[0.4219, 0.6250]") && !below.contains("0.5208 [0.4219"),
        "{below}"
    );
    let turned = written(|out| plain(40).comparison(out, &compared()));
    for row in [
        "           RR@5\n",
        "bm25       0.5208 [0.4219, 0.6250] ★\n",
        "           nDCG@10\n",
        "semantic   –\n",
    ] {
        assert!(turned.contains(row), "{row}{turned}");
    }
    fits(&turned, 40);
    let without = written(|out| plain(30).comparison(out, &compared()));
    assert!(!without.contains('['), "{without}");
    assert!(without.contains("intervals hidden"), "{without}");
    fits(&without, 30);
}

#[test]
fn six_reports_fit_80_and_60_columns_with_their_intervals() {
    let [bm25, semantic, _] = &profiles();
    let titles = [
        "unranked",
        "bm25",
        "semantic",
        "hybrid",
        "hybrid-linear",
        "hybrid-log-bm25",
    ];
    let reports = titles.map(|title| (title, if title == "semantic" { semantic } else { bm25 }));
    let comparison = Comparison::new(&reports);
    for width in [60, 80] {
        let page = written(|out| plain(width).comparison(out, &comparison));
        fits(&page, width.into());
        assert_eq!(page.matches("[0.4219, 0.6250]").count(), 5, "{page}");
        let rows = page
            .lines()
            .filter(|line| line.starts_with("hybrid-linear "));
        assert!(rows.count() >= 1, "{page}");
    }
}

#[test]
fn console_comparison_in_60_columns() {
    let table = written(|out| ascii(60).comparison(out, &compared()));
    assert!(table.is_ascii());
    fits(&table, 60);
    assert_snapshot!(table);
}

#[test]
fn markdown_comparison() {
    assert_snapshot!(written(|out| render::markdown::comparison(
        out,
        &compared()
    )));
}

#[test]
fn json_comparison_reads_back() {
    let text = written(|out| render::json::comparison(out, &compared()));
    assert_eq!(
        serde_json::from_str::<Comparison>(&text).unwrap(),
        compared()
    );
}

#[test]
fn a_writer_that_fails_is_an_error_everywhere() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let report = retrieval();
    let summary = summary(&report);
    let results = [
        Console::default().report(Full, &report, &summary),
        Console::default().comparison(Full, &compared()),
        render::markdown::report(Full, &report, &summary),
        render::json::report(Full, &report, &summary),
        render::jsonl::report(Full, &report),
        render::csv::report(Full, &report),
    ];
    for (position, result) in results.into_iter().enumerate() {
        let error = result.expect_err(&position.to_string());
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{position}");
    }
}
