//! Search in texts that the page is still reading.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::pages::Pages;
use crate::synthetic::Synthetic;

/// Types a query before the texts are read, and waits until they are.
const SEARCH: &str = "
    const field = document.querySelector('input[type=search]');
    field.value = arguments[0];
    field.dispatchEvent(new Event('input'));
    const status = document.querySelector('[role=status]');
    window.spoken = [];
    new MutationObserver(() => spoken.push(status.innerText)).observe(status, {childList: true, characterData: true, subtree: true});
    return document.querySelector('.progress').innerText";

/// The first rows and the count.
const FOUND: &str = "return [[...document.querySelectorAll('.rows tbody th a')].map((it) => it.innerText), document.querySelector('.count').innerText]";

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn matches_that_come_while_texts_are_read_are_those_of_a_search_afterwards() {
    let pages = Pages::new();
    let page = pages.synthetic(Synthetic::full(), evals_html::page::Texts::Kept);
    let browser = Browser::on(&page, "#f.where=right&sort=-seconds");
    let progress: String = browser.run(SEARCH, &["the".into()]);
    assert!(progress.ends_with("% of the texts searched"), "{progress}");
    browser.wait("document.querySelector('.progress').innerText === ''");
    let meanwhile: Value = browser.run(FOUND, &[]);
    let spoken: Vec<String> = browser.run("return spoken", &[]);
    assert!(spoken.iter().all(|it| !it.contains('%')), "{spoken:?}");

    browser.run::<String>(SEARCH, &["th".into()]);
    browser.run::<String>(SEARCH, &["the".into()]);
    let afterwards: Value = browser.run(FOUND, &[]);
    assert_eq!(meanwhile, afterwards);
    assert_ne!(meanwhile[0], json!([]));
    browser.end(&["file://"]);
}
