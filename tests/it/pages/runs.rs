//! Pages of single runs.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::texts::secret;
use super::{Page, shown};
use crate::html::block;
use crate::sandbox::{Sandbox, ended, json as read};

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
    assert_eq!(page.text("h1", ""), "sample, bm25");
    assert_eq!(page.text("p", "measure"), "MRR@5");
    assert_eq!(page.text("p", "number"), number(&score["value"]));
    assert_eq!(
        page.text("p", "about"),
        format!(
            "95 % interval {} to {}{} questions, {} excluded",
            number(&score["interval"]["low"]),
            number(&score["interval"]["high"]),
            score["n"],
            score["excluded"]["unanswerable"]
        )
    );
    let wheres = shown(&page.column("where"));
    let count = |ending: &str| wheres.iter().filter(|it| *it == ending).count();
    let (found, missed) = (count("retrieved"), count("not retrieved"));
    assert_eq!(
        page.sentence(),
        format!(
            "{found} of {} searches found a relevant document; {missed} not retrieved",
            found + missed
        )
    );
    let captions = page.captions();
    let methods = "Intervals: Student's t with cluster-robust standard error (CR2). Clusters: 8 clusters by document";
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
    assert_eq!(page.text("p", "measure"), "equivalent");
    assert!(
        page.sentence()
            .contains("of 10 answers are right, by the words that they share with the reference"),
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
