//! What a reader sees without touching anything: on the screen, on paper, and without scripts.

use evals_html::page::Texts;
use serde_json::json;

use crate::browser::Browser;
use crate::pages::{Pages, cases};

/// Whether an element is drawn with some size.
const IS_DRAWN: &str = "const box = document.querySelector(arguments[0])?.getBoundingClientRect();
    return !!box && box.width > 100 && box.height > 10";

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_page_opens_with_its_answer_and_its_cases() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "");
    assert!(
        browser
            .text(".sentence")
            .starts_with("hybrid: accuracy 0.774")
    );
    assert_eq!(browser.text(".count"), "300 cases");
    assert!(browser.text("#cases table").contains("not retrieved"));
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn without_scripts_the_summary_and_the_figures_are_there() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::start();
    browser.block_scripts();
    browser.open(&page, "");
    for part in [".sentence", "#figures svg", ".listing table", "noscript p"] {
        assert!(
            browser.run::<bool>(IS_DRAWN, &[part.into()]),
            "{part} is not drawn"
        );
    }
    assert!(
        !browser.run::<bool>(IS_DRAWN, &[".rows".into()]),
        "a script has run"
    );
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_page_prints_its_summary_and_fifty_cases() {
    let pages = Pages::new();
    let page = pages.synthetic(cases(2_000), Texts::Kept);
    let browser = Browser::on(&page, "");
    let () = browser.run("addEventListener('beforeprint', () => { window.printed = document.querySelectorAll('.rows tbody tr').length })", &[]);
    browser.run::<()>("document.querySelector('.rows').scrollTop = 20000", &[]);
    let sheets = sheets(&browser.print());
    assert!((2..=12).contains(&sheets), "{sheets} sheets");
    assert_eq!(browser.run::<usize>("return window.printed", &[]), 50);
    browser.devtools("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    assert!(!browser.run::<bool>(IS_DRAWN, &[".toolbar".into()]));
    let top: f64 = browser.run(
        "return document.querySelector('.sentence').getBoundingClientRect().top + scrollY",
        &[],
    );
    assert!(top < 100.0, "the sentence is {top} pixels below the top");
    browser.end(&["file://"]);
}

/// The sheets of a PDF file as Chromium writes it: one object of this type for each.
fn sheets(pdf: &[u8]) -> usize {
    let text = String::from_utf8_lossy(pdf);
    text.matches("/Type /Page\n").count()
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_page_without_texts_says_so() {
    let pages = Pages::new();
    let page = pages.synthetic(cases(100), Texts::Omitted);
    let browser = Browser::start();
    browser.open(&page, "#case=q00000");
    browser.wait("document.querySelector('dialog .ranking')");
    assert!(browser.text("#cases").contains("left out of this page"));
    assert!(!browser.text("dialog").contains("</script>"));
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_theme_overrules_that_of_the_system() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::start();
    let background = || {
        browser.run::<String>(
            "return getComputedStyle(document.body).backgroundColor",
            &[],
        )
    };
    browser.open(&page, "");
    browser.wait("document.querySelector('.theme select')");
    let light = background();
    browser.prefer("dark");
    let dark = background();
    assert_ne!(light, dark);
    let choose = "const list = document.querySelector('.theme select');
        list.value = arguments[0];
        list.dispatchEvent(new Event('change'))";
    browser.run::<()>(choose, &["light".into()]);
    browser.wait("document.documentElement.dataset.theme === 'light'");
    assert_eq!(background(), light);
    browser.prefer("light");
    browser.run::<()>(choose, &["dark".into()]);
    browser.wait("document.documentElement.dataset.theme === 'dark'");
    assert_eq!(background(), dark);
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_file_that_was_cut_says_what_is_missing() {
    let pages = Pages::new();
    let page = pages.run();
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, text.replace("id=\"cases-1\"", "id=\"other\"")).unwrap();
    let browser = Browser::on(&page, "");
    let id: String = browser.run(
        "return document.querySelectorAll('.rows tbody a')[0].textContent",
        &[],
    );
    browser.run::<()>("location.hash = 'q=zzzz'", &[]);
    browser.wait("document.querySelector('.problem')");
    assert_eq!(
        browser.text(".problem"),
        "The search is incomplete: this file is incomplete: the part `cases-1` is missing."
    );
    browser.run::<()>("location.hash = 'case=' + arguments[0]", &[id.into()]);
    browser.wait("document.querySelector('dialog .ranking')");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn an_old_browser_is_told_which_one_it_takes() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::start();
    browser.before_pages("delete window.DecompressionStream");
    browser.open(&page, "");
    browser.wait("document.querySelector('.problem')");
    let problem = browser.text(".problem");
    assert!(
        problem.contains("lacks DecompressionStream, which Chrome has since 103"),
        "{problem}"
    );
    assert!(browser.text(".sentence").starts_with("hybrid"));
    browser.end(&["file://"]);
}
