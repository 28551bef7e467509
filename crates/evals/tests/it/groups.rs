//! Tests of the measures of groups of cases.

use evals::render::{self, Console};
use evals::{
    CaseReport, Change, Domain, GroupError, Report, Summary, TaskResult, Titled, Unit, Verdict,
};
use evals_metrics::{Bootstrap, PairedTest};
use serde_json::{Value, json};

use crate::fakes::{failed, finished, outcome, report, score};

/// As `Words`, with metadata.
#[derive(Clone, Copy, Debug)]
struct Topics;

impl Domain for Topics {
    type Input = String;
    type Output = String;
    type Expected = String;
    type Metadata = Value;

    fn mean_title(score: &str) -> Option<String> {
        (score == "RR").then(|| "MRR".to_owned())
    }
}

/// Gives each case of a report its metadata.
fn with_metadata(cases: Vec<(CaseReport<crate::fakes::Words>, Value)>) -> Report<Topics> {
    let case = |(case, metadata): (CaseReport<crate::fakes::Words>, Value)| {
        let mut case = serde_json::to_value(case).unwrap();
        case["metadata"] = metadata;
        serde_json::from_value(case).unwrap()
    };
    let cases: Vec<CaseReport<Topics>> = cases.into_iter().map(case).collect();
    let mut whole = serde_json::to_value(report(Vec::new())).unwrap();
    whole["cases"] = json!(cases);
    serde_json::from_value(whole).unwrap()
}

/// Ten cases about sports, five about news, one without a topic, and a failed one about sports.
fn topics() -> Report<Topics> {
    let mut cases = Vec::new();
    for number in 0..16 {
        let (metadata, value) = match number {
            0..10 => (json!({"topic": "Sports"}), f64::from(number % 2)),
            10..15 => (json!({"topic": "News"}), 1.0),
            _ => (json!({"topic": null}), 0.25),
        };
        let passed = outcome("right", evals::Value::Assertion(value >= 1.0));
        let mut case = finished(&format!("q{number:02}"), vec![score("RR", value), passed]);
        case.metrics.insert("tokens".to_owned(), 100.0 * value);
        cases.push((case, metadata));
    }
    cases.push((failed("q16", "timeout"), json!({"topic": "Sports"})));
    with_metadata(cases)
}

fn grouped(report: &Report<Topics>, keys: &[&str]) -> Result<Summary, GroupError> {
    let bootstrap = Bootstrap::default();
    let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
    report
        .summary(&bootstrap)
        .grouped(report, &keys, &bootstrap)
}

#[test]
fn each_group_has_its_means_with_n_and_what_is_excluded() {
    let summary = grouped(&topics(), &["topic"]).unwrap();
    let groups = &summary.groups[0].groups;
    let shown: Vec<(&str, usize)> = groups
        .iter()
        .map(|group| (group.name.as_str(), group.cases))
        .collect();
    assert_eq!(shown, [("Sports", 11), ("News", 5), ("(none)", 1)]);
    let sports = &groups[0].means;
    let of = |place: usize| (sports[place].measure.as_str(), sports[place].unit);
    assert_eq!(
        [of(0), of(1), of(2)],
        [
            ("RR", Unit::Score),
            ("right", Unit::PassRate),
            ("tokens", Unit::Metric)
        ]
    );
    assert_eq!(sports[0].mean.value, Some(0.5));
    assert_eq!(sports[0].mean.n, 10);
    assert_eq!(sports[0].mean.excluded["task failed"], 1);
    assert_eq!(sports[0].mean_title.as_deref(), Some("MRR"));
    assert_eq!(groups[1].means[1].mean.value, Some(1.0));
    assert_eq!(groups[2].means[0].mean.value, Some(0.25));
    let counted: usize = groups.iter().map(|group| group.means[0].mean.n).sum();
    assert_eq!(counted, summary.scores[0].1.n, "each case is in one group");
}

#[test]
fn a_summary_without_groups_is_written_as_before() {
    let report = topics();
    let summary = report.summary(&Bootstrap::default());
    assert!(
        serde_json::to_value(&summary)
            .unwrap()
            .get("groups")
            .is_none()
    );
    let grouped = grouped(&report, &["topic"]).unwrap();
    let written = serde_json::to_string(&grouped).unwrap();
    let read: Summary = serde_json::from_str(&written).unwrap();
    assert_eq!(read, grouped);
}

