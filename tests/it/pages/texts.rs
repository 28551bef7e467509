//! Hostile texts on a page, and pages without texts.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::Page;
use crate::sandbox::{Sandbox, json as read};

/// Texts that end elements, steer screens or start formulas.
const HOSTILE: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "line\u{2028}separator \u{202e}desrever\u{202c}",
    "escape \u{1b}[31mred and bell \u{7}",
    "=HYPERLINK(\"http://example.com\")",
    "{{ template }} &lt;b&gt; ${x} \"quoted\" 'single'",
];

/// A dataset of documents with one question each.
fn dataset(name: &str, rows: impl Iterator<Item = (Value, Value)>) -> Sandbox {
    let sandbox = Sandbox::new();
    let (documents, questions): (Vec<String>, Vec<String>) = rows
        .map(|(document, question)| (format!("{document}\n"), format!("{question}\n")))
        .unzip();
    sandbox.write("documents.jsonl", documents.concat());
    sandbox.write("questions.jsonl", questions.concat());
    sandbox.write(
        &format!("{name}.yaml"),
        format!(
            "name: {name}\n\
             documents: {{source: {{path: documents.jsonl}}, uri: id, text: text, title: title}}\n\
             questions: {{source: {{path: questions.jsonl}}, id: id, text: question, answer: answer, relevant: [relevant], \
             metadata: [topic]}}\n"
        ),
    );
    sandbox
}

/// A dataset whose every text is hostile.
fn hostile() -> Sandbox {
    let rows = HOSTILE.iter().enumerate().map(|(number, text)| {
        let document = json!({
            "id": format!("d<{number}>"), "title": text, "text": format!("tower {number}. {text}"),
        });
        let question = json!({
            "id": format!("q</script>{number}"), "question": format!("Which tower {number}? {text}"),
            "answer": format!("tower {number} {text}"), "relevant": format!("d<{number}>"), "topic": text,
        });
        (document, question)
    });
    dataset("hostile", rows)
}

#[test]
fn hostile_texts_are_shown_as_they_are_and_change_nothing_of_the_page() {
    let sandbox = hostile();
    sandbox.succeed("./hostile.yaml --profile bm25 --out page.html --group-by topic");
    for name in ["page.html", "page.qa.html"] {
        let page = Page::of(&sandbox, name);
        let code = page
            .elements
            .iter()
            .filter(|it| it.name == "script" && it.attributes.is_empty());
        assert_eq!(code.count(), 1, "{name}");
        let tags: BTreeSet<&str> = page.elements.iter().map(|it| it.name.as_str()).collect();
        for foreign in ["b", "i", "img", "iframe", "link", "object", "base", "form"] {
            assert!(!tags.contains(foreign), "{name}: {foreign}");
        }
        assert!(
            !page.html.contains('\u{202e}') && !page.html.contains('\u{1b}'),
            "{name}"
        );
        let questions: BTreeSet<String> = page
            .cases()
            .iter()
            .map(|case| case["fields"][0]["text"].as_str().unwrap().to_owned())
            .collect();
        let expected = HOSTILE.iter().enumerate();
        let expected = expected.map(|(number, text)| format!("Which tower {number}? {text}"));
        assert_eq!(questions, expected.collect(), "{name}");
        let texts = json!(page.passages()).to_string();
        for (number, text) in HOSTILE.iter().enumerate() {
            let passage = json!(format!("tower {number}. {text}")).to_string();
            // The title stands before it.
            assert!(texts.contains(&passage[1..]), "{name} lacks {passage}");
        }
    }
}

/// A dataset whose every text holds one word.
pub(super) fn secret() -> Sandbox {
    let rows = (0..8).map(|number| {
        let document = json!({
            "id": format!("d{number}"), "title": "zwiebel", "text": format!("zwiebel number {number} grows"),
        });
        let question = json!({
            "id": format!("q{number}"), "question": format!("Where grows zwiebel {number}?"),
            "answer": format!("zwiebel {number}"), "relevant": format!("d{number}"), "topic": "plants",
        });
        (document, question)
    });
    dataset("secret", rows)
}

