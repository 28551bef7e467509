//! Pages of several profiles and of comparisons.

use serde_json::{Value, json};

use super::{Page, shown};
use crate::sandbox::{Sandbox, json as read};

#[test]
fn several_profiles_share_a_page_that_tests_the_lead_of_the_best() {
    let sandbox = Sandbox::new();
    let printed = sandbox
        .succeed("sample --skip-qa --limit 60 --profile bm25 --profile unranked --out page.html");
    let page = Page::of(&sandbox, "page.html");
    let sentence = page.sentence();
    let mut lines = printed.lines();
    let lead = lines.find(|line| line.starts_with("MRR@5: bm25 leads unranked by "));
    let lead = lead.unwrap();
    assert!(lead.ends_with(": significant at 5 %"), "{lead}");
    assert_eq!(sentence, lead);
    assert_eq!(page.text("p", "measure"), "best: bm25, MRR@5");
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
    assert_eq!(page.text("p", "measure"), "best: bm25, MRR");
    assert!(
        sentence.starts_with(
            "MRR: unranked and bm25 are equal in every question; R@5: bm25 leads unranked by 0.5000"
        ),
        "{sentence}"
    );
    assert!(sentence.ends_with("significant at 5 %"), "{sentence}");
    assert_eq!(
        shown(&page.column("unranked: RR")),
        shown(&page.column("bm25: RR"))
    );
}

#[test]
fn the_page_of_two_equal_best_runs_leads_with_one_of_them() {
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
    // The worst run comes first. It finds the right document for 13 of 20 questions.
    for (name, right) in [("worst", 23), ("one", 30), ("other", 30)] {
        let found = |n: u32| if n < right { n } else { 10 };
        let ranking = (10..30).map(|n| format!("{n} Q0 d{} 1 1.0 s\n", found(n)));
        sandbox.write(&format!("{name}.trec"), ranking.collect::<String>());
        sandbox.succeed(&format!(
            "run ./topics.yaml --skip-qa --name {name} --target trec:{name}.trec"
        ));
    }
    let printed = sandbox.succeed("compare worst one other --out page.html");
    let page = Page::of(&sandbox, "page.html");
    let sentence = page.sentence();
    assert_eq!(page.text("p", "number"), "1.0000");
    for text in [sentence, &printed] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("are equal in every "), "{text}");
        assert!(words.contains("; both lead worst"), "{text}");
        assert!(!words.contains("not significantly ahead"), "{text}");
    }
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
    assert!(
        sentence.starts_with("Better by the sign test, against the mean: MRR "),
        "{sentence}"
    );
    let sentence = shown("--test randomization");
    assert!(!sentence.contains("against the mean"), "{sentence}");
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
    let number = |value: &Value| format!("{:.2}", value.as_f64().unwrap());
    let sentence = page.sentence();
    for part in [number(&difference["before"]), number(&difference["after"])] {
        assert!(sentence.contains(&part), "{sentence} lacks {part}");
    }
    assert_eq!(page.text("p", "measure"), "change of equivalent");
    let verdicts = shown(&page.column("change"));
    let count = |verdict: &str| verdicts.iter().filter(|it| *it == verdict).count();
    let lost = format!("gained, {} lost", count("broken"));
    assert!(sentence.contains(&lost), "{sentence} lacks {lost}");
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
    for counts in [
        "0 fixed, 0 broken.",
        "Not in this table: 2 cases with the same answer and a different verdict.",
    ] {
        assert!(captions.contains(counts), "{captions}");
    }
    assert_eq!(
        page.cases()[0]["remarks"],
        json!(["same answer, other verdict"])
    );
    let notices = page.notices();
    let unstable = notices.iter().any(|(class, text)| {
        *class == "warning"
            && *text == "2 cases with the same answer in both runs got a different verdict."
    });
    assert!(unstable, "{notices:?}");
}
