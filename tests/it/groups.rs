//! Groups of cases, and the view of single cases.

use crate::sandbox::{Sandbox, json};
use crate::selection::help_desk;

#[test]
fn a_run_is_broken_down_by_a_key_of_the_questions() {
    let sandbox = help_desk();
    let printed = sandbox.succeed(
        "./mine.yaml --skip-qa --profile bm25 --group-by year --out report.json --out report.md",
    );
    let table = "MRR@2 by year\nyear   Value";
    assert!(printed.contains(table), "{printed}");
    let report = json(&sandbox.work().join("report.json"));
    let groups = &report["summary"]["groups"][0]["groups"];
    assert_eq!(groups[0]["name"], "2024");
    assert_eq!(groups[0]["cases"], 3);
    assert_eq!(groups[0]["means"][0]["mean"]["n"], 2, "one is unanswerable");
    assert_eq!(groups[1]["name"], "2023");
    let markdown = std::fs::read_to_string(sandbox.work().join("report.md")).unwrap();
    assert!(markdown.contains("| MRR@2 by year | Value"), "{markdown}");

    let shown = sandbox.succeed("runs show latest --group-by topic --group-by answerable");
    assert!(
        shown.contains("MRR@2 by topic") && shown.contains("\n(none)"),
        "{shown}"
    );
    assert!(shown.contains("MRR@2 by answerable"), "{shown}");
    sandbox.succeed("report latest --group-by topic --out again.json");
    let again = json(&sandbox.work().join("again.json"));
    assert_eq!(
        again["summary"]["groups"][0]["groups"]
            .as_array()
            .unwrap()
            .len(),
        4
    );

    sandbox.succeed("./mine.yaml --skip-qa --profile unranked --name poor");
    let run = sandbox.runs()[0].clone();
    let change = sandbox.succeed(&format!(
        "compare {} poor --group-by year --out change.json",
        run.display()
    ));
    assert!(change.contains("MRR@2 by year\nyear"), "{change}");
    let change = json(&sandbox.work().join("change.json"));
    assert_eq!(change["groups"][0]["groups"][0]["pairs"], 3);

    let both = sandbox.succeed("./mine.yaml --profile bm25 --profile semantic --group-by year");
    assert_eq!(
        both.matches("MRR@2 by year").count(),
        2,
        "each profile:\n{both}"
    );
    assert!(both.contains("equivalent (pass rate) by year"), "{both}");
}

#[test]
fn answers_are_grouped_by_what_follows_from_the_judgements() {
    let sandbox = help_desk();
    let printed = sandbox.succeed(
        "./mine.yaml --skip-retrieval --group-by answerable --group-by relevant_documents --out report.json",
    );
    assert!(
        printed.contains("equivalent (pass rate) by answerable\nanswerable   Value"),
        "{printed}"
    );
    let report = json(&sandbox.work().join("report.json"));
    let groups = &report["summary"]["groups"];
    let sizes = |place: usize| -> Vec<(String, u64)> {
        let groups = groups[place]["groups"].as_array().unwrap();
        let size = |it: &serde_json::Value| {
            let name = it["name"].as_str().unwrap().to_owned();
            (name, it["cases"].as_u64().unwrap())
        };
        groups.iter().map(size).collect()
    };
    assert_eq!(sizes(0), [("true".to_owned(), 3), ("false".to_owned(), 1)]);
    assert_eq!(sizes(1), [("1".to_owned(), 3), ("0".to_owned(), 1)]);
    let shown = sandbox.succeed("runs show latest --group-by answerable");
    assert!(shown.contains("by answerable"), "{shown}");
    sandbox
        .succeed("./mine.yaml --skip-retrieval --filter-case relevant_documents=0 --out few.json");
    let few = json(&sandbox.work().join("few.json"));
    assert_eq!(few["cases"].as_array().unwrap().len(), 1);
    assert_eq!(few["cases"][0]["expected"]["answerable"], false);
}

