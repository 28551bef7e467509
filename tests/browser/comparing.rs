//! The page of a comparison.

use crate::browser::Browser;
use crate::pages::Pages;

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn both_sides_stand_beside_each_other() {
    let pages = Pages::new();
    let page = pages.change();
    let browser = Browser::on(&page, "#f.change=same%20answer%2C%20other%20verdict");
    assert_eq!(browser.text(".count"), "60 of 300 cases");
    browser.click(".rows tbody tr a");
    browser.wait("document.querySelectorAll('dialog .ranking').length === 2");
    assert_eq!(browser.text("dialog .remark"), "same answer, other verdict");
    let heads = browser.texts("dialog .heads p");
    assert_eq!(
        heads,
        [
            "Before 20261121T120000Z-synthetic",
            "After 20261122T120000Z-synthetic"
        ]
    );
    let tops: Vec<f64> = browser.run(
        "return [...document.querySelectorAll('dialog .ranking')].map((it) => it.getBoundingClientRect().left)",
        &[],
    );
    assert!(
        tops[0] + 200.0 < tops[1],
        "the rankings do not stand beside each other: {tops:?}"
    );
    let moves = browser.texts("dialog .move");
    assert!(
        moves.iter().any(|it| it == "gone") && moves.iter().any(|it| it == "new"),
        "{moves:?}"
    );
    assert!(!browser.texts("dialog ins").is_empty() && !browser.texts("dialog del").is_empty());
    browser.end(&["file://"]);
}
