//! The pages that the program writes of its own runs.

use crate::accessibility::check_schemes;
use crate::browser::Browser;
use crate::sandbox::Sandbox;

/// Opens the first case, waits for its ranking, and has Axe look at it.
fn look_into_a_case(browser: &Browser, page: &str) {
    browser.run::<()>("document.querySelector('.rows tbody a').click()", &[]);
    browser.wait("document.querySelector('dialog .ranking li')");
    check_schemes(browser, &format!("{page}, a case"));
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_run_of_question_answering_has_a_page() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --skip-retrieval --no-progress --out report.html");
    let browser = Browser::on(&sandbox.work().join("report.html"), "");
    assert_eq!(browser.text(".card .measure"), "equivalent");
    assert!(
        browser
            .text(".sentence")
            .contains("of 40 answers are right")
    );
    assert_eq!(browser.texts("#worst li").len(), 5);
    assert_eq!(browser.text(".count"), "40 cases");
    check_schemes(&browser, "question answering");
    look_into_a_case(&browser, "question answering");
    let headings = browser.texts("dialog h3");
    for heading in [
        "question",
        "reference",
        "answer",
        "Outcomes",
        "Ranking",
        "Service time",
    ] {
        assert!(
            headings.iter().any(|it| it == heading),
            "{heading}: {headings:?}"
        );
    }
    assert!(!browser.texts("dialog del, dialog ins").is_empty());
    browser.run::<()>(
        "document.querySelector('dialog .ranking details:not([open]) summary').click()",
        &[],
    );
    browser.wait("document.querySelector('dialog .passage .text')?.innerText.length > 100");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn several_profiles_have_one_page_and_one_tab_each() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --skip-qa --profile bm25 --profile semantic --no-progress --out report.html");
    let browser = Browser::on(&sandbox.work().join("report.html"), "");
    check_schemes(&browser, "profiles");
    look_into_a_case(&browser, "profiles");
    assert_eq!(browser.texts("[role=tab]"), ["bm25", "semantic"]);
    assert_eq!(
        browser.texts("dialog .outcomes thead th"),
        ["evaluator", "bm25", "semantic"]
    );
    browser.run::<()>("document.querySelectorAll('[role=tab]')[1].click()", &[]);
    browser.wait(
        "document.querySelectorAll('[role=tab]')[1].getAttribute('aria-selected') === 'true'",
    );
    // The next case opens the same tab.
    let first = browser.text("dialog h2");
    browser.keys("j");
    browser.wait(&format!("document.querySelector('dialog h2').innerText !== '{first}' && document.querySelector('dialog .ranking li')"));
    assert_eq!(browser.text("[role=tab][aria-selected=true]"), "semantic");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_comparison_has_a_page() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --skip-qa --profile bm25 --profile hybrid --no-progress");
    let names: Vec<String> = sandbox
        .runs()
        .iter()
        .map(|run| run.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let named = |profile: &str| names.iter().find(|it| it.ends_with(profile)).unwrap();
    sandbox.succeed(&format!(
        "compare {} {} --out change.html",
        named("-bm25"),
        named("-hybrid")
    ));
    let browser = Browser::on(&sandbox.work().join("change.html"), "");
    assert_eq!(browser.text(".count"), "40 cases");
    check_schemes(&browser, "comparison");
    look_into_a_case(&browser, "comparison");
    assert_eq!(browser.texts("dialog .ranking").len(), 2);
    assert_eq!(
        browser.texts("dialog .heads p"),
        ["Before bm25", "After hybrid"]
    );
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn every_link_of_a_figure_leads_to_as_many_cases_as_it_says() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --skip-retrieval --no-progress --out report.html");
    let browser = Browser::on(&sandbox.work().join("report.html"), "");
    // The row of an ending reads `answered wrongly`, then `12 (30.0 %)`.
    let endings = links(&browser, "#figure-breakdown a", r"(\d+) \(");
    assert!(endings.len() > 3, "{endings:?}");
    // A bin's title reads `0.05 to 0.10: 3 cases`; the bar of undefined values `7` above `undefined`.
    let bins = links(&browser, "#figure-scores a", r"(\d+)(?: case|\s*undefined)");
    assert!(bins.len() > 3, "{bins:?}");
    let in_bins: usize = bins.iter().map(|(_, count)| count).sum();
    assert_eq!(in_bins, 40, "{bins:?}");
    for (link, count) in endings.iter().chain(&bins) {
        browser.run::<()>(
            "document.querySelector(`#figures a[href=\"${arguments[0]}\"]`).dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))",
            &[link.as_str().into()],
        );
        let shown = if *count == 40 {
            "40 cases".to_owned()
        } else {
            format!("{count} of 40 cases")
        };
        browser.wait(&format!(
            "document.querySelector('.count').innerText === '{shown}'"
        ));
        let rows = browser.texts(".rows tbody tr:not(.spacer)").len();
        assert_eq!(rows, *count, "{link}");
    }
    browser.end(&["file://"]);
}

/// The links of a figure, each with the number in its text that the first group of a pattern finds.
fn links(browser: &Browser, selector: &str, pattern: &str) -> Vec<(String, usize)> {
    browser.run(
        "return [...document.querySelectorAll(arguments[0])].map((it) => [it.getAttribute('href'), Number(it.textContent.match(arguments[1])[1])])",
        &[selector.into(), pattern.into()],
    )
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_text_of_figures_is_readable_in_any_window() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 40 --no-progress --profile bm25 --profile semantic --profile hybrid --out report.html");
    let smallest = "return Math.min(...[...document.querySelectorAll('#figures svg')].flatMap((svg) => {
            const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return scale === 0 ? [] : [...svg.querySelectorAll('text')].map((it) => Number(it.getAttribute('font-size')) * scale);
        }))";
    let shown = "return [...document.querySelectorAll('figure')].filter((it) => it.offsetHeight > 0).length";
    for page in ["report.html", "report.hybrid.html", "report.qa.html"] {
        let browser = Browser::on(&sandbox.work().join(page), "");
        let tabs = browser.texts("#figures label").len();
        assert!(tabs > 1, "{page}");
        for (width, tab) in [400, 1200, 1600]
            .into_iter()
            .flat_map(|it| (0..tabs).map(move |tab| (it, tab)))
        {
            browser.resize(width, 900);
            browser.run::<()>(
                "document.querySelectorAll('#figures label')[arguments[0]].click()",
                &[tab.into()],
            );
            assert_eq!(
                browser.run::<usize>(shown, &[]),
                1,
                "{page}: one figure at a time"
            );
            let pixels: f64 = browser.run(smallest, &[]);
            assert!(
                (9.0..=15.0).contains(&pixels),
                "{page} at {width}, figure {tab}: {pixels} pixels"
            );
        }
        browser.end(&["file://"]);
    }
}