#[test]
fn an_unknown_group_is_refused_before_anything_is_asked() {
    let sandbox = help_desk();
    let message = sandbox.refuse("./mine.yaml --group-by topics");
    assert!(
        message.contains("`--group-by topics`: questions have no `topics`; known are `answerable`, `relevant_documents`, `question_length`, `topic`, `year`; did you mean `topic`?"),
        "{message}"
    );
    assert!(sandbox.runs().is_empty());
    sandbox.succeed("./mine.yaml --skip-qa");
    let message = sandbox.refuse("runs show latest --group-by nothing");
    assert!(
        message.contains(
            "no case has `nothing` in its metadata; known are `answerable`, `question_length`, `relevant_documents`, `topic`, `year`"
        ),
        "{message}"
    );
}

#[test]
fn cases_are_listed_and_shown_in_detail() {
    let sandbox = help_desk();
    sandbox.succeed("./mine.yaml --skip-retrieval");
    let listed = sandbox.succeed("runs show latest --cases 2");
    assert!(
        listed.contains("2 of 4 cases, failed and lowest first"),
        "{listed}"
    );
    let brief = sandbox.succeed("runs show latest --failed --cases 1");
    assert!(brief.lines().count() < 8, "{brief}");
    assert!(
        brief.contains("\n  answer: ") && brief.contains("\n  equivalent: no"),
        "{brief}"
    );
    let failed = sandbox.succeed("runs show latest --failed --verbose");
    for part in [
        "\n  topic: account\n",
        "\n  question: How do I reset my password?\n",
        "\n  passages:\n    [1] reset, Forgotten password\n    Forgotten password Open Settings, choose Security and press Reset password.\n",
        "\n  answer:",
        "\n  reference: Nobody but an administrator may do that.\n",
        "\n  relevant: reset\n",
        "\n  equivalent: no",
    ] {
        assert!(failed.contains(part), "no `{part}` in:\n{failed}");
    }
    assert!(!failed.contains("How do I export notes?"), "{failed}");
    let named = sandbox.succeed("runs show latest --case 2 --case 3");
    assert!(named.contains("How do I export notes?") && named.contains("When are invoices sent?"));
    let message = sandbox.refuse("runs show latest --case 5");
    assert!(
        message.contains("the run has no case `5` among its 4 cases"),
        "{message}"
    );
    sandbox.succeed("./mine.yaml --skip-qa");
    let retrieval = sandbox.succeed("runs show latest --case 1");
    assert!(retrieval.contains("\n  found: reset"), "{retrieval}");
    assert_eq!(
        sandbox.succeed("runs show latest --failed"),
        "no case failed\n"
    );
}

#[test]
fn a_case_of_hostile_texts_cannot_steer_a_narrow_terminal_or_a_spreadsheet() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "articles.csv",
        "id,text\na,\"\u{1b}[2Jtext \u{202e}of a\ncut\"\n",
    );
    sandbox.write(
        "questions.csv",
        "id,question,answer,relevant,topic\n=1+1,\"\u{1b}]0;title\u{7} text of a?\",@SUM(A1),a,-cmd\n",
    );
    sandbox.write(
        "odd.yaml",
        "name: odd\ndocuments: {source: {path: articles.csv}, uri: id, text: text}\n\
         questions: {source: {path: questions.csv}, id: id, text: question, answer: answer, relevant: relevant, metadata: topic}\n",
    );
    sandbox.succeed("./odd.yaml --skip-retrieval --group-by topic --out cases.csv");
    let mut command = sandbox.command("runs show latest --case =1+1");
    let shown = crate::sandbox::ended(command.env("COLUMNS", "24")).stdout;
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 40),
        "{shown}"
    );
    let csv = std::fs::read_to_string(sandbox.work().join("cases.csv")).unwrap();
    for cell in ["'=1+1", "'@SUM(A1)", "'-cmd"] {
        assert!(csv.contains(cell), "no `{cell}` in:\n{csv}");
    }
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .contains(",metadata topic,question,answer,reference,"),
        "{csv}"
    );
}
