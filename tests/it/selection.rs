//! Choosing questions by their metadata, by their ids, and by an earlier run.

use std::fs;

use crate::sandbox::{Sandbox, json};

const ARTICLES: &str = "\
id,title,text
reset,Forgotten password,\"Open Settings, choose Security and press Reset password.\"
export,Export your notes,Choose Export in the File menu. Large exports arrive by mail.
invoice,Invoices,We send invoices on the first day of the month.
";
const QUESTIONS: &str = "\
id,question,answer,relevant,topic,year
1,How do I reset my password?,Nobody but an administrator may do that.,reset,account,2023
2,How do I export notes?,In the File menu.,export,notes,2024
3,When are invoices sent?,On the first day of the month.,invoice,billing,2024
4,Who pays the ferryman?,Nobody knows.,invoice,,2024
";
const MANIFEST: &str = "\
name: mine
documents: {source: {path: articles.csv}, uri: id, title: title, text: text}
questions: {source: {path: questions.csv}, id: id, text: question, answer: answer, relevant: relevant, metadata: [topic, year]}
unanswerable: {answer: Nobody knows.}
retrieval: {limit: 2, headline: RR@2, measures: [RR@2]}
";

pub(crate) fn help_desk() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("articles.csv", ARTICLES);
    sandbox.write("questions.csv", QUESTIONS);
    sandbox.write("mine.yaml", MANIFEST);
    sandbox
}

/// The ids of the cases of the newest run's report.
fn asked(sandbox: &Sandbox) -> String {
    let run = sandbox.runs().pop().unwrap();
    let report = json(&run.join("report.json"));
    let cases = report["cases"].as_array().unwrap().clone();
    let ids: Vec<String> = cases
        .iter()
        .map(|case| case["id"].as_str().unwrap().to_owned())
        .collect();
    ids.join(" ")
}

#[test]
fn questions_are_chosen_by_metadata_and_by_id() {
    let sandbox = help_desk();
    for (options, ids) in [
        ("--filter-case year=2024", "2 3 4"),
        ("--filter-case year=2024 --filter-case topic!=notes", "3 4"),
        (
            "--filter-case topic=notes --filter-case topic=billing",
            "2 3",
        ),
        ("--filter-case topic=", "4"),
        ("--filter-case answerable=false", "4"),
        ("--case 3 --case 1", "1 3"),
        ("--filter-case year=2024 --case 3 --case 1", "3"),
        ("--filter-case year=2024 --limit 1", "2"),
    ] {
        sandbox.succeed(&format!("./mine.yaml --skip-qa {options}"));
        assert_eq!(asked(&sandbox), ids, "{options}");
    }
}

#[test]
fn the_report_says_how_many_of_all_questions_were_asked() {
    let sandbox = help_desk();
    let printed = sandbox.succeed("./mine.yaml --filter-case year=2024 --out report.md");
    let line = "questions: 3 of 4 (year=2024)";
    assert_eq!(
        printed.matches(line).count(),
        2,
        "both benchmarks:\n{printed}"
    );
    let [retrieval, qa] = [0, 1].map(|place| sandbox.runs()[place].clone());
    for run in [&retrieval, &qa] {
        let manifest = json(&run.join("manifest.json"));
        let selection = &manifest["dataset"]["selection"];
        assert_eq!(selection["of"], 4);
        assert_eq!(selection["by"], serde_json::json!(["year=2024"]));
        let markdown = fs::read_to_string(run.join("report.md")).unwrap();
        assert!(markdown.contains("3 of 4"), "{markdown}");
    }
    let stored = json(&qa.join("report.json"));
    assert_eq!(stored["cases"][0]["metadata"]["topic"], "notes");
    let stored = json(&retrieval.join("report.json"));
    assert_eq!(
        stored["cases"][0]["metadata"],
        serde_json::json!({"answerable": true, "topic": "notes", "year": "2024"})
    );
    let again = sandbox.succeed("rejudge latest");
    assert!(again.contains(line), "{again}");
}

#[test]
fn a_selection_is_part_of_what_a_run_is() {
    let sandbox = help_desk();
    sandbox.succeed("./mine.yaml --skip-retrieval --filter-case year=2024");
    sandbox.succeed("./mine.yaml --skip-retrieval");
    assert_eq!(asked(&sandbox), "1 2 3 4");
    let [chosen, all] = [0, 1].map(|place| json(&sandbox.runs()[place].join("manifest.json")));
    assert!(chosen["dataset"]["selection"].is_object());
    assert!(all["dataset"].get("selection").is_none(), "{all}");
}

#[test]
fn the_cases_that_failed_or_got_worse_run_again() {
    let sandbox = help_desk();
    sandbox.succeed("./mine.yaml --name first");
    let failed = sandbox.succeed("./mine.yaml --skip-retrieval --only failed --from latest");
    assert!(failed.contains("failed in "), "{failed}");
    assert_eq!(
        asked(&sandbox),
        "1",
        "the only answer that is not equivalent"
    );

    sandbox.succeed("./mine.yaml --skip-qa --profile bm25 --name good");
    sandbox.succeed("./mine.yaml --skip-qa --profile unranked --name poor");
    let worse = sandbox
        .succeed("./mine.yaml --skip-qa --profile bm25 --only worse --from poor --against good");
    assert!(worse.contains(" of 4 (worse in "), "{worse}");
    assert_eq!(
        asked(&sandbox),
        "2 3",
        "the unranked baseline lists the first document first"
    );
    let message = sandbox.refuse("./mine.yaml --skip-qa --only worse --from good --against poor");
    assert!(
        message.contains("there is nothing to run: no case got worse in"),
        "{message}"
    );
    let message = sandbox.refuse("./mine.yaml --skip-qa --only failed --from good");
    assert!(
        message.contains("there is nothing to run: no case failed in"),
        "{message}"
    );
}

#[test]
fn a_choice_of_nothing_is_refused_with_what_there_is() {
    let sandbox = help_desk();
    for (options, message) in [
        (
            "--filter-case topics=notes",
            "error: `--filter-case topics=notes`: cases have no `topics`; known are `answerable`, `relevant_documents`, `question_length`, `topic`, `year`; did you mean `topic`?",
        ),
        (
            "--filter-case topic=nots",
            "error: no case fits `topic=nots`; the values of `topic` are `(none)`, `account`, `billing`, `notes`",
        ),
        ("--case 5", "error: no case `5` among 4 cases"),
        (
            "--filter-case topic",
            "write a condition such as `topic=Sports`",
        ),
        ("--only failed", "--from <RUN>"),
        ("--only worse --from nowhere", "no run `nowhere` in"),
    ] {
        let printed = sandbox.refuse(&format!("run ./mine.yaml --skip-qa {options}"));
        assert!(printed.contains(message), "{options}: {printed}");
    }
    assert!(sandbox.runs().is_empty());
}
