//! Written pages: what a parser of HTML sees in them, and what can be read back.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evals_html::figure::Width;
use evals_html::page::{
    BLOCK, Case, CaseRows, Cell, Field, FieldRole, Opening, Outcome, OutcomeKind, Page, PageError,
    Passage, Ranked, Run, Step, Texts,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::html::{Element, block, blocks, elements};
use crate::samples;
use crate::synthetic::{HOSTILE, Synthetic};

const MADE: Synthetic = Synthetic {
    cases: 150,
    passages: 200,
    is_change: false,
    long_word: 100_000,
};

fn written(page: &Page<'_>, cases: impl IntoIterator<Item = Case>) -> String {
    let mut file = Vec::new();
    let written = page.write(cases, &mut file).expect("a page");
    assert_eq!(written.bytes, file.len() as u64);
    String::from_utf8(file).expect("UTF-8")
}

fn made() -> String {
    let opening = MADE.opening(samples::all(Width::Screen));
    written(&Page::new(&opening, &MADE.table()), MADE.cases())
}

fn contents(elements: &[Element]) -> Value {
    let mut elements = elements.iter();
    let element = elements.find(|it| it.attribute("id") == Some("page"));
    serde_json::from_str(&element.expect("the contents").text).expect("JSON")
}

#[test]
fn hostile_texts_neither_open_nor_end_an_element() {
    let elements = elements(&made());
    let names: BTreeSet<&str> = elements.iter().map(|it| it.name.as_str()).collect();
    let known = [
        "a",
        "body",
        "br",
        "caption",
        "circle",
        "dd",
        "desc",
        "details",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "g",
        "h1",
        "h2",
        "head",
        "header",
        "html",
        "input",
        "label",
        "li",
        "line",
        "main",
        "meta",
        "noscript",
        "ol",
        "p",
        "polygon",
        "polyline",
        "rect",
        "script",
        "section",
        "span",
        "style",
        "summary",
        "svg",
        "table",
        "tbody",
        "td",
        "text",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ];
    assert_eq!(names, BTreeSet::from(known));
    let scripts = elements.iter().filter(|it| it.name == "script");
    let code = scripts.filter(|it| it.attributes.is_empty());
    assert_eq!(code.count(), 1);
}

#[test]
fn the_first_cases_read_without_a_script_and_lead_to_themselves() {
    let file = made();
    let elements = elements(&file);
    let links: Vec<&str> = elements
        .iter()
        .filter_map(|it| it.attribute("href"))
        .filter(|it| it.starts_with("#case="))
        .collect();
    let ids = &block(&elements, "table").unwrap()["ids"];
    let expected: Vec<String> = (0..5)
        .map(|row| format!("#case={}", ids[row].as_str().unwrap()))
        .collect();
    assert_eq!(links, expected);
    let opening = MADE.opening([]);
    let table = MADE.table();
    let page = Page {
        texts: Texts::Omitted,
        ..Page::new(&opening, &table)
    };
    let head = written(&page, MADE.cases());
    let shown = head.split("id=\"worst\"").nth(1).unwrap();
    let shown = shown.split("</section>").next().unwrap();
    assert!(
        !shown.contains("class=\"question\"") && !shown.contains("class=\"answer\""),
        "{shown}"
    );
}

#[test]
fn no_attribute_holds_style_or_code_or_an_address_of_the_network() {
    for element in elements(&made()) {
        for (name, value) in &element.attributes {
            assert!(name != "style" && !name.starts_with("on"), "{element:?}");
            let is_address = ["href", "src", "xlink:href", "action"].contains(&name.as_str());
            assert!(!is_address || value.starts_with('#'), "{element:?}");
        }
    }
}

#[test]
fn the_policy_names_the_digests_of_script_and_style_and_allows_nothing_else() {
    let elements = elements(&made());
    let digest = |name: &str| {
        let mut elements = elements.iter();
        let element = elements.find(|it| it.name == name && it.attributes.is_empty());
        format!(
            "'sha256-{}'",
            STANDARD.encode(Sha256::digest(&element.unwrap().text))
        )
    };
    let policy = elements.iter().find_map(|it| {
        let is_policy = it.attribute("http-equiv") == Some("Content-Security-Policy");
        is_policy.then(|| it.attribute("content").unwrap())
    });
    let directives: BTreeMap<&str, &str> = policy
        .unwrap()
        .split("; ")
        .map(|it| it.split_once(' ').unwrap())
        .collect();
    let expected = [
        ("default-src", "'none'"),
        ("script-src", &digest("script")),
        ("style-src", &digest("style")),
        ("img-src", "data:"),
        ("base-uri", "'none'"),
        ("form-action", "'none'"),
        ("require-trusted-types-for", "'script'"),
        ("trusted-types", "'none'"),
    ];
    assert_eq!(directives, BTreeMap::from(expected));
}

#[test]
fn the_ids_of_a_page_are_unique() {
    let elements = elements(&made());
    let mut seen = BTreeSet::new();
    for id in elements.iter().filter_map(|it| it.attribute("id")) {
        assert!(seen.insert(id), "{id}");
    }
    assert!(seen.is_superset(&BTreeSet::from([
        "top", "figures", "measures", "cases", "table"
    ])));
}

#[test]
fn the_opening_makes_control_characters_visible_and_keeps_every_other_text() {
    let opening = Opening {
        title: HOSTILE[0].to_owned(),
        sentence: HOSTILE.join(" "),
        ..Opening::default()
    };
    let page = written(&Page::new(&opening, &CaseRows::default()), []);
    let elements = elements(&page);
    let text = |name: &str| &elements.iter().find(|it| it.name == name).unwrap().text;
    assert_eq!(text("title"), HOSTILE[0]);
    assert_eq!(text("h1"), HOSTILE[0]);
    let sentence = text("p");
    assert_eq!(*sentence, evals_messages::visible::text(&opening.sentence));
    assert!(sentence.contains("\\u{202e}desrever") && sentence.contains("NUL \\u{0}"));
}

#[test]
fn a_page_without_cases_has_no_data() {
    let opening = MADE.opening([]);
    let elements = elements(&written(&Page::new(&opening, &CaseRows::default()), []));
    let ids: Vec<&str> = elements
        .iter()
        .filter_map(|it| it.attribute("id"))
        .collect();
    assert_eq!(ids, ["top", "matrix", "measures", "page"]);
    assert_eq!(contents(&elements)["cases"], 0);
}

#[test]
fn the_table_and_every_case_read_back_as_they_were() {
    let elements = elements(&made());
    let table = block(&elements, "table").unwrap();
    assert_eq!(table, serde_json::to_value(MADE.table()).unwrap());
    let passages = blocks(&elements, "passages");
    let mut cases = blocks(&elements, "cases");
    for number in cases.iter_mut().flat_map(passage_numbers) {
        let passage = number.as_u64().unwrap();
        *number = passages[usize::try_from(passage).unwrap()].clone();
    }
    let expected: Vec<Value> = MADE
        .cases()
        .map(|case| serde_json::to_value(case).unwrap())
        .collect();
    assert_eq!(cases, expected);
    let second = block(&elements, "cases-1").unwrap();
    assert_eq!(second[0]["id"], table["ids"][BLOCK]);
}

/// The numbers of all passages of a case.
fn passage_numbers(case: &mut Value) -> Vec<&mut Value> {
    fn array<'v>(value: &'v mut Value, key: &str) -> &'v mut [Value] {
        match value.get_mut(key) {
            Some(Value::Array(values)) => values,
            _ => &mut [],
        }
    }
    let runs = array(case, "runs").iter_mut();
    let documents = runs.flat_map(|run| array(run, "ranking"));
    let numbers = documents.flat_map(|document| array(document, "passages"));
    numbers.collect()
}

