//! Pages of runs, of comparisons and of benchmarks, as a parser of HTML sees them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::html::{Element, block, blocks, elements};
use crate::sandbox::{Sandbox, ended, json as read};

pub(crate) struct Page {
    html: String,
    elements: Vec<Element>,
}

impl Page {
    fn read(path: &Path) -> Self {
        let html = fs::read_to_string(path).unwrap();
        Self {
            elements: elements(&html),
            html,
        }
    }

    pub(crate) fn of(sandbox: &Sandbox, name: &str) -> Self {
        Self::read(&sandbox.work().join(name))
    }

    /// The text of the first element with this name and class.
    fn text(&self, name: &str, class: &str) -> &str {
        let is_it =
            |it: &&Element| it.name == name && it.attribute("class").unwrap_or_default() == class;
        &self.elements.iter().find(is_it).unwrap().text
    }

    fn sentence(&self) -> &str {
        self.text("p", "sentence")
    }

    pub(crate) fn notices(&self) -> Vec<(&str, &str)> {
        let items = self.elements.iter().filter(|it| it.name == "li");
        let notice = |it: &'_ Element| it.attribute("class").is_some();
        items
            .filter(|it| notice(it))
            .map(|it| (it.attribute("class").unwrap(), it.text.as_str()))
            .collect()
    }

    /// The names of the facts, each followed by its value.
    fn facts(&self) -> Vec<&str> {
        let items = self.elements.iter();
        let items = items.filter(|it| ["dt", "dd"].contains(&it.name.as_str()));
        items.map(|it| it.text.as_str()).collect()
    }

    fn captions(&self) -> String {
        let captions = self.elements.iter().filter(|it| it.name == "caption");
        captions.map(|it| it.text.clone() + "\n").collect()
    }

    fn table(&self) -> Value {
        block(&self.elements, "table").unwrap()
    }

    pub(crate) fn column(&self, key: &str) -> Value {
        let table = self.table();
        let columns = table["columns"].as_array().unwrap();
        let found = columns.iter().find(|it| it["key"] == key);
        let keys: Vec<&Value> = columns.iter().map(|it| &it["key"]).collect();
        found
            .unwrap_or_else(|| panic!("no `{key}` in {keys:?}"))
            .clone()
    }

    pub(crate) fn cases(&self) -> Vec<Value> {
        blocks(&self.elements, "cases")
    }

    fn passages(&self) -> Vec<Value> {
        blocks(&self.elements, "passages")
    }

    /// Everything that a reader of the file can find out.
    fn everything(&self) -> String {
        let parts = [self.table(), json!(self.cases()), json!(self.passages())];
        parts
            .iter()
            .fold(self.html.clone(), |all, part| all + &part.to_string())
    }
}

/// The values of a column as they are printed.
pub(crate) fn shown(column: &Value) -> Vec<String> {
    let cells = column["cells"].as_array().unwrap().iter();
    cells
        .map(|cell| match cell {
            Value::Array(number) => number[1].as_str().unwrap().to_owned(),
            Value::String(text) => text.clone(),
            Value::Object(_) => "undefined".to_owned(),
            other => other.to_string(),
        })
        .collect()
}

