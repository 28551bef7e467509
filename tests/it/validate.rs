//! The commands `validate` and `config schema --dataset`.

use crate::sandbox::Sandbox;

const GOOD: &str = "cases:\n- {name: a, inputs: 1, evaluators: [Equals: 1]}\n- {inputs: 2}\nevaluators: [EqualsExpected]\n";

#[test]
fn every_kind_of_good_file_has_a_line() {
    let sandbox = Sandbox::new();
    sandbox.write("cases.yaml", GOOD);
    sandbox.write("cases.json", "{\"cases\": []}");
    sandbox.write("table.csv", "q,__expected\na,contains: b\n");
    sandbox.write(
        "lines.jsonl",
        "{\"question\": \"a\", \"evaluators\": [\"EqualsExpected\"]}\n",
    );
    sandbox.write("settings.yaml", "search: {limit: 3}\n");
    sandbox.write("target.yaml", "address: http://localhost:8000/ask\n");
    sandbox.write(
        "manifest.yaml",
        "name: own\nsource: {path: .}\ndocuments: {source: {path: d.jsonl}, uri: id, text: text}\nquestions: {source: {path: q.jsonl}, id: id, text: text, relevant: [doc]}\n",
    );
    sandbox.write("d.jsonl", "{\"id\": \"d1\", \"text\": \"red\"}\n");
    sandbox.write(
        "q.jsonl",
        "{\"id\": \"q1\", \"text\": \"what is red?\", \"doc\": \"d1\"}\n",
    );
    sandbox.write(
        "remote.yaml",
        "name: far\nsource: {repo: nobody/nothing, files: [a.parquet]}\ndocuments: {uri: id, text: text}\nquestions: {text: text, relevant: [doc]}\n",
    );
    sandbox.write("qrels.trec", "q1 0 d1 1\nq2 0 d1 0\n");
    sandbox.write("run.trec", "q1 Q0 d1 1 0.5 tag\n");
    let printed = sandbox.succeed(
        "validate cases.yaml cases.json table.csv lines.jsonl settings.yaml target.yaml manifest.yaml remote.yaml qrels.trec run.trec",
    );
    assert_eq!(
        printed,
        "cases.yaml: dataset file with 2 cases and 2 evaluators\n\
         cases.json: dataset file with 0 cases and 0 evaluators\n\
         table.csv: dataset file with 1 case and 1 evaluator\n\
         lines.jsonl: dataset file with 1 case and 1 evaluator\n\
         settings.yaml: settings\n\
         target.yaml: target\n\
         manifest.yaml: manifest of the dataset `own` with 1 document and 1 question\n\
         remote.yaml: manifest of the dataset `far`; its files are not downloaded, so they are not checked; `evaluations datasets download remote.yaml` gets them\n\
         qrels.trec: judgements of 2 queries\n\
         run.trec: rankings of 1 query\n"
    );
}

#[test]
fn every_problem_of_every_file_has_a_line_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write("good.yaml", GOOD);
    sandbox.write(
        "cases.yaml",
        "cases:\n- input: 1\n- {inputs: .inf, evaluators: [Equal: 1, Equals: {a: 1}]}\n",
    );
    sandbox.write("settings.yaml", "search: {limt: 3}\n");
    sandbox.write(
        "target.yaml",
        "address: http://localhost\nresponse:\n  anwser: $.text\n",
    );
    sandbox.write("run.trec", "q1 Q0 d1 1 high tag\n");
    sandbox.write("notes.txt", "hello\n");
    let ended = sandbox.run(
        "validate cases.yaml settings.yaml good.yaml target.yaml run.trec notes.txt none.yaml",
    );
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stderr, "error: 10 problems in 6 of 7 files\n");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "cases.yaml:2:3: a case has no key `input`; did you mean `inputs`?",
            "cases.yaml:2:3: the case has no `inputs`; it may be null, but it has to be there",
            "cases.yaml:3:12: `.inf` is not a finite number, and JSON, in which cases are sent and stored, has only finite ones; write `null`, or put it into quotes",
            "cases.yaml:3:31: no evaluator is called `Equal`; did you mean `Equals`?",
            "cases.yaml:3:50: `Equals` has no argument `a`; it has `value`, `evaluation_name`; a mapping holds arguments by name, so one that is the argument itself is written `Equals: {value: {…}}`",
            "settings.yaml:1: unknown setting `search.limt`; did you mean `search.limit`?",
            "good.yaml: dataset file with 2 cases and 2 evaluators",
            "target.yaml:3:3: `target.response.anwser`: unknown key; did you mean `answer`?",
            "run.trec: line 1: `high` is not a score; expected a number such as `12.5`",
            "notes.txt: not a file that can be checked; those are dataset files (`.yaml`, `.json`, `.jsonl`, `.csv`), manifests, settings and targets (`.yaml`), judgements and rankings in TREC format; `evaluations init --to FOLDER` writes examples",
            "cannot read `none.yaml`: No such file or directory (os error 2)",
        ]
    );
}

