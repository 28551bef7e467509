//! Texts that try to become part of the page.

use evals_html::page::{FieldRole, Texts};
use evals_messages::visible;

use crate::browser::Browser;
use crate::pages::{Pages, cases};
use crate::synthetic::{HOSTILE, Synthetic};

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn hostile_texts_are_shown_literally() {
    let pages = Pages::new();
    let made = cases(100);
    let page = pages.synthetic(made, Texts::Kept);
    let browser = Browser::on(&page, "");
    for row in 0..HOSTILE.len() {
        let case = made.case(row);
        browser.run::<()>(
            "location.hash = 'case=' + arguments[0]",
            &[case.id.as_str().into()],
        );
        browser.wait(&format!("document.querySelector('dialog h2')?.innerText === '{}' && document.querySelector('dialog .question')", case.id));
        let question = case
            .fields
            .iter()
            .find(|it| it.role == FieldRole::Question)
            .unwrap();
        let shown: String = browser.run(
            "return document.querySelector('dialog .question').textContent",
            &[],
        );
        assert_eq!(shown, visible::text(&question.text));
    }
    assert_eq!(
        browser.run::<String>("return document.title", &[]),
        "synthetic <qa> evaluation"
    );
    let strangers: usize = browser.run(
        "return document.querySelectorAll('img, iframe, object, template, i').length",
        &[],
    );
    assert_eq!(strangers, 0);
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_word_of_a_megabyte_neither_stalls_nor_widens_the_page() {
    let pages = Pages::new();
    let made = Synthetic {
        long_word: 1_000_000,
        ..cases(100)
    };
    let page = pages.synthetic(made, Texts::Kept);
    let browser = Browser::on(&page, "");
    browser.run::<()>(
        "location.hash = 'case=' + arguments[0]",
        &[made.case(0).id.into()],
    );
    browser.wait("document.querySelector('dialog .more')");
    browser.assert_no_stall();
    let shown: String = browser.run(
        "return document.querySelector('dialog ins').textContent",
        &[],
    );
    assert_eq!(shown, "A".repeat(20_000), "breaks add nothing to the text");
    assert_eq!(
        browser.text("dialog .more"),
        "Show 20,000 more of 980,000 characters"
    );
    browser.press_button("Show 20,000 more");
    browser.wait("document.querySelector('dialog .more').innerText.includes('960,000')");
    let fits: bool = browser.run(
        "const it = document.querySelector('dialog'); return it.scrollWidth <= it.clientWidth",
        &[],
    );
    assert!(fits, "the panel is wider than the window");
    browser.run::<()>("location.hash = 'q=' + 'A'.repeat(2000)", &[]);
    browser.wait("document.querySelector('.count').innerText.startsWith('1 of 100 cases')");
    browser.end(&["file://"]);
}
