//! Labelling with the keyboard alone: blind until a label is stored, harmless whatever the texts hold, and open to everybody.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::accessibility::check;
use crate::browser::{Browser, key};
use crate::sandbox::Sandbox;
use crate::viewer::Viewer;

/// A text that does harm wherever it becomes markup.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>&lt;b\u{202e}evil\u{0}\u{2028}end";

/// A viewer with one run.
struct Labelled {
    sandbox: Sandbox,
    viewer: Viewer,
}

impl Labelled {
    /// A run of question answering, judged by word overlap.
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.succeed("sample --skip-retrieval --profile bm25 --limit 20");
        Self::of(sandbox)
    }

    /// A run of one output that is not judged, in which every text is hostile.
    fn hostile() -> Self {
        let reference = format!("{HOSTILE} or else");
        Self::single(
            HOSTILE,
            &reference,
            &format!("{HOSTILE} {}", "x".repeat(50_000)),
        )
    }

    /// A run of one output that is not judged. The question is the name of the case too.
    fn single(question: &str, reference: &str, answer: &str) -> Self {
        let sandbox = Sandbox::new();
        let name: String = question.chars().take(100).collect();
        let case = json!({"name": name, "inputs": question, "expected_output": reference});
        let file = json!({"name": "single", "cases": [case], "evaluators": ["EqualsExpected"]});
        sandbox.write("single.json", file.to_string());
        let output = json!({"id": name, "answer": answer});
        sandbox.write("outputs.jsonl", format!("{output}\n"));
        sandbox.succeed("eval single.json --target outputs:outputs.jsonl --no-progress");
        Self::of(sandbox)
    }

    fn of(sandbox: Sandbox) -> Self {
        let viewer = Viewer::start(sandbox.command("view --no-open").env("USER", "ada"));
        Self { sandbox, viewer }
    }

    fn run(&self) -> PathBuf {
        self.sandbox.runs()[0].clone()
    }

    /// Opens the page by its link in the list of runs, without the mouse.
    fn open(&self, browser: &Browser) {
        browser.visit(self.viewer.address());
        browser.wait("document.querySelector('a[href$=\"/label\"]')");
        browser.run::<()>("document.querySelector('a[href$=\"/label\"]').focus()", &[]);
        browser.keys(key::ENTER);
        browser.wait("document.getElementById('setup')");
    }

    fn labels(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.run().join("annotations.jsonl")).unwrap_or_default();
        let lines = text
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap());
        lines.map(|line: Value| line["label"].clone()).collect()
    }
}

/// Presses Enter in the form, and waits for the first answer.
fn start(browser: &Browser) {
    browser.run::<()>("document.querySelector('[name=labeller]').focus()", &[]);
    browser.keys(key::ENTER);
    browser.wait("!document.getElementById('work').hidden");
}

