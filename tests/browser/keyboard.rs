//! Reading with the keyboard alone.

use crate::browser::{Browser, key};
use crate::pages::Pages;

/// The element with the focus, as its tag and text, and whether a reader sees the focus.
fn focused(browser: &Browser) -> (String, bool) {
    browser.run(
        "const it = document.activeElement;
         const style = getComputedStyle(it);
         return [`${it.localName} ${(it.innerText ?? '').trim().split('\\n')[0]}`.trim(), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]",
        &[],
    )
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn search_sort_open_and_next_need_no_mouse() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::start();
    browser.open(&page, "");
    browser.wait("document.querySelector('.rows tbody tr')");
    browser.keys("/");
    assert_eq!(focused(&browser), ("input".to_owned(), true));
    browser.keys("refused");
    browser.wait("document.querySelector('.count').innerText.startsWith('60 of 300')");

    // Every control on the way to the table shows its focus. The head of the third column sorts.
    let mut way = Vec::new();
    for _ in 0..60 {
        browser.keys(key::TAB);
        let (name, is_visible) = focused(&browser);
        assert!(is_visible, "`{name}` hides its focus");
        way.push(name.clone());
        if name == "button seconds" {
            break;
        }
    }
    assert_eq!(
        way.last().map(String::as_str),
        Some("button seconds"),
        "{way:?}"
    );
    browser.keys(key::ENTER);
    browser.wait("document.querySelector('th[aria-sort=descending] button')?.innerText.startsWith('seconds')");

    browser.keys(key::TAB);
    let (first, _) = focused(&browser);
    browser.keys(key::DOWN);
    browser.keys(key::DOWN);
    let (third, is_visible) = focused(&browser);
    assert!(first.starts_with("a q") && third.starts_with("a q") && first != third && is_visible);
    browser.keys(key::ENTER);
    browser.wait("document.querySelector('dialog .ranking')");
    assert_eq!(browser.text(".place"), "3 of 60");
    browser.keys("j");
    browser.wait("document.querySelector('.place').innerText === '4 of 60'");
    browser.keys("k");
    browser.wait("document.querySelector('.place').innerText === '3 of 60'");
    browser.keys(key::ESCAPE);
    browser.wait("!document.querySelector('dialog')");
    assert_eq!(focused(&browser).0, third);

    // The last row is not in the document until the focus gets there.
    browser.keys(key::END);
    browser.wait("document.activeElement.closest('tr')?.getAttribute('aria-rowindex') === '61'");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn single_keys_can_be_switched_off() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::start();
    browser.open(&page, "");
    browser.wait("document.querySelector('.keys input')");
    browser.click(".keys input");
    browser.keys("/");
    assert_ne!(focused(&browser).0, "input type=search");
    assert!(!browser.run::<bool>("return document.activeElement.type === 'search'", &[]));
    browser.end(&["file://"]);
}