#[test]
fn a_page_without_texts_holds_no_text_of_the_corpus_the_questions_or_the_answers() {
    let sandbox = secret();
    sandbox.succeed("./secret.yaml --profile bm25");
    for run in sandbox.runs() {
        let name = run.file_name().unwrap().to_str().unwrap();
        let with = Page::read(&run.join("report.html"));
        assert!(with.everything().contains("zwiebel"), "{name}");
        sandbox.succeed(&format!("report {name} --out page.html --without-texts"));
        let page = Page::of(&sandbox, "page.html");
        assert!(!page.everything().contains("zwiebel"), "{name}");
        assert!(page.passages().is_empty());
        assert_eq!(page.table()["ids"], with.table()["ids"]);
        assert_eq!(page.sentence(), with.sentence());
        let (class, text) = page.notices().pop().unwrap();
        assert_eq!(class, "note");
        assert!(
            text.ends_with("passages, reasons, metadata and labels are left out of this page."),
            "{text}"
        );
    }
    let names: Vec<String> = sandbox
        .runs()
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    sandbox.succeed("./secret.yaml --profile unranked --skip-qa --name other");
    let other = sandbox.runs().pop().unwrap();
    let other = other.file_name().unwrap().to_str().unwrap().to_owned();
    sandbox.succeed(&format!(
        "compare {} {other} --out change.html --without-texts",
        names[0]
    ));
    let page = Page::of(&sandbox, "change.html");
    assert!(!page.everything().contains("zwiebel"));
}

/// Puts a word into every field of a stored report that a page shows, and that holds a text of the dataset, the system or a judge.
fn mark(report: &mut Value, word: &str) {
    report["stopped"] = json!(word);
    report["not_run"] = json!(1);
    report["interrupted"] = json!(true);
    report["analyses"] =
        json!([{"type": "table", "title": word, "columns": [word], "rows": [[word]]}]);
    let failure = json!({"evaluator": "broken", "kind": "error", "message": word});
    report["report_evaluator_failures"] = json!([failure]);
    for (case, number) in report["cases"].as_array_mut().unwrap().iter_mut().zip(0..) {
        case["input"] = json!(word);
        case["expected"] = json!(word);
        case["metadata"] = json!({"topic": format!("{word} {}", number % 2)});
        if number > 0 {
            case["result"] = json!({"output": word});
        } else {
            case["result"] = json!({"failure": {"kind": "error", "message": word}});
        }
        case["spans"] = json!({"roots": [{"name": word, "attributes": {"tool": word}}]});
        case["evaluator_failures"] = json!([failure]);
        let outcome = |name: &str, value: Value| json!({"name": name, "evaluator": name, "value": value, "reason": word});
        case["outcomes"] = json!([
            outcome("passed", json!({"assertion": true})),
            outcome("tone", json!({"label": word})),
            outcome("open", json!("undefined")),
        ]);
    }
}

#[test]
fn a_page_without_texts_holds_no_reason_label_group_or_step_of_a_marked_report() {
    let sandbox = Sandbox::new();
    let cases: Vec<Value> = (0..6)
        .map(|number| json!({"name": format!("c{number}"), "inputs": "a"}))
        .collect();
    let dataset = json!({"name": "marked", "cases": cases, "evaluators": ["EqualsExpected"]});
    sandbox.write("marked.json", dataset.to_string());
    let replies =
        (0..6).map(|number| json!({"id": format!("c{number}"), "answer": "a"}).to_string());
    sandbox.write("replies.jsonl", replies.collect::<Vec<_>>().join("\n"));
    for _ in 0..2 {
        sandbox.succeed("eval marked.json --target outputs:replies.jsonl");
    }
    for run in sandbox.runs() {
        let path = run.join("report.json");
        let mut report = read(&path);
        mark(&mut report, "zwiebel");
        fs::write(path, report.to_string()).unwrap();
    }
    for command in ["report latest", "compare"] {
        sandbox.succeed(&format!("{command} --group-by topic --out with.html"));
        let with = Page::of(&sandbox, "with.html").everything();
        assert!(with.contains("zwiebel 1"), "{command}");
        sandbox.succeed(&format!(
            "{command} --group-by topic --out page.html --without-texts"
        ));
        let page = Page::of(&sandbox, "page.html");
        let everything = page.everything();
        let found = everything
            .find("zwiebel")
            .map(|place| &everything[place.saturating_sub(200)..place + 7]);
        assert_eq!(found, None, "{command}");
        assert!(everything.contains("reason left out"), "{command}");
        assert!(everything.contains("c5"), "{command}");
    }
}