#[test]
fn equal_passages_are_stored_once() {
    let elements = elements(&made());
    let passages = blocks(&elements, "passages");
    let unique: BTreeSet<String> = passages.iter().map(ToString::to_string).collect();
    assert_eq!(unique.len(), passages.len());
    assert!(passages.len() <= MADE.passages);
    assert_eq!(contents(&elements)["passages"], passages.len());
}

#[test]
fn the_same_page_has_the_same_bytes() {
    assert_eq!(made(), made());
}

#[test]
fn five_thousand_cases_fit_into_eight_megabytes() {
    // The table and the passages grow no faster than the cases, so a tenth of both has to fit into a tenth.
    let made = Synthetic {
        cases: 500,
        passages: 500,
        ..Synthetic::full()
    };
    let opening = Opening::default();
    let page = written(&Page::new(&opening, &made.table()), made.cases());
    let empty = written(&Page::new(&opening, &CaseRows::default()), []);
    let growth = 10 * (page.len() - empty.len());
    assert!(growth + empty.len() < 8_000_000, "{growth}");
}

#[test]
fn passages_are_left_out_of_a_page_that_is_too_large() {
    let opening = Opening::default();
    let table = MADE.table();
    let page = Page {
        passages_until: 60_000,
        ..Page::new(&opening, &table)
    };
    let mut file = Vec::new();
    let result = page.write(MADE.cases(), &mut file).unwrap();
    let elements = elements(str::from_utf8(&file).unwrap());
    let mut cases = blocks(&elements, "cases");
    let numbers: Vec<&mut Value> = cases.iter_mut().flat_map(passage_numbers).collect();
    let left_out = numbers.iter().filter(|it| it.is_null()).count();
    let kept = blocks(&elements, "passages").len();
    assert!(left_out > 0 && kept > 0, "{left_out} left out, {kept} kept");
    assert_eq!(result.passages_left_out, left_out);
    assert_eq!(contents(&elements)["passages_left_out"], left_out);
    assert_eq!(contents(&elements)["passages"], kept);
    let highest = numbers.iter().filter_map(|it| it.as_u64()).max();
    assert_eq!(highest, Some(kept as u64 - 1));
}

