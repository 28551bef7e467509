//! Datasets without documents, and judges against the labels that a dataset holds.

use serde_json::json;

use crate::judges;
use crate::qa_server;
use crate::sandbox::{Sandbox, ended, json};
use crate::scripted_server::ScriptedServer;

/// Six answers. The judge of the tests finds every claim supported, unless the answer mentions a dragon.
fn rows() -> String {
    let row = |id: usize, output: &str, conflict: i64, baseless: i64| {
        json!({
            "id": id.to_string(), "query": "What is it?", "context": "It is a tower.", "output": output,
            "marks": {"evident_conflict": conflict, "baseless_info": baseless},
        })
    };
    let rows = [
        row(1, "A tower.", 0, 0),
        row(2, "A high tower.", 0, 0),
        row(3, "A dragon in a tower.", 0, 0),
        row(4, "A dragon.", 1, 0),
        row(5, "A red dragon.", 1, 2),
        row(6, "A house.", 0, 1),
    ];
    rows.map(|row| format!("{row}\n")).concat()
}

const MANIFEST: &str = "\
name: marked
questions: {source: {path: answers.jsonl}, id: id, text: query, metadata: [marks.*]}
labels: {measure: faithfulness, errors: [evident_conflict, baseless_info]}
settings:
  target:
    address: outputs:questions
    response: {id: $.id, answer: $.output, documents: $..context, document_id: $.id, document_text: $}
  evaluations: {judges: [faithfulness]}
";

/// A judge that finds every claim supported, unless a dragon is in it.
fn judge() -> ScriptedServer {
    ScriptedServer::start(|request, _| {
        let reply = judges::reply(request);
        let prompt = judges::prompt(request);
        if prompt.starts_with("You check") && prompt.contains("dragon") {
            return judges::reply_with(request, "not found");
        }
        reply
    })
}

/// The words of a text, each behind one space.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn one_command_compares_a_judge_with_the_labels_of_a_dataset() {
    let server = judge();
    let sandbox = Sandbox::new();
    sandbox.write("answers.jsonl", rows());
    sandbox.write("marked.yaml", MANIFEST);
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    let run = ended(&mut qa_server::with_settings(&sandbox, "run marked.yaml"));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for line in [
        "`faithfulness` against the labels of people",
        "pass 2 1",
        "fail 1 2",
        "agreement 0.6667 6 [",
        "kappa 0.3333 6 [",
        "precision 0.6667 3",
        "recall 0.6667 3",
        "F1 0.6667 6",
        "ROC area 0.6667 6 [",
        "baseless_info 2 1 0.5000 [",
        "evident_conflict 2 2 1.0000 [",
        "(none) 3 1 0.3333 [",
    ] {
        let printed = words(&run.stdout);
        assert!(printed.contains(line), "no `{line}` in {}", run.stdout);
    }
    assert!(!run.stdout.contains("cluster"), "{}", run.stdout);
    assert!(!run.stderr.contains("no question of"), "{}", run.stderr);
    let report = json(&sandbox.runs()[0].join("report.json"));
    assert_eq!(report["summary"]["scores"]["faithfulness"]["n"], 6);
    let stored = report["analyses"].as_array().unwrap().iter();
    let titles: Vec<_> = stored.map(|it| it["title"].as_str().unwrap()).collect();
    let expected = [
        "`faithfulness` against the labels of people",
        "agreement with the labels",
        "if the judge passed lower scores",
        "errors that the judge found",
    ];
    assert_eq!(
        titles, expected,
        "later readers of the report see them, too"
    );
    let limited = ended(&mut qa_server::with_settings(
        &sandbox,
        "run marked.yaml --limit 2",
    ));
    assert!(
        words(&limited.stdout).contains("ROC area – 2 –"),
        "{}",
        limited.stdout
    );
}