#[test]
fn every_run_leaves_a_page_and_report_writes_the_same_bytes() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 12 --profile bm25 --out run.html");
    let runs = sandbox.runs();
    assert_eq!(runs.len(), 2, "{runs:?}");
    for (run, out) in runs.iter().zip(["run.html", "run.qa.html"]) {
        let kept = fs::read(run.join("report.html")).unwrap();
        assert!(kept == fs::read(sandbox.work().join(out)).unwrap(), "{out}");
        let name = run.file_name().unwrap().to_str().unwrap();
        sandbox.succeed(&format!("report {name} --out again.html"));
        // The texts of a ranking come from the index of the run.
        assert!(
            kept == fs::read(sandbox.work().join("again.html")).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn the_page_of_a_search_says_what_its_report_says_worst_first_and_with_texts() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 40 --profile bm25 --out page.html --out report.json");
    let page = Page::of(&sandbox, "page.html");
    let report = read(&sandbox.work().join("report.json"));
    let score = &report["summary"]["scores"]["RR@5"];
    let number = |value: &Value| format!("{:.4}", value.as_f64().unwrap());
    assert_eq!(
        page.sentence(),
        format!(
            "bm25: MRR@5 {} [{}, {}] over {} questions, {} excluded",
            number(&score["value"]),
            number(&score["interval"]["low"]),
            number(&score["interval"]["high"]),
            score["n"],
            score["excluded"]["unanswerable"]
        )
    );
    // R@5 is 0 or 1 in every case here, and MRR@5 is not.
    let captions = page.captions();
    let methods = "95 % intervals: percentile bootstrap over cases, 10,000 resamples, seed 0, and Wilson's score interval where \
                   every value is 0 or 1.";
    assert!(captions.contains(methods), "{captions}");
    let values: Vec<String> = shown(&page.column("RR@5"));
    let (defined, undefined) =
        values.split_at(values.iter().position(|it| it == "undefined").unwrap());
    assert!(defined.is_sorted(), "{values:?}");
    assert!(undefined.iter().all(|it| it == "undefined"), "{values:?}");
    let ids = page.table()["ids"].clone();
    let first = &page.cases()[0];
    assert_eq!(first["id"], ids[0]);
    let stored = report["cases"].as_array().unwrap();
    let stored = stored.iter().find(|it| it["id"] == ids[0]).unwrap();
    let ranked = &first["runs"][0]["ranking"][0];
    assert_eq!(
        ranked["document"],
        stored["result"]["output"]["ranking"][0]["id"]
    );
    let number = usize::try_from(ranked["passages"][0].as_u64().unwrap()).unwrap();
    let passage = &page.passages()[number];
    assert_eq!(passage["document"], ranked["document"]);
    assert!(
        passage["text"].as_str().unwrap().chars().count() > 100,
        "{passage}"
    );
    let wheres: BTreeSet<String> = shown(&page.column("where")).into_iter().collect();
    assert!(
        wheres.contains("not retrieved") && wheres.contains("retrieved"),
        "{wheres:?}"
    );
}

#[test]
fn the_page_of_answers_joins_reference_answer_verdict_and_passages() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --limit 10 --out page.html");
    let page = Page::of(&sandbox, "page.html");
    assert!(
        page.sentence()
            .starts_with("hybrid: equivalent (pass rate) "),
        "{}",
        page.sentence()
    );
    let floor = "are baselines; a real model should do better: answerer , embedder , judge .";
    assert!(
        page.notices()
            .iter()
            .any(|(class, text)| *class == "note" && text.contains(floor)),
        "{:?}",
        page.notices()
    );
    let names = page.elements.iter().filter(|it| it.name == "code");
    let names: Vec<&str> = names.map(|it| it.text.as_str()).collect();
    assert_eq!(names, ["extractive", "static-minilm", "overlap"]);
    let case = &page.cases()[0];
    let roles: Vec<&Value> = case["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["role"])
        .collect();
    assert_eq!(roles[..2], ["question", "reference"]);
    let run = &case["runs"][0];
    assert_eq!(run["fields"][0]["role"], "answer");
    assert_eq!(run["outcomes"][0]["name"], "equivalent");
    let ranking = run["ranking"].as_array().unwrap();
    let has = |document: &Value, mark: &str| {
        let marks = document["marks"].as_array();
        marks.is_some_and(|marks| marks.iter().any(|it| it == mark))
    };
    assert!(
        ranking
            .iter()
            .any(|it| has(it, "shown") && it["passages"][0].is_u64()),
        "{run}"
    );
    assert_eq!(page.column("equivalent")["kind"], "verdict");
}

#[test]
fn several_profiles_share_a_page_that_tests_the_lead_of_the_best() {
    let sandbox = Sandbox::new();
    let printed = sandbox
        .succeed("sample --skip-qa --limit 60 --profile bm25 --profile unranked --out page.html");
    let page = Page::of(&sandbox, "page.html");
    let p_value = printed
        .split("p = ")
        .nth(1)
        .or_else(|| printed.split("p < ").nth(1))
        .unwrap();
    let p_value = p_value.split(':').next().unwrap();
    assert!(
        page.sentence().starts_with("bm25: MRR@5 "),
        "{}",
        page.sentence()
    );
    assert!(
        page.sentence()
            .contains("; its lead over unranked in MRR@5 is significant at 5 % (p ")
    );
    assert!(
        page.sentence().ends_with(&format!("{p_value})")),
        "{} and {printed}",
        page.sentence()
    );
    let systems = page.cases()[0]["runs"].as_array().unwrap().clone();
    let systems: Vec<&Value> = systems.iter().map(|run| &run["system"]).collect();
    assert_eq!(systems, ["bm25", "unranked"]);
    assert_eq!(page.column("unranked: RR@5")["kind"], "number");
    assert!(
        page.captions()
            .contains("★: best after rounding, not a significance test.")
    );
    assert!(sandbox.work().join("page.unranked.html").exists());
    let facts = page.facts();
    assert!(facts.contains(&"dataset"), "{facts:?}");
    for of_one_run in ["profile", "took", "started"] {
        assert!(!facts.contains(&of_one_run), "{facts:?}");
    }
    let own = Page::of(&sandbox, "page.unranked.html");
    assert!(own.facts().contains(&"profile"), "{:?}", own.facts());
}

#[test]
fn the_lead_of_the_best_is_in_the_first_measure_that_tells_profiles_apart() {
    let sandbox = Sandbox::new();
    let documents =
        (0..20).map(|n| format!("{{\"id\": \"d{n:02}\", \"text\": \"topic{n} everywhere\"}}\n"));
    sandbox.write("documents.jsonl", documents.collect::<String>());
    // Both profiles rank a relevant document first: `unranked` always d00. Only bm25 finds the other one too.
    let questions = (6..20).map(|n| {
        json!({"id": n, "question": format!("topic{n} topic0"), "always": "d00", "own": format!("d{n:02}")})
            .to_string()
            + "\n"
    });
    sandbox.write("questions.jsonl", questions.collect::<String>());
    sandbox.write(
        "ties.yaml",
        "name: ties\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, relevant: [always, own]}\n\
         retrieval: {headline: RR, measures: [R@5]}\n",
    );
    sandbox.succeed("ties.yaml --skip-qa --profile unranked --profile bm25 --out page.html");
    let page = Page::of(&sandbox, "page.html");
    let sentence = page.sentence();
    assert!(sentence.starts_with("bm25: MRR 1.0000 "), "{sentence}");
    assert!(
        sentence.contains("; its lead over unranked in R@5 is significant at 5 % (p "),
        "{sentence}"
    );
    assert_eq!(
        shown(&page.column("unranked: RR")),
        shown(&page.column("bm25: RR"))
    );
}

#[test]
fn a_verdict_that_the_mean_contradicts_names_the_test() {
    let sandbox = Sandbox::new();
    let lines = |line: &dyn Fn(u32) -> Value| {
        let lines: Vec<String> = (10..30).map(|n| line(n).to_string()).collect();
        lines.join("\n")
    };
    sandbox.write(
        "documents.jsonl",
        lines(&|n| json!({"id": format!("d{n}"), "text": format!("topic{n}")})),
    );
    sandbox.write(
        "questions.jsonl",
        lines(&|n| json!({"id": n, "question": format!("topic{n}"), "relevant": format!("d{n}")})),
    );
    sandbox.write(
        "topics.yaml",
        "name: topics\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, relevant: relevant}\n\
         retrieval: {headline: RR, measures: []}\n",
    );
    // Four questions lose their document from the first place; sixteen find it at the ninth place instead of the tenth.
    let ranking = |best: usize, usual: usize| -> String {
        let lines = (10..30).flat_map(|question: usize| {
            let place = if question < 14 { best } else { usual };
            let others = (10..30).filter(move |it| *it != question);
            let mut ranked: Vec<usize> = others.collect();
            ranked.insert(place - 1, question);
            let ranked = ranked.into_iter().zip(1..=12);
            ranked.map(move |(document, rank)| {
                format!("{question} Q0 d{document} {rank} {} s\n", 100 - rank)
            })
        });
        lines.collect()
    };
    sandbox.write("before.trec", ranking(1, 10));
    sandbox.write("after.trec", ranking(12, 9));
    for run in ["before", "after"] {
        sandbox.succeed(&format!(
            "run ./topics.yaml --skip-qa --target trec:{run}.trec"
        ));
    }
    let shown = |options: &str| {
        sandbox.succeed(&format!("compare {options} --out change.html"));
        Page::of(&sandbox, "change.html").sentence().to_owned()
    };
    let sentence = shown("--test sign");
    assert!(sentence.starts_with("MRR fell from "), "{sentence}");
    assert!(
        sentence.contains(": better by the sign test, against the mean, significant at 5 %"),
        "{sentence}"
    );
    let sentence = shown("--test randomization");
    assert!(!sentence.contains("against the mean"), "{sentence}");
}

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
            assert!(texts.contains(&passage), "{name} lacks {passage}");
        }
    }
}

