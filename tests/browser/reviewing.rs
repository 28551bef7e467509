//! Reviewing a test set with the keyboard alone, harmless whatever the texts hold, and open to everybody.

use serde_json::{Value, json};

use crate::accessibility::check;
use crate::browser::{Browser, key};
use crate::sandbox::Sandbox;
use crate::test_set::{self, reviews};
use crate::viewer::Viewer;

/// A viewer with a test set.
struct Reviewed {
    sandbox: Sandbox,
    viewer: Viewer,
}

impl Reviewed {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        test_set::write(&sandbox);
        Self::of(sandbox)
    }

    fn of(sandbox: Sandbox) -> Self {
        let viewer = Viewer::start(sandbox.command("view set --no-open").env("USER", "ada"));
        Self { sandbox, viewer }
    }

    /// Opens the page and presses Enter in the form.
    fn start(&self) -> Browser {
        let browser = Browser::start();
        self.open(&browser);
        browser
    }

    fn open(&self, browser: &Browser) {
        browser.visit(self.viewer.address());
        browser.wait("document.getElementById('setup')");
        browser.run::<()>("document.querySelector('[name=author]').focus()", &[]);
        browser.keys(key::ENTER);
        browser.wait("!document.getElementById('work').hidden");
    }

    fn said(&self) -> Vec<Value> {
        let reviews = reviews(&self.sandbox);
        let said = reviews.iter().map(|it| json!([it["id"], it["verdict"]]));
        said.collect()
    }
}

/// Presses keys and waits for the question at this place.
fn press(browser: &Browser, keys: &str, place: &str) {
    browser.keys(keys);
    browser.wait(&format!(
        "document.getElementById('place').innerText.startsWith('{place}')"
    ));
    browser.wait("document.getElementById('work').getAttribute('aria-busy') !== 'true'");
}