#[test]
fn repetitions_are_one_label_and_clusters_widen_intervals() {
    let server = judge();
    let sandbox = Sandbox::new();
    sandbox.write("answers.jsonl", rows());
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    sandbox.write("marked.yaml", MANIFEST);
    let agreement = |options: &str| {
        let run = format!("run marked.yaml {options}");
        let run = ended(&mut qa_server::with_settings(&sandbox, &run));
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        let (_, text) = run
            .stdout
            .split_once("`faithfulness` against the labels of people")
            .unwrap();
        text.to_owned()
    };
    let once = agreement("");
    assert_eq!(agreement("--repeat 3"), once);
    // Two answers to each of three prompts.
    let clustered = rows().replace(r#""id""#, r#""prompt":"p","id""#);
    let prompts = (0..6).map(|row| format!(r#""prompt":"p{}""#, row / 2));
    let lines = clustered.lines().zip(prompts);
    let lines = lines.map(|(line, prompt)| line.replace(r#""prompt":"p""#, &prompt) + "\n");
    sandbox.write("answers.jsonl", lines.collect::<String>());
    let manifest = MANIFEST.replace("[marks.*]", "[marks.*, prompt]");
    sandbox.write(
        "marked.yaml",
        manifest.replace("labels:", "cluster: metadata:prompt\nlabels:"),
    );
    let clustered = agreement("");
    let warning =
        "The answers come in 3 clusters: the intervals of kappa and of the ROC area ignore that";
    assert!(words(&clustered).contains(warning), "{clustered}");
    let line = |text: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("agreement  "));
        line.unwrap().to_owned()
    };
    assert_ne!(line(&clustered), line(&once), "the interval knows clusters");
}

#[test]
fn answers_that_nobody_labelled_are_left_out_and_objects_are_no_labels() {
    let server = judge();
    let sandbox = Sandbox::new();
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    let manifest = MANIFEST.replace("[marks.*]", "[marks]");
    let manifest = manifest.replace("[evident_conflict, baseless_info]", "[marks]");
    sandbox.write("marked.yaml", manifest);
    let row = |id: usize, output: &str, marks: serde_json::Value| {
        let row = json!({
            "id": id.to_string(), "query": "What is it?", "context": "It is a tower.", "output": output, "marks": marks,
        });
        format!("{row}\n")
    };
    let rows = [
        row(1, "A tower.", json!([])),
        row(2, "A dragon.", json!([{"start": 2, "end": 8}])),
        row(3, "A house.", json!(null)),
    ];
    sandbox.write("answers.jsonl", rows.concat());
    let run = ended(&mut qa_server::with_settings(&sandbox, "run marked.yaml"));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for line in ["1 answer without a label left out", "agreement 1.0000 2 ["] {
        let printed = words(&run.stdout);
        assert!(printed.contains(line), "no `{line}` in {}", run.stdout);
    }
    sandbox.write(
        "answers.jsonl",
        row(7, "A tower.", json!({"evident_conflict": 1})),
    );
    let run = ended(&mut qa_server::with_settings(&sandbox, "run marked.yaml"));
    assert_eq!(run.code, Some(2), "{}{}", run.stdout, run.stderr);
    let message =
        "the label `marks` is an object, which says neither right nor wrong; name its fields";
    assert!(run.stderr.contains("error: question `7`"), "{}", run.stderr);
    assert!(run.stderr.contains(message), "{}", run.stderr);
}

#[test]
fn questions_without_documents_are_for_targets() {
    let sandbox = Sandbox::new();
    sandbox.write("questions.jsonl", "{\"q\": \"Who built it?\", \"a\": [\"Ada\", \"Lady Lovelace\"]}\n{\"q\": \"When?\", \"a\": [\"1875\"]}\n");
    sandbox.write(
        "open.yaml",
        "name: open\nquestions: {source: {path: questions.jsonl}, text: q, answer: \"a[]\"}\n",
    );
    let refused = sandbox.refuse("run open.yaml");
    assert!(
        refused.contains(
            "dataset `open` has questions and answers, but no documents; with `--target`"
        ),
        "{refused}"
    );
    let refused = sandbox.refuse("run open.yaml --skip-qa --target exec:cat");
    assert!(
        refused.contains("`open` has no documents, so `--skip-qa` leaves nothing"),
        "{refused}"
    );
    let mut command = sandbox.command("run open.yaml --out report.json");
    let script = r#"sh -c 'while read -r line; do echo "{\"answer\": \"Lady Lovelace\"}"; done'"#;
    let run = ended(command.args(["--target", &format!("exec:{script}")]));
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let report = json(&sandbox.work().join("report.json"));
    let assertions = &report["summary"]["assertions"];
    assert_eq!(assertions["exact match"]["value"], 0.5, "{assertions}");
    assert_eq!(
        report["cases"][0]["expected"]["accepted"],
        json!(["Lady Lovelace"])
    );
}

#[test]
fn the_manifest_for_mtrag_reads_files_as_its_repository_has_them() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/datasets.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, manifest) = page.split_once("  name: mtrag-clapnq\n").unwrap();
    let (manifest, _) = manifest.split_once("  ```").unwrap();
    let sandbox = Sandbox::new();
    sandbox.write("mtrag.yaml", format!("  name: mtrag-clapnq\n{manifest}"));
    let passage = |id: &str, text: &str| {
        format!(
            "{}\n",
            json!({"_id": id, "id": id, "title": "Pier", "text": text, "url": ""})
        )
    };
    sandbox.write(
        "clapnq.jsonl",
        passage("p_1-2", "It is old.") + &passage("p_3-4", "It is long."),
    );
    let folder = "mtrag-human/retrieval_tasks/clapnq";
    let said = |speaker: &str| json!({"speaker": speaker, "text": "How old?", "metadata": {"created_at": 1}});
    let turn = |number: usize| {
        let mut input = vec![said("user"); 2 * number - 1];
        for reply in input.iter_mut().skip(1).step_by(2) {
            *reply = said("agent");
        }
        let kind = if number == 3 {
            "UNANSWERABLE"
        } else {
            "ANSWERABLE"
        };
        json!({
            "conversation_id": "c", "task_id": format!("c<::>{number}"), "turn": number, "input": input, "targets": [said("agent")],
            "Collection": "mt-rag-clapnq-elser-512-100-20240503", "Answerability": [kind], "Multi-Turn": null,
        })
    };
    let tasks = [1, 2, 3].map(|number| turn(number).to_string().replace("null", "NaN") + "\n");
    sandbox.write(
        "mtrag-human/generation_tasks/reference.jsonl",
        tasks.concat(),
    );
    let qrels =
        "query-id\tcorpus-id\tscore\nc<::>1\tp_1-2\t1\nc<::>2\tp_1-2\t1\nc<::>2\tp_3-4\t1\n";
    sandbox.write(&format!("{folder}/qrels/dev.tsv"), qrels);
    let printed =
        sandbox.succeed("run ./mtrag.yaml --skip-qa --profile bm25 --set search.history=2");
    assert!(printed.contains("mtrag-clapnq · 3 cases"), "{printed}");
    assert!(printed.contains("excluded: 1 × unanswerable"), "{printed}");
    let validated = sandbox.succeed("validate mtrag.yaml");
    assert!(
        validated.contains("with 2 documents and 3 questions"),
        "{validated}"
    );
}
