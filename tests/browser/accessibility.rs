//! Every page passes Axe's rules for WCAG 2.0 to 2.2, levels A and AA, in light and in dark, and fits a narrow window.

use std::env;
use std::fs;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::pages::Pages;

/// Fails with what Axe finds on the page as it is now. `make test-browser` gets Axe from npm; it is no part of the product.
pub(crate) fn check(browser: &Browser, page: &str) {
    let path = env::var("EVALUATIONS_AXE")
        .expect("`EVALUATIONS_AXE` names the file axe.min.js: run `make test-browser`");
    let axe = fs::read_to_string(path).unwrap();
    browser.run::<()>(
        &format!("if (!window.axe) {{ {axe}\n; window.axe = axe }}"),
        &[],
    );
    let found = browser.run_async(
        "const [rules, done] = arguments;
         const short = (it) => [it.id, it.nodes.slice(0, 3).map((node) => [node.html, node.failureSummary])];
         axe.run(document, {runOnly: rules}).then((it) => done([it.passes.length, it.violations.map(short)]), (error) => done(String(error)))",
        &[json!(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"])],
    );
    assert!(
        found[0].as_u64().is_some_and(|passes| passes > 5),
        "axe checked nothing: {found}"
    );
    assert_eq!(found[1], Value::Array(Vec::new()), "{page}");
}

/// [`check`] on a light system and on a dark one. The system is light afterwards.
pub(crate) fn check_schemes(browser: &Browser, page: &str) {
    for scheme in ["dark", "light"] {
        browser.prefer(scheme);
        check(browser, &format!("{page}, {scheme}"));
    }
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn pages_have_no_violations_in_light_and_dark() {
    let pages = Pages::new();
    let (run, change) = (pages.run(), Pages::new());
    let change_page = change.change();
    let browser = Browser::start();
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for (name, page) in [("run", &run), ("change", &change_page)] {
            browser.open(page, "#f.topic=sport");
            browser.wait("document.querySelector('.rows tbody tr')");
            check(&browser, &format!("{name}, {scheme}"));
            browser.press_button("Columns");
            browser.press_button("Numbers");
            check(&browser, &format!("{name}, {scheme}, menus"));
            for row in [3, 5, 7] {
                let id = crate::pages::cases(300).case(row).id;
                browser.run::<()>(
                    "location.hash = 'case=' + arguments[0]",
                    &[id.as_str().into()],
                );
                browser.wait(&format!("document.querySelector('dialog h2')?.innerText === '{id}' && document.querySelector('dialog .question')"));
                browser.run::<()>("document.querySelector('dialog summary')?.click()", &[]);
                check(&browser, &format!("{name}, {scheme}, case {id}"));
            }
        }
    }
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn pages_fit_a_narrow_window() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::start();
    browser.resize(400, 800);
    let fits = |selector: &str| -> bool {
        browser.run("const it = document.querySelector(arguments[0]); return it.scrollWidth <= it.clientWidth", &[selector.into()])
    };
    browser.open(&page, "");
    browser.wait("document.querySelector('.rows tbody tr')");
    assert!(fits("html"), "the page is wider than the window");
    browser.run::<()>(
        "location.hash = 'case=' + arguments[0]",
        &[crate::pages::cases(300).case(3).id.into()],
    );
    browser.wait("document.querySelector('dialog .ranking')");
    assert!(fits("dialog"), "the panel is wider than the window");
    check(&browser, "narrow");
    browser.end(&["file://"]);
}
