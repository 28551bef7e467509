//! The viewer's pages: every template renders, and no text becomes markup.

use evals_html::view::{
    Asset, BrokenRow, Choice, Filter, ForwardPage, LabellingPage, Link, LiveMeasure, LivePage,
    LiveProgress, MessagePage, Reading, Reviewed, ReviewingPage, RowChange, RunRow, RunsPage,
    Sparkline, StateKind, TrendLine, TrendPage, TrendRow,
};

/// A text that does harm wherever it is not escaped.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'\u{202e}\0";

fn row(text: &str) -> RunRow {
    RunRow {
        name: text.to_owned(),
        link: Link::run(text).into_text(),
        labelling: Some(Link::of_run(text, "label").into_text()),
        started: text.to_owned(),
        state: text.to_owned(),
        state_kind: StateKind::Partial,
        title: text.to_owned(),
        benchmark: text.to_owned(),
        cases: 7,
        headline: Some(Reading {
            measure: text.to_owned(),
            value: text.to_owned(),
            interval: Some(text.to_owned()),
        }),
        change: Some(RowChange {
            difference: text.to_owned(),
            before: text.to_owned(),
            link: Link::compare(text, text).into_text(),
        }),
        sparkline: Sparkline::of(text, &[Some(0.5), Some(0.7)]),
        is_comparable: true,
        is_chosen: true,
    }
}

fn runs(text: &str) -> String {
    let page = RunsPage {
        folder: text.to_owned(),
        filters: vec![Filter {
            name: text.to_owned(),
            choices: vec![Choice {
                value: text.to_owned(),
                is_chosen: true,
            }],
        }],
        rows: vec![row(text)],
        broken: vec![BrokenRow {
            name: text.to_owned(),
            reason: text.to_owned(),
        }],
        found: 300,
        all: Some(Link::runs().with("dataset", text).into_text()),
        changes: Link::changes("1").into_text(),
    };
    page.html().expect("the template has no fault")
}

fn live(text: &str) -> String {
    let facts = vec![(text.to_owned(), text.to_owned())];
    let page = LivePage {
        name: text.to_owned(),
        facts: facts.clone(),
        progress: LiveProgress {
            state: text.to_owned(),
            notice: Some(text.to_owned()),
            cases: Some((3, 10)),
            done: text.to_owned(),
            facts,
            measures: vec![LiveMeasure {
                name: text.to_owned(),
                value: text.to_owned(),
                interval: text.to_owned(),
                n: 3,
                drawn: Some((0.5, 0.25, 0.75)),
            }],
        },
        stream: Some(Link::of_run(text, "progress").into_text()),
        link: Link::run(text).into_text(),
    };
    page.html().expect("the template has no fault")
}

fn trend(text: &str) -> String {
    let page = TrendPage {
        title: Some(text.to_owned()),
        measures: vec![(text.to_owned(), Link::trends().into_text(), true)],
        figure: "<svg></svg>".to_owned(),
        caption: text.to_owned(),
        rows: vec![TrendRow {
            started: text.to_owned(),
            name: text.to_owned(),
            link: Link::run(text).into_text(),
            value: text.to_owned(),
            interval: text.to_owned(),
            changed: vec![text.to_owned()],
            broken: "other questions".to_owned(),
        }],
        ..TrendPage::default()
    };
    page.html().expect("the template has no fault")
}

fn trends(text: &str) -> String {
    let page = TrendPage {
        lines: vec![TrendLine {
            dataset: text.to_owned(),
            benchmark: text.to_owned(),
            profile: text.to_owned(),
            runs: 4,
            link: Link::trends().with("dataset", text).into_text(),
            sparkline: Sparkline::of(text, &[Some(0.5), Some(0.7)]),
        }],
        ..TrendPage::default()
    };
    page.html().expect("the template has no fault")
}

fn labelling(text: &str) -> String {
    let page = LabellingPage {
        name: text.to_owned(),
        link: Link::run(text).into_text(),
        queue: Link::of_run(text, "label/queue").into_text(),
        answer: Link::of_run(text, "label/answer").into_text(),
        agreement: Link::of_run(text, "label/agreement").into_text(),
        labels: Link::of_run(text, "labels").into_text(),
        labeller: text.to_owned(),
        measure: Some(text.to_owned()),
        measures: vec![(
            text.to_owned(),
            Link::of_run(text, "label")
                .with("measure", text)
                .into_text(),
            true,
        )],
        answers: 7,
        size: 5,
        notice: Some(text.to_owned()),
    };
    page.html().expect("the template has no fault")
}