const SECRET: &str = "Zwiebelkuchen";

/// A case whose every text holds the secret, under a column of each kind.
fn secret() -> (CaseRows, Case) {
    let field = |role| Field {
        name: "field".to_owned(),
        text: SECRET.to_owned(),
        role,
    };
    let step = Step {
        name: SECRET.to_owned(),
        shown: "2 ms".to_owned(),
        failed: false,
        facts: vec![("arguments".to_owned(), SECRET.to_owned())],
        children: Vec::new(),
    };
    let run = Run {
        repeat: 1,
        failure: Some(SECRET.to_owned()),
        said: vec![("User", SECRET.to_owned())],
        fields: vec![field(FieldRole::Answer), field(FieldRole::Other)],
        outcomes: vec![
            Outcome {
                name: "equivalent".to_owned(),
                kind: OutcomeKind::Failed,
                shown: "failed".to_owned(),
                reason: Some(SECRET.to_owned()),
            },
            Outcome {
                name: "tone".to_owned(),
                kind: OutcomeKind::Label,
                shown: SECRET.to_owned(),
                reason: None,
            },
        ],
        ranking: Some(vec![Ranked {
            document: "doc-1".to_owned(),
            score: "0.5".to_owned(),
            marks: Vec::new(),
            grade: None,
            passages: vec![Passage {
                document: "doc-1".to_owned(),
                title: SECRET.to_owned(),
                text: SECRET.to_owned(),
            }],
        }]),
        steps: vec![Step {
            children: vec![step.clone()],
            ..step
        }],
        ..Run::default()
    };
    let case = Case {
        id: "q1".to_owned(),
        fields: vec![field(FieldRole::Question), field(FieldRole::Reference)],
        turns: vec![(1, "q0".to_owned()), (2, "q1".to_owned())],
        runs: vec![run],
        remarks: vec!["fixed".to_owned()],
    };
    let mut table = Synthetic { cases: 1, ..MADE }.table();
    table.ids = vec!["q1".to_owned()];
    table.columns[0].cells = vec![Cell::Text(SECRET.to_owned())];
    let undefined = SECRET.to_owned();
    table.columns[3].cells = vec![Cell::Undefined { undefined }];
    (table, case)
}

#[test]
fn a_page_without_texts_keeps_ids_numbers_and_verdicts_alone() {
    let (table, case) = secret();
    let opening = Opening::default();
    let page = Page {
        texts: Texts::Omitted,
        ..Page::new(&opening, &table)
    };
    let elements = elements(&written(&page, [case]));
    let shown = block(&elements, "table").unwrap();
    let keys = shown["columns"].as_array().unwrap().iter();
    let keys: Vec<&str> = keys.map(|it| it["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["where", "equivalent", "f1", "seconds", "topic"]);
    assert!(!shown.to_string().contains(SECRET));
    assert_eq!(
        block(&elements, "cases-0").unwrap(),
        json!([{
            "id": "q1", "fields": [], "turns": [[1, "q0"], [2, "q1"]], "remarks": ["fixed"],
            "runs": [{
                "repeat": 1, "failure": "left out of this page", "fields": [],
                "outcomes": [
                    {"name": "equivalent", "kind": "failed", "shown": "failed"},
                    {"name": "tone", "kind": "label", "shown": "left out of this page"},
                ],
                "ranking": [{"document": "doc-1", "score": "0.5"}],
            }],
        }])
    );
    assert!(block(&elements, "passages-0").is_none());
    assert_eq!(contents(&elements)["texts"], "omitted");
}

#[test]
fn cases_that_do_not_fit_the_table_are_refused() {
    let opening = Opening::default();
    let table = MADE.table();
    let page = Page::new(&opening, &table);
    let error = |cases: Vec<Case>| page.write(cases, Vec::new()).unwrap_err().to_string();
    let all: Vec<Case> = MADE.cases().collect();
    let mut swapped = all.clone();
    swapped.swap(0, 1);
    assert_eq!(
        error(swapped),
        "row 0 of the table is the case `q00000`, but the page was given the case `q07919`"
    );
    assert!(error(all[..149].to_vec()).ends_with("but the page was given no case"));
    let mut more = all;
    more.push(more[0].clone());
    assert_eq!(
        error(more),
        "the table has 150 rows, but the page was given one more case, `q00000`"
    );

    let mut table = MADE.table();
    table.columns[2].cells.pop();
    let refused = Page::new(&opening, &table).write(MADE.cases(), Vec::new());
    assert!(matches!(
        refused,
        Err(PageError::Column {
            cells: 149,
            rows: 150,
            ..
        })
    ));
}