#[test]
fn an_unknown_key_names_the_known_ones() {
    let error = grouped(&topics(), &["topics"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "no case has `topics` in its metadata; known are `topic`; did you mean `topic`?"
    );
    let bare = with_metadata(vec![(finished("a", vec![score("RR", 1.0)]), Value::Null)]);
    assert_eq!(
        grouped(&bare, &["topic"]).unwrap_err().to_string(),
        "no case has `topic` in its metadata, and cases have no metadata with keys"
    );
}

fn console(report: &Report<Topics>, keys: &[&str], width: u16) -> String {
    let console = Console {
        width,
        ..Console::default()
    };
    let mut out = Vec::new();
    console
        .groups(&mut out, &grouped(report, keys).unwrap())
        .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn groups_are_tables_of_their_measures() {
    let page = console(&topics(), &["topic"], 80);
    assert!(
        page.starts_with("\nMRR by topic\ntopic    Value  Interval           n  Excluded\n"),
        "{page}"
    );
    assert!(page.contains("\nright (pass rate) by topic"), "{page}");
    assert!(!page.contains("tokens"), "metrics are in files:\n{page}");
    let narrow = console(&topics(), &["topic"], 30);
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 30),
        "{narrow}"
    );
    assert!(narrow.contains("no room for Interval"), "{narrow}");
}

#[test]
fn only_the_largest_groups_are_shown_and_their_names_cannot_steer_the_terminal() {
    let case = |number: usize| {
        let name = format!("\u{1b}[31m|group\u{202e} {number:02}\n");
        let case = finished(&format!("q{number}"), vec![score("RR", 1.0)]);
        (case, json!({ "topic": name }))
    };
    let report = with_metadata((0..25).map(case).collect());
    let page = console(&report, &["topic"], 80);
    assert!(page.contains("and 5 more groups with 5 cases"), "{page}");
    assert!(
        !page.contains('\u{1b}') && !page.contains('\u{202e}'),
        "{page}"
    );
    assert_eq!(page.lines().count(), 2 + 2 + 20 + 1, "{page}");
    let summary = grouped(&report, &["topic"]).unwrap();
    let mut markdown = Vec::new();
    render::markdown::report(&mut markdown, &report, &summary).unwrap();
    let markdown = String::from_utf8(markdown).unwrap();
    assert!(markdown.contains("| MRR by topic | Value |"), "{markdown}");
    assert!(markdown.contains("\\|group"), "{markdown}");
}

#[test]
fn the_change_of_each_group_is_tested_together() {
    let side = |gain: f64| {
        let case = |number: usize| {
            let topic = if number < 20 { "Sports" } else { "News" };
            let value = if number < 20 { 0.2 + gain } else { 0.5 };
            let case = finished(&format!("q{number:02}"), vec![score("RR", value)]);
            (case, json!({ "topic": topic }))
        };
        with_metadata((0..30).map(case).collect())
    };
    let [before, after] = [side(0.0), side(0.5)];
    let summaries = [&before, &after].map(|report| report.summary(&Bootstrap::default()));
    let titled = |title, report, summary| Titled {
        title,
        report,
        summary,
    };
    let [first, second] = [
        titled("old", &before, &summaries[0]),
        titled("new", &after, &summaries[1]),
    ];
    let change = Change::between(&first, &second, PairedTest::default(), |_| true);
    assert!(
        serde_json::to_value(&change)
            .unwrap()
            .get("groups")
            .is_none()
    );
    let keys = ["topic".to_owned()];
    let change = change.grouped(&first, &second, &keys, |_| true).unwrap();
    let groups = &change.groups[0].groups;
    let of = |place: usize| {
        let group = &groups[place];
        let measure = &group.measures[0];
        let difference = measure.difference.as_ref().unwrap();
        (
            group.name.as_str(),
            group.pairs,
            difference.n,
            measure.verdict,
        )
    };
    assert_eq!(of(0), ("Sports", 20, 20, Verdict::Better));
    assert_eq!(of(1), ("News", 10, 10, Verdict::Same));
    let mut out = Vec::new();
    Console::default().change(&mut out, &change).unwrap();
    let page = String::from_utf8(out).unwrap();
    let row = page
        .lines()
        .find(|line| line.starts_with("Sports"))
        .unwrap();
    assert!(row.contains("+0.5000") && row.ends_with("better"), "{row}");
    assert!(page.contains("\nMRR by topic\n"), "{page}");
    let mut markdown = Vec::new();
    render::markdown::change(&mut markdown, &change).unwrap();
    let markdown = String::from_utf8(markdown).unwrap();
    assert!(
        markdown.contains("| Sports | 0.2000 | 0.7000 | +0.5000 |"),
        "{markdown}"
    );
    let unknown = change.grouped(&first, &second, &["nothing".to_owned()], |_| true);
    assert!(unknown.is_err());
}

#[test]
fn repetitions_count_once_in_a_group() {
    let mut cases = Vec::new();
    for repeat in 1..=3 {
        let case = CaseReport {
            repeat,
            ..finished("a", vec![score("RR", f64::from(repeat))])
        };
        assert!(matches!(case.result, TaskResult::Output(_)));
        cases.push((case, json!({"topic": "x"})));
    }
    let summary = grouped(&with_metadata(cases), &["topic"]).unwrap();
    let group = &summary.groups[0].groups[0];
    assert_eq!((group.cases, group.means[0].mean.n), (1, 1));
    assert_eq!(group.means[0].mean.value, Some(2.0));
}
