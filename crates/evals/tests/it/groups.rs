//! Tests of the measures of groups of cases.

use evals::render::{self, Console};
use evals::{CaseReport, GroupError, NO_GROUP, Report, Summary, TaskResult, Unit, Verdict};
use evals_metrics::Bootstrap;
use serde_json::json;

use crate::compared::Compared;
use crate::fakes::{failed, finished, outcome, report, score};
use crate::topics::{Topics, with_metadata};

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
fn a_group_has_the_means_of_a_report_of_its_cases_alone() {
    let whole = topics();
    let summary = grouped(&whole, &["topic"]).unwrap();
    for group in &summary.groups[0].groups {
        let mut alone = topics();
        alone.cases.retain(|case| {
            let topic = case.metadata["topic"].as_str();
            topic.unwrap_or(NO_GROUP) == group.name
        });
        assert_eq!(alone.cases.len(), group.cases);
        let alone = alone.summary(&Bootstrap::default());
        let means = [&alone.scores, &alone.assertions, &alone.metrics];
        let means: Vec<_> = means.into_iter().flatten().cloned().collect();
        let grouped = group.means.iter();
        let grouped: Vec<_> = grouped
            .map(|it| (it.measure.clone(), it.mean.clone()))
            .collect();
        assert_eq!(grouped, means, "{}", group.name);
    }
}

#[test]
fn cases_are_grouped_by_facts_unless_metadata_hides_them() {
    let mut cases = Vec::new();
    for (number, input) in ["a", "b", "long"].into_iter().enumerate() {
        let mut case = finished(&format!("q{number}"), vec![score("RR", 1.0)]);
        case.input = input.to_owned();
        let metadata = match number {
            0 => json!({"hidden": "metadata"}),
            _ => json!(null),
        };
        cases.push((case, metadata));
    }
    let report = with_metadata(cases);
    let names = |key: &str| {
        let summary = grouped(&report, &[key]).unwrap();
        let groups = summary.groups[0].groups.iter();
        let names: Vec<(String, usize)> = groups.map(|it| (it.name.clone(), it.cases)).collect();
        names
    };
    assert_eq!(names("letters"), [("1".to_owned(), 2), ("4".to_owned(), 1)]);
    assert_eq!(
        names("hidden"),
        [("fact".to_owned(), 2), ("metadata".to_owned(), 1)]
    );
    let compared = Compared::of(&report, &report);
    let change = compared.grouped(compared.change(), "letters");
    assert_eq!(change.unwrap().groups[0].groups[0].pairs, 2);
}

/// Cases of two topics with a tone each, one of them undefined and one failed; `rare` labels in news.
fn tones(rare: usize) -> Report<Topics> {
    let mut cases = Vec::new();
    let mut add = |topic: &str, value| {
        let id = format!("q{}", cases.len());
        let case = finished(&id, vec![outcome("tone", value)]);
        cases.push((case, json!({"topic": topic})));
    };
    for tone in ["polite", "rude", "polite"] {
        add("Sports", evals::Value::Label(tone.to_owned()));
    }
    add("Sports", evals::Value::Undefined);
    add("News", evals::Value::Label("rude".to_owned()));
    for number in 0..rare {
        add("News", evals::Value::Label(format!("rare {number}")));
    }
    with_metadata(cases)
}

#[test]
fn labels_are_counted_in_each_group() {
    let summary = grouped(&tones(0), &["topic"]).unwrap();
    let groups = serde_json::to_value(&summary.groups[0].groups).unwrap();
    assert_eq!(
        groups[0]["labels"]["tone"]["counts"],
        json!({"polite": 2, "rude": 1})
    );
    assert_eq!(groups[0]["labels"]["tone"]["n"], 3);
    assert_eq!(groups[1]["labels"]["tone"]["counts"], json!({"rude": 1}));
    let excluded = &summary.groups[0].groups[0].labels[0].1.excluded;
    assert_eq!(excluded.values().sum::<usize>(), 1, "{excluded:?}");
    let all = &summary.labels[0].1;
    let mut n = 0;
    for group in &summary.groups[0].groups {
        n += group.labels[0].1.n;
    }
    assert_eq!(n, all.n, "each label is in one group");
    let read: Summary = serde_json::from_value(json!(summary)).unwrap();
    assert_eq!(read, summary);
}

#[test]
fn the_table_of_labels_has_a_column_for_each_frequent_one() {
    let text = |report: &Report<Topics>| {
        let summary = grouped(report, &["topic"]).unwrap();
        let mut page = Vec::new();
        Console::default().groups(&mut page, &summary).unwrap();
        String::from_utf8(page).unwrap()
    };
    insta::assert_snapshot!(text(&tones(0)), @r"
    tone by topic
    topic   polite  rude  n  Excluded
    ─────────────────────────────────
    Sports       2     1  3         1
    News         0     1  1
    ");
    insta::assert_snapshot!(text(&tones(6)), @r"
    tone by topic
    topic   polite  rude  rare 0  rare 1  rare 2  rare 3  others  n  Excluded
    ─────────────────────────────────────────────────────────────────────────
    News         0     1       1       1       1       1       2  7
    Sports       2     1       0       0       0       0          3         1
    ");
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
        "no case has `topics` in its metadata; known are `hidden`, `letters`, `topic`; did you mean `topic`?"
    );
    let bare = report(vec![finished("a", vec![score("RR", 1.0)])]);
    let bootstrap = Bootstrap::default();
    let topic = ["topic".to_owned()];
    let error = bare.summary(&bootstrap).grouped(&bare, &topic, &bootstrap);
    assert_eq!(
        error.unwrap_err().to_string(),
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
    let compared = Compared::of(&before, &after);
    let change = compared.change();
    assert!(
        serde_json::to_value(&change)
            .unwrap()
            .get("groups")
            .is_none()
    );
    let change = compared.grouped(change, "topic").unwrap();
    let groups = &change.groups[0].groups;
    let of = |place: usize| {
        let group = &groups[place];
        let measure = &group.measures[0];
        let difference = measure.difference.as_ref().unwrap();
        (
            group.name.as_str(),
            group.pairs,
            difference.n,
            measure.finding.verdict,
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
    assert!(compared.grouped(change, "nothing").is_err());
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