#[test]
fn a_target_may_stand_under_its_name_as_in_the_settings() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "target.yaml",
        "target:\n  address: http://localhost:8000/ask\n",
    );
    assert_eq!(
        sandbox.succeed("validate target.yaml"),
        "target.yaml: target\n"
    );
    sandbox.write(
        "target.yaml",
        "target:\n  address: http://localhost\n  response:\n    anwser: $.text\n",
    );
    let bad = sandbox.run("validate target.yaml");
    assert_eq!(bad.code, Some(2));
    assert_eq!(
        bad.stdout,
        "target.yaml:4:5: `target.response.anwser`: unknown key; did you mean `answer`?\n"
    );
}

#[test]
fn what_a_run_refuses_in_the_files_of_a_manifest_is_a_problem() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mine.yaml",
        "name: mine\ndocuments: {source: {path: d.csv}, uri: id, text: text}\nquestions: {source: {path: q.csv}, id: id, text: text, relevant: doc}\n",
    );
    sandbox.write("d.csv", "id,text\nreset-password,red\ninvoice,blue\n");
    sandbox.write(
        "q.csv",
        "id,text,doc\n1,what is blue?,invoice\n2,what is red?,reset-pasword\n",
    );
    let problem = "judgements name a document missing from the corpus or without text there: `reset-pasword`; \
                   ./q.csv:3: question `2` names `reset-pasword`; did you mean `reset-password`?";
    let validated = sandbox.run("validate ./mine.yaml");
    assert_eq!(validated.code, Some(2));
    assert_eq!(validated.stdout, format!("./mine.yaml: {problem}\n"));
    let message = sandbox.refuse("./mine.yaml --skip-qa");
    assert_eq!(
        message,
        format!("error: {problem}\n"),
        "without a hint to accept it"
    );
}

#[test]
fn warnings_are_no_problems() {
    let sandbox = Sandbox::new();
    sandbox.write("cases.yaml", "cases:\n- {inputs: 1, inputs: 2}\n");
    assert_eq!(
        sandbox.succeed("validate cases.yaml"),
        "cases.yaml:2:15: warning: duplicate key `inputs`: this value replaces the one of line 2\n\
         cases.yaml: dataset file with 1 case and 0 evaluators\n"
    );
}

#[test]
fn the_schema_of_a_dataset_file_is_written_beside_it() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/cases.yaml", GOOD);
    let ended = sandbox.run("config schema --dataset folder/cases.yaml");
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout, "folder/cases_schema.json\n");
    assert_eq!(
        ended.stderr,
        "editors use the schema if the first line of `folder/cases.yaml` is `# yaml-language-server: $schema=cases_schema.json`\n"
    );
    let text = std::fs::read_to_string(sandbox.work().join("folder/cases_schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["cases"]));
    assert!(text.contains("\"EqualsExpected\""));
    assert_eq!(
        sandbox.refuse("config schema --dataset table.csv"),
        "error: the name of `table.csv` does not end like that of a dataset file in YAML or JSON, and editors use schemas for those only\n"
    );
    assert_eq!(
        sandbox
            .run("config schema --dataset folder/cases.yaml")
            .code,
        Some(0)
    );
    sandbox.write("own.yaml", GOOD);
    sandbox.write("own_schema.json", r#"{"title": "Dataset"}"#);
    assert_eq!(
        sandbox.refuse("config schema --dataset own.yaml"),
        "error: `own_schema.json` is there already and `evaluations` did not write it; move it away or delete it first\n"
    );
}

#[test]
fn a_dataset_file_without_cases_and_a_file_without_keys_have_messages_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.write("cases.yaml", "evaluators: [Equals: 1]\n");
    sandbox.write("list.yaml", "- {inputs: 1}\n");
    sandbox.write("empty.yaml", "# nothing yet\n");
    let ended = sandbox.run("validate cases.yaml list.yaml empty.yaml");
    assert_eq!(ended.code, Some(2));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "cases.yaml:1:1: the key `cases` is missing; without any, write `cases: []`",
            "list.yaml: is a list at its root; in YAML, cases stand under `cases:` (`.json` and `.jsonl` may hold a list of records)",
            "empty.yaml: warning: the file is empty: as settings it changes nothing, and a dataset file needs `cases:`",
            "empty.yaml: settings",
        ]
    );
}