/// A dataset whose every text holds one word.
fn secret() -> Sandbox {
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

#[test]
fn an_index_that_is_gone_is_named_and_costs_only_the_texts() {
    let sandbox = secret();
    sandbox.succeed("./secret.yaml --profile bm25 --skip-qa");
    fs::remove_dir_all(sandbox.data().join("dbs")).unwrap();
    sandbox.succeed("report latest --out page.html");
    let page = Page::of(&sandbox, "page.html");
    let notices = page.notices();
    let gone = (
        "note",
        "The rankings have no texts: the index of the run is gone.",
    );
    assert!(notices.contains(&gone), "{notices:?}");
    assert_eq!(page.cases().len(), 8);
    assert!(page.passages().is_empty());
}

#[test]
fn a_comparison_has_both_sides_of_each_case_and_says_what_changed() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --limit 60 --profile hybrid");
    sandbox.succeed("sample --skip-retrieval --limit 60 --profile hybrid --set search.limit=1");
    sandbox.succeed("compare --out change.html --out change.json");
    let page = Page::of(&sandbox, "change.html");
    let change = read(&sandbox.work().join("change.json"));
    let difference = &change["measures"][0]["difference"];
    let number = |value: &Value| format!("{:.4}", value.as_f64().unwrap());
    let sentence = page.sentence();
    for part in [number(&difference["before"]), number(&difference["after"])] {
        assert!(sentence.contains(&part), "{sentence} lacks {part}");
    }
    assert!(
        sentence.starts_with("equivalent ") && sentence.contains(" over 60 pairs: "),
        "{sentence}"
    );
    let verdicts = shown(&page.column("change"));
    let count = |verdict: &str| verdicts.iter().filter(|it| *it == verdict).count();
    let counts = format!("{} fixed, {} broken.", count("fixed"), count("broken"));
    assert!(
        page.captions().contains(&counts),
        "{} lacks {counts}",
        page.captions()
    );
    let [before, after] =
        ["before", "after"].map(|side| shown(&page.column(&format!("equivalent {side}"))));
    for ((verdict, before), after) in verdicts.iter().zip(&before).zip(&after) {
        let expected = match (before.as_str(), after.as_str()) {
            ("passed", "passed") => "both right",
            ("passed", "failed") => "broken",
            ("failed", "passed") => "fixed",
            ("failed", "failed") => "both wrong",
            other => panic!("{other:?}"),
        };
        assert!(
            verdict == expected || verdict == "same answer, other verdict",
            "{verdict}"
        );
    }
    let runs = page.cases()[0]["runs"].as_array().unwrap().clone();
    let sides: Vec<&Value> = runs.iter().map(|run| &run["side"]).collect();
    assert_eq!(sides, ["before", "after"]);
    let facts = page.facts();
    assert!(
        facts
            .windows(2)
            .any(|pair| pair == ["search.limit", "5 -> 1"]),
        "{facts:?}"
    );
}

