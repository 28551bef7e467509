//! The comparison of two texts word by word, as the script of pages does it.

use serde::Deserialize;
use serde_json::json;

use crate::browser::Browser;

/// Loads the files of the comparison into a blank page.
const LOAD: &str = concat!(
    include_str!("../../crates/evals-html/assets/script/text.js"),
    include_str!("../../crates/evals-html/assets/script/diff.js"),
    "\nwindow.difference = difference;"
);

/// A page without content.
const BLANK: &str = "data:text/html,<title>blank</title>";

#[derive(Debug, Deserialize)]
struct Difference {
    before: Vec<Part>,
    after: Vec<Part>,
    note: String,
}

#[derive(Debug, Deserialize)]
struct Part {
    text: String,
    mark: Option<String>,
}

fn compared(browser: &Browser, before: &str, after: &str) -> Difference {
    browser.run(
        "return window.difference(arguments[0], arguments[1])",
        &[json!(before), json!(after)],
    )
}

fn whole(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

fn marked<'p>(parts: &'p [Part], mark: &str) -> Vec<&'p str> {
    let parts = parts
        .iter()
        .filter(|part| part.mark.as_deref() == Some(mark));
    parts.map(|part| part.text.trim_end()).collect()
}

/// The words without marks.
fn common(parts: &[Part]) -> Vec<&str> {
    let parts = parts.iter().filter(|part| part.mark.is_none());
    parts
        .flat_map(|part| part.text.split_whitespace())
        .collect()
}

/// The length of the longest common subsequence, by its definition.
fn longest_common(a: &[&str], b: &[&str]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y {
                diagonal + 1
            } else {
                above.max(row[j])
            };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn words_of_one_text_only_are_marked() {
    let browser = Browser::start();
    browser.visit(BLANK);
    browser.run::<()>(LOAD, &[]);
    let found = compared(
        &browser,
        "The tower is 300 metres high.",
        "The tower was 330 metres high!",
    );
    assert_eq!(marked(&found.before, "del"), ["is 300", "."]);
    assert_eq!(marked(&found.after, "ins"), ["was 330", "!"]);
    let same = compared(&browser, "a b", "a  b ");
    assert!(marked(&same.before, "del").is_empty() && marked(&same.after, "ins").is_empty());
    let none = compared(&browser, "", "all new");
    assert_eq!(marked(&none.after, "ins"), ["all new"]);
    browser.end(&["data:"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn what_is_not_marked_is_a_longest_common_subsequence() {
    let browser = Browser::start();
    browser.visit(BLANK);
    browser.run::<()>(LOAD, &[]);
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..100 {
        let mut text = || {
            let words: Vec<String> = (0..random(40)).map(|_| format!("w{}", random(8))).collect();
            words.join(" ")
        };
        let (before, after) = (text(), text());
        let found = compared(&browser, &before, &after);
        assert_eq!(
            (whole(&found.before), whole(&found.after)),
            (before.clone(), after.clone())
        );
        let (a, b): (Vec<&str>, Vec<&str>) = (
            before.split_whitespace().collect(),
            after.split_whitespace().collect(),
        );
        assert_eq!(common(&found.before), common(&found.after));
        assert_eq!(
            common(&found.before).len(),
            longest_common(&a, &b),
            "{before:?} {after:?}"
        );
    }
    browser.end(&["data:"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn texts_of_a_megabyte_are_compared_as_far_as_time_allows() {
    let browser = Browser::start();
    browser.visit(BLANK);
    browser.run::<()>(LOAD, &[]);
    let text = |start: u32| {
        let words = (0..150_000).map(|it| (it * 7 + start).to_string());
        words.collect::<Vec<_>>().join(" ")
    };
    let (before, after) = (text(0), text(1));
    let found = compared(&browser, &before, &after);
    assert_eq!((whole(&found.before), whole(&found.after)), (before, after));
    assert_eq!(
        found.note,
        "Only the first 100,000 characters are compared. The texts differ in too many words to find all that they share."
    );
    browser.end(&["data:"]);
}
