//! Facts under the title.

use evals::{Report, render};
use evals_metrics::Bootstrap;
use serde_json::json;

use crate::fakes::{Words, finished, report, score};

fn pages(facts: serde_json::Value) -> [String; 2] {
    let mut report = report(vec![finished("a", vec![score("s", 1.0)])]);
    report
        .metadata
        .insert(Report::<Words>::FACTS.to_owned(), facts);
    let summary = report.summary(&Bootstrap::default());
    let (mut console, mut markdown) = (Vec::new(), Vec::new());
    let printer = render::Console::default();
    printer.report(&mut console, &report, &summary).unwrap();
    render::markdown::report(&mut markdown, &report, &summary).unwrap();
    [console, markdown].map(|page| String::from_utf8(page).unwrap())
}

/// The text before the table of measures.
fn heads(facts: serde_json::Value) -> [String; 2] {
    let [console, markdown] = pages(facts);
    let before = |page: &str, table: &str| page.split_once(table).unwrap().0.trim().to_owned();
    [before(&console, "Measure"), before(&markdown, "| Measure")]
}

#[test]
fn facts_follow_the_title_in_order() {
    let facts = json!([
        ["judge", "m|1 @ 4f2a"],
        ["label\nwith\u{1b}[31m", "no\nLLM"]
    ]);
    let [console, markdown] = heads(facts);
    let title = "bm25\nsample · 1 case · 1.2 s · 0.8 per second\n";
    assert_eq!(
        console,
        format!("{title}judge: m|1 @ 4f2a\nlabel with\\u{{1b}}[31m: no LLM")
    );
    let title = "# bm25\n\nsample · 1 case · 1.2 s · 0.8 per second\n\n";
    assert_eq!(
        markdown,
        format!("{title}- judge: m\\|1 @ 4f2a\n- label with\\\\u{{1b}}\\[31m: no LLM")
    );
}

#[test]
fn facts_that_are_not_pairs_of_texts_are_skipped() {
    let expected = heads(json!([["seed", "7"]]));
    let facts = json!([
        ["seed", "7"],
        ["seed", 7],
        ["one"],
        "seed",
        ["a", "b", "c"],
        null
    ]);
    assert_eq!(heads(facts), expected);
    let none = heads(json!([]));
    for other in [json!(null), json!({"seed": "7"}), json!("seed")] {
        assert_eq!(heads(other), none);
    }
}