#[test]
fn an_equal_answer_with_another_verdict_blames_no_judge_where_none_judged() {
    let sandbox = Sandbox::new();
    let dataset = |right: &str| {
        json!({
            "name": "capitals",
            "cases": [{"name": "france", "inputs": "France"}, {"name": "kenya", "inputs": "Kenya"}],
            "evaluators": [{"Equals": {"value": right}}],
        })
    };
    sandbox.write(
        "replies.jsonl",
        "{\"id\": \"france\", \"answer\": \"Paris\"}\n{\"id\": \"kenya\", \"answer\": \"Nairobi\"}\n",
    );
    for right in ["Paris", "Nairobi"] {
        sandbox.write("capitals.json", dataset(right).to_string());
        sandbox.succeed("eval capitals.json --target outputs:replies.jsonl");
    }
    sandbox.succeed("compare --out change.html");
    let page = Page::of(&sandbox, "change.html");
    assert_eq!(
        shown(&page.column("change")),
        ["same answer, other verdict"; 2]
    );
    let captions = page.captions();
    let counts =
        "0 fixed, 0 broken. Not in this table: 2 cases with the same answer and another verdict.";
    assert!(captions.contains(counts), "{captions}");
    assert_eq!(
        page.cases()[0]["remarks"],
        json!(["same answer, other verdict"])
    );
    let notices = page.notices();
    let unstable = notices.iter().any(|(class, text)| {
        *class == "warning"
            && *text == "2 cases with the same answer in both runs got another verdict."
    });
    assert!(unstable, "{notices:?}");
}