fn reviewing(text: &str) -> String {
    let page = |of| ReviewingPage {
        of,
        name: text.to_owned(),
        author: text.to_owned(),
        questions: 7,
        size: 5,
    };
    let pages = [Reviewed::Questions, Reviewed::Passages].map(page);
    let pages = pages.map(|page| page.html().expect("the template has no fault"));
    pages.concat()
}

fn message(text: &str) -> String {
    let page = MessagePage {
        up: "./".to_owned(),
        title: text.to_owned(),
        sentence: text.to_owned(),
    };
    page.html().expect("the template has no fault")
}

fn forward(text: &str) -> String {
    let page = ForwardPage {
        address: text.to_owned(),
    };
    page.html().expect("the template has no fault")
}

/// A page of the viewer with one text in every place.
type Filled = fn(&str) -> String;

/// The pages with navigation.
const PAGES: [Filled; 7] = [runs, live, trend, trends, labelling, reviewing, message];

fn all() -> impl Iterator<Item = Filled> {
    PAGES.into_iter().chain([forward as Filled])
}

#[test]
fn a_hostile_text_is_shown_literally_on_every_page() {
    for page in all() {
        let (harmless, hostile) = (page("plain"), page(HOSTILE));
        let tags = |html: &str| html.matches('<').count();
        assert_eq!(tags(&harmless), tags(&hostile), "{hostile}");
        assert!(hostile.contains("&lt;img src=x onerror=alert(1)&gt;"));
        assert!(hostile.contains("\\u{202e}\\u{0}"), "{hostile}");
        assert!(!hostile.contains(['\u{202e}', '\0']));
    }
}

#[test]
fn a_page_holds_no_inline_script_or_style() {
    for page in all().map(|page| page("x")) {
        assert!(!page.contains("style="), "{page}");
        assert!(!page.contains("<style"), "{page}");
        let scripts = page.matches("<script").count();
        let ours = page.matches("<script src=\"");
        assert_eq!(scripts, ours.count(), "{page}");
        let is_handler = |rest: &str| {
            let attribute = rest.trim_start_matches(|it: char| it.is_ascii_alphabetic());
            attribute.starts_with('=')
        };
        assert!(!page.split(" on").skip(1).any(is_handler), "{page}");
    }
}

#[test]
fn a_drawing_of_ours_is_markup() {
    assert!(trend("x").contains("<svg></svg></div><figcaption>x</figcaption>"));
}

#[test]
fn an_interval_is_drawn_between_0_and_1() {
    let page = live("x");
    assert!(
        page.contains(r#"<line x1="42.0" x2="118.0" y1="7" y2="7"/>"#),
        "{page}"
    );
    assert!(page.contains(r#"<circle cx="80.0""#), "{page}");
}

/// The folder of the pages has a secret name, so an address on a page is written from the page, not from the root of the server.
#[test]
fn addresses_on_pages_are_relative() {
    for page in all().map(|page| page("x")) {
        assert!(
            !page.contains("=\"/") && !page.contains("=\"&#x2f;"),
            "{page}"
        );
    }
    let pages = [(live as Filled, "../"), (labelling, "../../"), (runs, "./")];
    for (page, up) in pages {
        let page = page("x").replace("&#x2f;", "/");
        for link in [
            format!("href=\"{up}\""),
            format!("href=\"{up}trend\""),
            format!("\"{up}assets/view.css\""),
        ] {
            assert!(page.contains(&link), "{link}: {page}");
        }
        assert!(page.contains(&format!("=\"{up}run/x\"")), "{page}");
    }
}

#[test]
fn pages_name_only_assets_that_exist() {
    for page in PAGES.map(|page| page("x")) {
        let mut named = 0;
        for rest in page.split("&#x2f;assets/").skip(1) {
            let name = rest.split('"').next().unwrap();
            assert!(Asset::named(name).is_some(), "{name}");
            named += 1;
        }
        assert!(named > 0);
    }
    assert_eq!(Asset::named("../view.css"), None);
    assert_eq!(Asset::named(""), None);
}

#[test]
fn an_empty_list_says_how_to_start() {
    let page = RunsPage::default()
        .html()
        .expect("the template has no fault");
    assert!(page.contains("evaluations sample --skip-qa"));
    assert!(!page.contains("<table"));
}