/// Presses a key and waits for the answer at this place.
fn press(browser: &Browser, keys: &str, place: &str) {
    browser.keys(keys);
    browser.wait(&format!(
        "document.getElementById('place').innerText.startsWith('{place}')"
    ));
    browser.wait("document.getElementById('work').getAttribute('aria-busy') !== 'true'");
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn answers_are_labelled_with_the_keyboard_alone_and_blind() {
    let labelled = Labelled::new();
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    let text = browser.text("main");
    assert!(text.contains("1 of 20, 0 labelled"), "{text}");
    for told in ["token F1", "The judge passed", "The judge failed"] {
        assert!(!text.contains(told), "`{told}` in {text}");
    }
    press(&browser, "1", "2 of 20, 1 labelled");
    press(&browser, "2", "3 of 20, 2 labelled");
    press(&browser, "0", "4 of 20, 3 labelled");
    browser.keys("n");
    browser.keys("1 of 2 years");
    browser.keys(key::ESCAPE);
    press(&browser, "2", "5 of 20, 4 labelled");
    press(&browser, "u", "4 of 20, 4 labelled");
    assert_eq!(
        browser.run::<String>("return document.getElementById('note').value", &[]),
        "1 of 2 years"
    );
    assert_eq!(browser.text("[aria-pressed=true]"), "2 fail");
    press(&browser, key::ENTER, "5 of 20, 4 labelled");

    let labels = labelled.labels();
    let said: Vec<&str> = labels
        .iter()
        .map(|label| label["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["pass", "fail", "cannot-say", "fail"]);
    assert_eq!(labels[3]["note"], "1 of 2 years");
    assert!(
        labels
            .iter()
            .all(|label| label["labeller"] == "ada" && label["blind"] == true)
    );

    let shown = browser.run::<bool>("return document.getElementById('agreement').open", &[]);
    assert!(!shown, "the agreement would tell the verdict");
    browser.press_button("Agreement");
    browser.wait("document.querySelector('#statistics tbody th')");
    assert_eq!(
        browser.texts("#statistics tbody th"),
        ["agreement", "kappa", "TPR", "TNR"]
    );
    assert_eq!(browser.texts("#confusion tbody td").len(), 4);

    // The same name, number and seed go on where the labeller stopped.
    labelled.open(&browser);
    start(&browser);
    assert!(browser.text("#place").starts_with("5 of 20, 4 labelled"));
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_judge_speaks_after_the_label_and_only_if_asked() {
    let labelled = Labelled::new();
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    browser.keys("v");
    press(&browser, "1", "1 of 20, 1 labelled");
    browser.wait("!document.getElementById('revealed').hidden");
    assert!(
        browser
            .text("#revealed")
            .contains("of the reference's words"),
        "{}",
        browser.text("#revealed")
    );
    press(&browser, key::ENTER, "2 of 20, 1 labelled");
    assert!(browser.run::<bool>("return document.getElementById('revealed').hidden", &[]));
    browser.keys("v");
    press(&browser, "u", "1 of 20, 1 labelled");
    press(&browser, "2", "2 of 20, 1 labelled");
    let blind: Vec<bool> = labelled
        .labels()
        .iter()
        .map(|label| label["blind"].as_bool().unwrap())
        .collect();
    assert_eq!(
        blind,
        [true, false],
        "a change after the judge spoke is not blind"
    );
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

fn note(browser: &Browser) -> String {
    browser.run("return document.getElementById('note').value", &[])
}

/// Types a note and leaves it.
fn write_note(browser: &Browser, text: &str) {
    browser.keys("n");
    browser.keys(text);
    browser.keys(key::ESCAPE);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_note_is_kept_whichever_way_the_labeller_leaves_it() {
    let labelled = Labelled::new();
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    press(&browser, "1", "2 of 20, 1 labelled");
    write_note(&browser, "on an answer without a label");
    press(&browser, "u", "1 of 20, 1 labelled");
    write_note(&browser, "on a labelled answer");
    press(&browser, key::ENTER, "2 of 20, 1 labelled");
    assert_eq!(note(&browser), "on an answer without a label");
    let asks: bool = browser.run(
        "return !dispatchEvent(new Event('beforeunload', {cancelable: true}))",
        &[],
    );
    assert!(asks, "leaving the page would lose the note");
    press(&browser, "2", "3 of 20, 2 labelled");
    let asks: bool = browser.run(
        "return !dispatchEvent(new Event('beforeunload', {cancelable: true}))",
        &[],
    );
    assert!(!asks, "every note is stored");
    let stored: Vec<Value> = labelled
        .labels()
        .iter()
        .map(|label| json!([label["verdict"], label["note"]]))
        .collect();
    let expected = [
        json!(["pass", null]),
        json!(["pass", "on a labelled answer"]),
        json!(["fail", "on an answer without a label"]),
    ];
    assert_eq!(stored, expected);
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_label_that_another_page_stored_is_shown_before_it_is_replaced() {
    let labelled = Labelled::new();
    let [one, other] = [Browser::start(), Browser::start()];
    for browser in [&one, &other] {
        labelled.open(browser);
        start(browser);
    }
    write_note(&one, "the year is right");
    press(&one, "1", "2 of 20, 1 labelled");
    other.keys("2");
    other.wait("!document.getElementById('choice').hidden");
    assert!(
        other.text("#failure").contains("“pass”"),
        "{}",
        other.text("#failure")
    );
    let choice = other.text("#choice");
    assert!(choice.contains("the year is right"), "{choice}");
    check(&other, "labelling, a choice between two labels");
    assert_eq!(labelled.labels().len(), 1);
    other.press_button("Keep “pass”");
    other.wait("document.getElementById('choice').hidden");
    assert_eq!(other.text("[aria-pressed=true]"), "1 pass");
    assert_eq!(note(&other), "the year is right");
    press(&other, key::ENTER, "2 of 20, 1 labelled");
    assert_eq!(labelled.labels().len(), 1);

    press(&one, "1", "3 of 20, 2 labelled");
    other.keys("2");
    other.wait("!document.getElementById('choice').hidden");
    other.press_button("Store my “fail”");
    other.wait("document.getElementById('place').innerText.startsWith('3 of 20, 2 labelled')");
    let said: Vec<Value> = labelled
        .labels()
        .iter()
        .map(|label| label["verdict"].clone())
        .collect();
    assert_eq!(said, ["pass", "pass", "fail"]);
    one.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn an_answer_that_cannot_be_fetched_leaves_the_page_at_the_one_before() {
    let labelled = Labelled::new();
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    let question = browser.text("#question");
    browser.run::<()>(
        "const real = fetch; window.fetch = (address, options) => address.includes('/label/answer') ? Promise.reject() : real(address, options)",
        &[],
    );
    browser.keys("1");
    browser.wait("!document.getElementById('failure').hidden");
    assert!(browser.text("#place").starts_with("1 of 20, 1 labelled"));
    assert_eq!(browser.text("#question"), question);
    assert_eq!(browser.text("[aria-pressed=true]"), "1 pass");
    assert!(browser.run::<bool>("return !document.getElementById('next').hidden", &[]));
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn single_keys_can_be_turned_off_and_a_held_key_labels_once() {
    let labelled = Labelled::new();
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    browser.click("#keys");
    browser.keys("1");
    browser.keys("2");
    assert!(labelled.labels().is_empty());
    browser.click("#keys");
    browser.run::<()>(
        "for (let held = 0; held < 5; held++) document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '1', bubbles: true, repeat: held > 0}))",
        &[],
    );
    browser.wait("document.getElementById('place').innerText.startsWith('2 of 20')");
    browser.run::<()>(
        "for (let twice = 0; twice < 2; twice++) document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '1', bubbles: true}))",
        &[],
    );
    browser.wait("document.getElementById('place').innerText.startsWith('3 of 20')");
    assert_eq!(
        labelled.labels().len(),
        2,
        "a key that is pressed too early labels nothing"
    );
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn hostile_texts_are_shown_literally() {
    let labelled = Labelled::hostile();
    let browser = Browser::start();
    labelled.open(&browser);
    assert!(browser.text("main").contains("This run has no judge"));
    start(&browser);
    let shown = "</script><img src=x onerror=alert(1)>&lt;b\\u{202e}evil\\u{0}\\u{2028}end";
    for part in ["question", "reference", "answer"] {
        let text: String = browser.run(
            "return document.getElementById(arguments[0]).textContent",
            &[part.into()],
        );
        assert!(text.starts_with(shown), "{part}: {text}");
    }
    assert!(browser.run::<bool>("return document.querySelector('main img') === null", &[]));
    browser.keys("n");
    browser.keys("=1+1");
    browser.keys(key::ESCAPE);
    browser.keys("1");
    browser.wait("!document.getElementById('finished').hidden");
    let labels = labelled.labels();
    assert_eq!(
        (&labels[0]["case"], &labels[0]["note"]),
        (&json!(HOSTILE), &json!("=1+1"))
    );
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_word_of_a_megabyte_does_not_stall_the_page() {
    let word = "A".repeat(1_000_000);
    let labelled = Labelled::single(&word, &word, &format!("{}B", &word[1..]));
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    browser.assert_no_stall();
    assert_eq!(
        browser.texts("#work .more"),
        ["Show 20,000 more of 980,000 characters"; 3]
    );
    browser.press_button("Show 20,000 more");
    browser.wait("document.querySelector('#question .more').innerText.includes('960,000')");
    browser.assert_no_stall();
    let shown: String = browser.run(
        "return document.getElementById('question').textContent",
        &[],
    );
    assert!(
        shown.starts_with(&word[..40_000]),
        "breaks add nothing to the text"
    );
    let fits: bool = browser.run(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth",
        &[],
    );
    assert!(fits, "the page is wider than the window");
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_server_that_has_ended_costs_no_label() {
    let mut labelled = Labelled::new();
    let browser = Browser::start();
    labelled.open(&browser);
    start(&browser);
    press(&browser, "1", "2 of 20, 1 labelled");
    labelled.viewer.interrupt();
    browser.keys("1");
    browser.wait("!document.getElementById('failure').hidden");
    assert!(
        browser
            .text("#failure")
            .contains("your verdicts so far are stored")
    );
    assert!(
        browser.text("#place").starts_with("2 of 20, 1 labelled"),
        "the answer stays"
    );
    assert_eq!(labelled.labels().len(), 1);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_labelling_page_has_no_violations_in_light_and_dark() {
    let labelled = Labelled::new();
    let browser = Browser::start();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        labelled.open(&browser);
        check(&browser, &format!("labelling, {scheme}, before the start"));
        start(&browser);
        browser.run::<()>("document.getElementById('reveal').checked = true", &[]);
        browser.run::<()>(
            "document.querySelectorAll('details').forEach((it) => { it.open = true })",
            &[],
        );
        browser.keys("1");
        browser.wait("!document.getElementById('revealed').hidden");
        check(&browser, &format!("labelling, {scheme}"));
    }
    browser.resize(400, 800);
    assert!(browser.run::<bool>(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth",
        &[]
    ));
    browser.end(&["http://127.0.0.1:", "data:,"]);
}
