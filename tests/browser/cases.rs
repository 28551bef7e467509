//! The table of cases, and the panel of one.

use evals_messages::visible;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::pages::Pages;
use crate::synthetic::{HOSTILE, Synthetic};

/// The cells of a column in the rows that are drawn.
fn column(browser: &Browser, number: usize) -> Vec<String> {
    browser.texts(&format!(
        ".rows tbody tr:not(.spacer) > :nth-child({number})"
    ))
}

fn search(browser: &Browser, words: &str) {
    browser.click("input[type=search]");
    browser.keys(words);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn few_rows_of_many_are_in_the_document() {
    let pages = Pages::new();
    let page = pages.synthetic(Synthetic::full(), evals_html::page::Texts::Kept);
    let browser = Browser::on(&page, "");
    let count = || {
        browser.run::<usize>(
            "return document.querySelectorAll('.rows tbody tr').length",
            &[],
        )
    };
    assert!(count() < 100, "{} rows", count());
    assert_eq!(
        browser.run::<String>(
            "return document.querySelector('.rows table').getAttribute('aria-rowcount')",
            &[]
        ),
        "5001"
    );
    browser.run::<()>(
        "const rows = document.querySelector('.rows'); rows.scrollTop = rows.scrollHeight",
        &[],
    );
    browser.wait("document.querySelector('[aria-rowindex=\"5001\"]')");
    assert!(count() < 100, "{} rows", count());
    let is_visible: bool = browser.run(
        "const row = document.querySelector('[aria-rowindex=\"5001\"]').getBoundingClientRect();
         const rows = document.querySelector('.rows').getBoundingClientRect();
         return row.bottom <= rows.bottom + 1 && row.top >= rows.top",
        &[],
    );
    assert!(is_visible, "the last row is out of sight");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn words_of_answers_are_found() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "");
    // The answer of row 42 ends with this text, and no question holds it in this case.
    search(&browser, "[31MRED escape");
    browser.wait("document.querySelector('.count').innerText.includes('of 300 cases')");
    browser.wait("document.querySelector('.progress').innerText === ''");
    let found = column(&browser, 2);
    let expected: Vec<usize> = (0..300)
        .filter(|&row| {
            let made = crate::pages::cases(300).case(row);
            let fields = made
                .fields
                .iter()
                .chain(made.runs.iter().flat_map(|run| &run.fields));
            fields
                .into_iter()
                .any(|field| field.text.contains("[31mred"))
        })
        .collect();
    assert_eq!(found.len(), expected.len());
    assert!(
        browser
            .text(".count")
            .starts_with(&format!("{} of 300", expected.len()))
    );
    browser.wait("location.hash === '#q=%5B31MRED%20escape'");
    browser.press_button("Show all cases");
    browser.wait("document.querySelector('.count').innerText === '300 cases'");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn undefined_values_sort_last_in_both_directions() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "");
    let shown = |cells: Vec<String>| {
        let numbers: Vec<f64> = cells.iter().map_while(|it| it.parse().ok()).collect();
        let rest: Vec<String> = cells[numbers.len()..].to_vec();
        (numbers, rest)
    };
    browser.run::<()>("[...document.querySelectorAll('label')].find((it) => it.innerText.includes('all rows')).click()", &[]);
    browser.wait("document.querySelectorAll('.rows tbody tr').length === 300");
    for direction in ["ascending", "descending"] {
        browser.press_button("token F1");
        browser.wait(&format!(
            "document.querySelector('th[aria-sort={direction}]')"
        ));
        let (numbers, rest) = shown(column(&browser, 5));
        let is_sorted = match direction {
            "ascending" => numbers.is_sorted(),
            _ => numbers.is_sorted_by(|a, b| a >= b),
        };
        assert!(is_sorted, "{direction}: {numbers:?}");
        assert_eq!(numbers.len(), 294);
        assert!(
            rest.iter().all(|it| it == "undefined" || it.is_empty()),
            "{rest:?}"
        );
    }
    // Equal values are in the order of their ids.
    browser.press_button("equivalent");
    browser.wait("location.hash.includes('sort=equivalent')");
    let ids = column(&browser, 1);
    let failed = column(&browser, 4)
        .iter()
        .filter(|it| it.ends_with("failed"))
        .count();
    assert!(failed > 100 && ids[..failed].is_sorted() && ids[failed..].is_sorted());
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn labels_and_ranges_filter() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "");
    browser.press_button("not retrieved");
    browser.wait("document.querySelector('.count').innerText === '60 of 300 cases'");
    browser.press_button("refused wrongly");
    browser.wait("document.querySelector('.count').innerText === '120 of 300 cases'");
    browser.wait("location.hash === '#f.where=not%20retrieved&f.where=refused%20wrongly'");
    // A link of a figure: at least the lower end, below the upper one.
    browser.run::<()>("location.hash = 'f.f1=0.1..0.2'", &[]);
    browser.wait(
        "document.querySelector('[aria-pressed=true]')?.innerText.includes('0.1 to below 0.2')",
    );
    let scores: Vec<f64> = column(&browser, 5)
        .iter()
        .map(|it| it.parse().unwrap())
        .collect();
    assert!(
        !scores.is_empty() && scores.iter().all(|it| (0.1..0.2).contains(it)),
        "{scores:?}"
    );
    browser.run::<()>("location.hash = 'f.f1=undefined'", &[]);
    browser.wait("document.querySelector('.count').innerText === '3 of 300 cases'");
    assert!(column(&browser, 5).iter().all(|it| it == "undefined"));
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_case_opens_and_the_next_one_follows() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "#f.where=right");
    let ids = column(&browser, 1);
    browser.click(".rows tbody tr:nth-child(2) a");
    browser.wait("document.querySelector('dialog .ranking')");
    assert_eq!(browser.text("dialog h2"), ids[1]);
    assert_eq!(browser.text(".place"), "2 of 60");
    let headings = browser.texts("dialog h3");
    let expected = [
        "question",
        "reference",
        "answer",
        "verdict: equivalent",
        "Outcomes",
        "Ranking",
        "Service time",
    ];
    assert_eq!(headings[..7], expected);
    assert!(
        browser
            .texts(".mark")
            .iter()
            .any(|it| it.contains("relevant (grade 2)"))
    );
    browser.run::<()>(
        "document.querySelector('dialog .ranking details:not([open]) summary').click()",
        &[],
    );
    browser.wait("document.querySelector('dialog .passage .text')?.innerText.length > 100");
    browser.keys("j");
    browser.wait(&format!(
        "document.querySelector('dialog h2').innerText === '{}'",
        ids[2]
    ));
    browser.wait(&format!("location.hash.endsWith('case={}')", ids[2]));
    browser.press_button("Close");
    browser.wait("!document.querySelector('dialog')");
    browser.wait("location.hash === '#f.where=right'");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn repetitions_are_tabs_and_steps_a_tree() {
    let pages = Pages::new();
    let page = pages.run();
    let repeated = crate::pages::cases(300).case(7).id;
    let browser = Browser::on(&page, &format!("#case={repeated}"));
    browser.wait("document.querySelector('[role=tab]')");
    assert_eq!(
        browser.texts("[role=tab]"),
        ["Repetition 1", "Repetition 2"]
    );
    let before = browser.text("[role=tabpanel]");
    browser.press_button("Repetition 2");
    browser.wait("document.querySelector('#tab-1').getAttribute('aria-selected') === 'true'");
    assert_ne!(browser.text("[role=tabpanel]"), before);
    let stepped = crate::pages::cases(300).case(3).id;
    browser.run::<()>("location.hash = 'case=' + arguments[0]", &[stepped.into()]);
    browser.wait("document.querySelector('.steps .steps')");
    assert!(
        browser
            .text(".steps .steps")
            .contains("execute_tool search")
    );
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_turn_shows_what_was_said_before_and_leads_to_the_others() {
    let pages = Pages::new();
    let page = pages.run();
    let [first, second] = [41, 42].map(|row| crate::pages::cases(300).case(row));
    let browser = Browser::on(&page, &format!("#case={}", second.id));
    browser.wait("document.querySelector('.chat .turns')");
    assert_eq!(
        browser.text(".chat summary"),
        "2 turns of this conversation, by equivalent"
    );
    assert_eq!(browser.texts(".messages li > p"), ["User", "Assistant"]);
    let said: String = browser.run(
        "return document.querySelector('.messages .assistant .text').textContent",
        &[],
    );
    assert_eq!(said, visible::text(&HOSTILE.concat()));
    let questions = browser.texts(".turns a, .chat .question");
    assert_eq!(questions[1], questions[2], "the second turn is shown");
    browser.click(".turns a");
    browser.wait(&format!(
        "document.querySelector('dialog h2').innerText === '{}'",
        first.id
    ));
    let focused: String = browser.run("return document.activeElement.id", &[]);
    assert_eq!(focused, "case-title");
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn the_csv_holds_the_rows_shown_and_no_formulas() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "#q=HYPERLINK&f.where=not%20retrieved");
    browser.wait("document.querySelector('.count').innerText.includes('of 300')");
    browser.devtools("Browser.setDownloadBehavior", &json!({"behavior": "deny"}));
    browser.run::<()>(
"const make = URL.createObjectURL;
         URL.createObjectURL = (blob) => { blob.text().then((it) => (window.saved = it)); return make.call(URL, blob) }",
        &[],
    );
    browser.press_button("CSV of these rows");
    browser.wait("window.saved");
    let saved: String = browser.run("return window.saved", &[]);
    let lines: Vec<&str> = saved.lines().collect();
    assert_eq!(
        lines[0],
        "id,question,where,equivalent,token F1,seconds,topic"
    );
    let shown = column(&browser, 1).len();
    assert_eq!(lines.len(), shown + 1);
    let formula = lines
        .iter()
        .find(|it| it.contains("=HYPERLINK"))
        .expect("a formula is there");
    assert!(formula.contains(r#","'=HYPERLINK(""http"#), "{formula}");
    let is_formula = |cell: &str| {
        cell.trim_start_matches('"')
            .starts_with(['=', '+', '-', '@'])
    };
    assert!(!lines.iter().any(|line| line.split(',').any(is_formula)));
    browser.end(&["file://"]);
}

#[test]
#[ignore = "needs Chromium: make test-browser"]
fn a_link_to_a_case_survives_odd_ids() {
    let pages = Pages::new();
    let page = pages.run();
    let browser = Browser::on(&page, "#case=no%20such%26case");
    browser.wait("document.querySelector('dialog .problem')");
    assert_eq!(
        browser.text("dialog .problem"),
        "No case of this page has the id no such&case"
    );
    let state: Value = browser.run("return [location.hash, history.length]", &[]);
    assert_eq!(state[0], "#case=no%20such%26case");
    browser.end(&["file://"]);
}
