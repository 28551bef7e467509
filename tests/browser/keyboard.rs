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
    let browser = Browser::on(&page, "");
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

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_held_key_writes_the_address_once() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "");
    browser.run::<()>(
        "window.writes = 0;
         const write = history.replaceState.bind(history);
         history.replaceState = (...address) => { writes += 1; write(...address) };
         document.querySelector('.rows tbody tr a').click()",
        &[],
    );
    browser.wait("document.querySelector('dialog .ranking')");
    browser.run::<()>(
        "for (let held = 0; held < 120; held++) dispatchEvent(new KeyboardEvent('keydown', {key: 'j', repeat: held > 0}))",
        &[],
    );
    browser.wait("document.querySelector('.place').innerText === '121 of 300'");
    let id = browser.text("dialog h2");
    browser.wait(&format!(
        "decodeURIComponent(location.hash) === '#case={id}'"
    ));
    assert_eq!(browser.run::<usize>("return writes", &[]), 1);
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn home_and_end_reach_the_first_and_last_tab() {
    let pages = Pages::new();
    let page = pages.run();
    let repeated = crate::pages::cases(300).case(7).id;
    let browser = Browser::start();
    browser.open(&page, &format!("#case={repeated}"));
    browser.wait("document.querySelector('[role=tab]')");
    browser.run::<()>("document.getElementById('tab-0').focus()", &[]);
    let presses = [
        (key::END, 1),
        (key::END, 1),
        (key::HOME, 0),
        (key::LEFT, 1),
        (key::RIGHT, 0),
    ];
    for (pressed, tab) in presses {
        browser.keys(pressed);
        browser.wait(&format!(
            "document.activeElement === document.querySelector('#tab-{tab}[aria-selected=true]')"
        ));
    }
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn only_a_press_beside_the_panel_closes_it() {
    let pages = Pages::new();
    let page = pages.run();
    let id = crate::pages::cases(300).case(7).id;
    let browser = Browser::start();
    browser.open(&page, &format!("#case={id}"));
    browser.wait("document.querySelector('dialog h2')");
    // A selection that begins in the panel and ends beside it is a click on the dialog.
    let press = |on: &str| {
        browser.run::<()>(
            "const press = (selector, kind) => document.querySelector(selector).dispatchEvent(new MouseEvent(kind, {bubbles: true}));
             press(arguments[0], 'mousedown');
             press('dialog', 'click')",
            &[on.into()],
        );
    };
    press("dialog h2");
    browser.run::<()>(
        "return new Promise((done) => requestAnimationFrame(() => done()))",
        &[],
    );
    assert!(browser.run::<bool>("return document.querySelector('dialog') !== null", &[]));
    press("dialog");
    browser.wait("!document.querySelector('dialog')");
    browser.end(&["file://"]);
}