#[cfg(unix)]
#[test]
fn a_failed_case_is_first_and_its_failure_is_announced() {
    let sandbox = Sandbox::new();
    let cases = ["good", "bad", "lost"]
        .map(|name| json!({"name": name, "inputs": name, "expected_output": "good"}));
    let dataset = json!({"name": "pieces", "cases": cases, "evaluators": ["EqualsExpected"]});
    sandbox.write("pieces.json", dataset.to_string());
    sandbox.write(
        "system.sh",
        r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    case "$id" in
        lost*) reply='"error":"no <b>luck</b>"' ;;
        *) reply="\"answer\":\"$id\"" ;;
    esac
    printf '{"id":"%s",%s}\n' "$id" "$reply"
done
"#,
    );
    let mut command = sandbox.command("eval pieces.json --out page.html");
    command.args(["--target", "exec:sh system.sh"]);
    let run = ended(&mut command);
    let page = Page::of(&sandbox, "page.html");
    let notice = (
        "warning",
        "The task failed in 1 of 3 cases; the means leave them out.",
    );
    assert!(
        page.notices().contains(&notice),
        "{:?}: {}",
        page.notices(),
        run.stderr
    );
    let open = (
        "warning",
        "Failures leave pass rates open. Without failures, that of  would lie between 0.3333 and 0.6667 (coverage 0.6667).",
    );
    assert!(page.notices().contains(&open), "{:?}", page.notices());
    assert_eq!(page.table()["ids"], json!(["lost", "bad", "good"]));
    let facts = page.facts();
    let of_target = facts.iter().filter(|it| it.contains("system.sh")).count();
    assert_eq!(of_target, 1, "the target is there once: {facts:?}");
    assert!(!facts.contains(&"exec"), "{facts:?}");
    let failure = page.cases()[0]["runs"][0]["failure"].clone();
    assert!(
        failure.as_str().unwrap().contains("no <b>luck</b>"),
        "{failure}"
    );
    assert!(
        page.captions().contains("1 failure."),
        "{}",
        page.captions()
    );
    let [lost, bad, good] = &shown(&page.column("EqualsExpected"))[..] else {
        panic!("three cases");
    };
    assert_eq!(
        [lost.as_str(), bad, good],
        ["undefined", "failed", "passed"]
    );
}

#[test]
fn a_benchmark_of_models_has_a_page_without_cases() {
    let sandbox = Sandbox::new();
    sandbox.write("texts.txt", "one\none two\none two three\n");
    sandbox.succeed(
        "bench embed --texts texts.txt --seconds 0.2 --batch 1 --concurrency 1 --out speed.html",
    );
    let page = Page::of(&sandbox, "speed.html");
    assert!(
        page.sentence()
            .starts_with("embedded:static-minilm embeds up to "),
        "{}",
        page.sentence()
    );
    assert!(page.captions().contains("Latency") && page.captions().contains("Throughput"));
    assert!(block(&page.elements, "table").is_none());
}

#[test]
fn what_a_page_cannot_be_is_refused_before_any_work() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 3 --skip-qa --profile bm25");
    let message = sandbox.refuse("report latest --out rows.csv --without-texts");
    assert!(
        message.contains("`--without-texts` works only for .html files, and `rows.csv` would hold the texts; use a name that ends in .html"),
        "{message}"
    );
    assert!(!sandbox.work().join("rows.csv").exists());
    assert!(
        sandbox
            .refuse("report latest --out no/page.html")
            .contains("the folder `no` does not exist")
    );
    assert!(
        sandbox
            .refuse("report latest --out page.htm")
            .contains("use a name that ends in .html, .json, .jsonl, .csv or .md")
    );
    assert!(
        sandbox
            .refuse("compare latest --out rows.csv")
            .contains("use a name that ends in .html, .json or .md")
    );
}
