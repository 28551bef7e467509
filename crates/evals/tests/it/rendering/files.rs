//! Snapshots of JSON, JSON Lines and CSV.

use super::{awkward, compared, interrupted, summary, written};
use crate::fakes::{Words, failed, finished, outcome, report, score, timing, undefined};
use evals::render::{self};
use evals::{CaseReport, Comparison, Value};
use insta::assert_snapshot;
use std::collections::BTreeMap;

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
        "case,repeat,failure,evaluator_failures,seconds,case_2,embed_seconds,case_3,embed_seconds_2,input,output\r\n\
         a,1,,,0.002,1,2,3,0.0015,input of a,output of a\r\n"
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
        "case,repeat,failure,evaluator_failures,seconds,RR,RR reason,R,input,output\r\n\
         a,1,,,0.002,1,,1,input of a,output of a\r\n\
         b,1,,,0.002,,no relevant documents,0,input of b,output of b\r\n"
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
        "case,repeat,failure,evaluator_failures,seconds,'=a,b,c,input,output\r\n\
         '@case,1,,,0.002,'=1+1,-0.5,-0.5,input of @case,output of @case\r\n\
         b,1,'-inf,,0.002,,,,input of b,\r\n"
    );
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
fn csv_has_a_column_for_each_recorded_fact() {
    let case = CaseReport {
        attributes: BTreeMap::from([
            ("route".to_owned(), "fast".into()),
            ("tried".to_owned(), serde_json::json!([1, 2])),
        ]),
        ..finished("a", vec![])
    };
    let table = written(|out| render::csv::report(out, &report(vec![case])));
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].contains("attribute route,attribute tried"),
        "{table}"
    );
    assert!(lines[1].contains(r#"fast,"[1,2]""#), "{table}");
}