fn press_control_enter(browser: &Browser) {
    browser.run::<()>(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true}))",
        &[],
    );
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn questions_are_reviewed_with_the_keyboard_alone() {
    let reviewed = Reviewed::new();
    let browser = reviewed.start();
    let text = browser.text("main");
    for part in [
        "1 of 5, 0 reviewed: q1",
        "single fact",
        "What about q1?",
        "450",
        "It sails at nine.",
    ] {
        assert!(text.contains(part), "`{part}` in {text}");
    }
    assert_eq!(browser.texts("mark"), ["carries 450 passengers"]);
    press(&browser, "1", "2 of 5, 1 reviewed: q2");
    assert_eq!(
        browser.texts("mark"),
        ["carries 450 passengers", "Åse carries 90 passengers"]
    );
    press(&browser, "3", "3 of 5, 2 reviewed: q3");
    assert!(
        browser
            .text("#answer")
            .contains("The documents do not answer")
    );
    assert!(browser.text("#evidence").contains("names no document"));

    // An edit, with a note.
    browser.keys("n");
    browser.keys("is vague: 1 of 3");
    browser.keys(key::ESCAPE);
    browser.keys("2");
    browser.wait("document.activeElement.id === 'new-question'");
    assert!(browser.run::<bool>("return document.getElementById('answer-part').hidden", &[]));
    browser.keys(" And why?");
    press_control_enter(&browser);
    browser.wait("document.getElementById('place').innerText.startsWith('4 of 5, 3 reviewed: q4')");
    assert!(
        browser
            .text("#evidence .notice")
            .contains("“It sails at ten.”")
    );
    press(&browser, "1", "5 of 5, 4 reviewed: q5");
    assert!(
        browser
            .text("#evidence .notice")
            .contains("do not have this one any more")
    );

    // Back, where a different verdict takes back the one before.
    press(&browser, "u", "4 of 5, 4 reviewed: q4");
    assert_eq!(browser.text("[aria-pressed=true]"), "1 keep");
    press(&browser, "3", "5 of 5, 4 reviewed: q5");
    browser.keys("3");
    browser.wait("!document.getElementById('finished').hidden");
    assert!(browser.text("#finished").contains("All 5 questions"));

    let said = reviews(&reviewed.sandbox);
    assert!(said.iter().all(|it| it["author"] == "ada"));
    let edit = &said[2];
    assert_eq!(
        [&edit["question"], &edit["defect"]],
        ["What about q3? And why?", "is vague: 1 of 3"]
    );
    let expected = [
        ["q1", "keep"],
        ["q2", "drop"],
        ["q3", "edit"],
        ["q4", "keep"],
        ["q4", "drop"],
        ["q5", "drop"],
    ];
    assert_eq!(reviewed.said(), expected.map(|it| json!(it)));
    press(&browser, "u", "5 of 5, 5 reviewed: q5");
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn passages_are_graded_with_the_keyboard_alone() {
    let sandbox = Sandbox::new();
    let document =
        |id: &str| json!({"id": id, "text": format!("<b>Ferry</b> {id} sails at nine.")});
    let question =
        |id: &str| json!({"id": id, "question": format!("When sails {id}?"), "relevant": id});
    sandbox.write(
        "documents.jsonl",
        test_set::lines(&["a", "b"].map(document)),
    );
    sandbox.write(
        "questions.jsonl",
        test_set::lines(&["a", "b"].map(question)),
    );
    sandbox.write(
        "ferries.yaml",
        "name: ferries\ndocuments: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, relevant: [relevant]}\n",
    );
    sandbox.succeed("run ferries.yaml --skip-qa --profile bm25 --name first");
    let line = "pool first --dataset ferries.yaml --view";
    let viewer = Viewer::start(sandbox.command(line).env("USER", "ada"));
    let browser = Browser::start();
    let open = || {
        browser.visit(viewer.address());
        browser.wait("document.getElementById('setup')");
        browser.run::<()>("document.querySelector('[name=author]').focus()", &[]);
        browser.keys(key::ENTER);
    };
    open();
    browser.wait("!document.getElementById('work').hidden");
    check(&browser, "grading");
    assert!(browser.text("#evidence").contains("<b>Ferry</b> "));
    let answer = "return document.getElementById('answer').checkVisibility() || document.getElementById('note').checkVisibility()";
    assert!(
        !browser.run::<bool>(answer, &[]),
        "a passage has a grade alone"
    );
    press(&browser, "3", "2 of 4, 1 graded");
    press(&browser, "s", "3 of 4, 1 graded");
    press(&browser, "0", "4 of 4, 2 graded");
    // Back, where a different grade replaces the one before.
    press(&browser, "u", "3 of 4, 2 graded");
    assert_eq!(
        browser.text("[aria-pressed=true]"),
        "0 nothing to do with it"
    );
    assert_eq!(browser.text("#said"), "Graded by ada");
    press(&browser, "1", "4 of 4, 2 graded");
    // What was skipped comes at the end.
    press(&browser, "2", "2 of 4, 3 graded");
    browser.keys("0");
    browser.wait("!document.getElementById('finished').hidden");
    assert!(
        browser
            .text("#finished")
            .contains("All 4 passages are graded.")
    );
    open();
    browser.wait(
        "document.getElementById('finished').innerText.startsWith('People have graded every')",
    );
    let path = sandbox.data().join("judgements/ferries.jsonl");
    let stored = std::fs::read_to_string(path).unwrap();
    let grades = stored.split("\"grade\":").skip(1).map(|rest| &rest[..1]);
    assert_eq!(grades.collect::<String>(), "30120");
    assert_eq!(stored.matches("{\"person\":\"ada\"}").count(), 5);
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn what_was_typed_is_not_lost_and_single_keys_can_be_turned_off() {
    let reviewed = Reviewed::new();
    let browser = reviewed.start();
    press(&browser, "1", "2 of 5, 1 reviewed");
    browser.keys("2");
    browser.wait("document.activeElement.id === 'new-question'");
    browser.keys(" Really?");
    browser.keys(key::ESCAPE);
    browser.keys("1");
    browser.wait("!document.getElementById('failure').hidden");
    assert!(browser.text("#failure").contains("is changed below"));
    browser.keys("u");
    browser.wait("document.getElementById('failure').innerText.includes('is not stored')");
    assert!(browser.text("#place").starts_with("2 of 5, 1 reviewed"));
    let asks = "return !dispatchEvent(new Event('beforeunload', {cancelable: true}))";
    assert!(
        browser.run::<bool>(asks, &[]),
        "leaving the page would lose the edit"
    );
    browser.press_button("Ctrl");
    browser.wait("document.getElementById('place').innerText.startsWith('3 of 5, 2 reviewed')");
    assert!(!browser.run::<bool>(asks, &[]), "everything is stored");
    browser.click("#keys");
    browser.keys("1");
    browser.keys("3");
    assert_eq!(
        reviewed.said(),
        [json!(["q1", "keep"]), json!(["q2", "edit"])]
    );
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_review_that_another_page_stored_is_shown_before_it_is_replaced() {
    let reviewed = Reviewed::new();
    let [one, other] = [reviewed.start(), reviewed.start()];
    press(&one, "1", "2 of 5, 1 reviewed");
    other.keys("3");
    other.wait("!document.getElementById('failure').hidden");
    assert!(other.text("#failure").contains("ada said “keep”"));
    assert_eq!(other.text("[aria-pressed=true]"), "1 keep");
    press(&other, "3", "2 of 5, 1 reviewed");
    assert_eq!(
        reviewed.said(),
        [json!(["q1", "keep"]), json!(["q1", "drop"])]
    );
    one.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn hostile_texts_are_shown_literally_and_a_document_is_opened_whole() {
    let hostile = "</script><img src=x onerror=alert(1)>&lt;b\u{202e}evil\u{2028}end";
    let sandbox = Sandbox::new();
    test_set::write(&sandbox);
    let text = format!("{0}{hostile} {0}", "Some words. ".repeat(1_500));
    let document = json!({"id": hostile, "text": text});
    sandbox.write("set/documents.jsonl", test_set::lines(&[document]));
    let span = json!({"document": hostile, "quote": hostile});
    let question = json!({
        "id": hostile, "question": hostile, "answer": hostile, "kind": "vague", "asker": hostile, "relevant": [hostile], "evidence": [span],
    });
    sandbox.write("set/questions.jsonl", test_set::lines(&[question]));
    let reviewed = Reviewed::of(sandbox);
    let browser = reviewed.start();
    let shown = "</script><img src=x onerror=alert(1)>&lt;b\\u{202e}evil\\u{2028}end";
    for part in ["#question", "#answer", "mark", "#evidence h3"] {
        let text: String = browser.run(
            "return document.querySelector(arguments[0]).textContent",
            &[part.into()],
        );
        assert_eq!(text, shown, "{part}");
    }
    assert!(browser.run::<bool>("return document.querySelector('main img') === null", &[]));
    let length = "return document.querySelector('#evidence .text').textContent.length";
    assert!(browser.run::<usize>(length, &[]) < 2_000);
    browser.press_button("Show the whole document");
    assert!(browser.run::<usize>(length, &[]) > 36_000);
    assert_eq!(browser.texts("mark").len(), 1);
    browser.assert_no_stall();
    browser.keys("1");
    browser.wait("!document.getElementById('finished').hidden");
    assert_eq!(reviewed.said(), [json!([hostile, "keep"])]);
    browser.end(&["http://127.0.0.1:", "data:,"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_reviewing_page_has_no_violations_in_light_and_dark() {
    let reviewed = Reviewed::new();
    let browser = Browser::start();
    for (scheme, next) in [("light", "q2"), ("dark", "q3")] {
        browser.prefer(scheme);
        browser.visit(reviewed.viewer.address());
        browser.wait("document.getElementById('setup')");
        check(&browser, &format!("reviewing, {scheme}, before the start"));
        reviewed.open(&browser);
        check(&browser, &format!("reviewing, {scheme}"));
        browser.run::<()>("document.querySelector('[data-verdict=edit]').click()", &[]);
        browser.wait("!document.getElementById('edit').hidden");
        check(&browser, &format!("reviewing, {scheme}, an edit"));
        browser.keys(key::ESCAPE);
        browser.keys("1");
        browser.wait(&format!(
            "document.getElementById('place').innerText.endsWith('{next}')"
        ));
        check(&browser, &format!("reviewing, {scheme}, the next question"));
    }
    browser.resize(400, 800);
    assert!(browser.run::<bool>(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth",
        &[]
    ));
    browser.end(&["http://127.0.0.1:", "data:,"]);
}
