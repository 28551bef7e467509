//! Files of replies, good and bad.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::{Mapping, Reply, Request, ResponseSettings, Target, TargetIdentity};

struct File {
    path: PathBuf,
    _folder: TempDir,
}

fn file(name: &str, text: &str) -> File {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    File {
        path,
        _folder: folder,
    }
}

fn own() -> Mapping {
    Mapping::new(&ResponseSettings::default()).unwrap()
}

fn read(name: &str, text: &str) -> Result<Outputs, OutputsError> {
    Outputs::read(&file(name, text).path, &own())
}

/// The problems of a file, without its path.
fn problems(name: &str, text: &str) -> Vec<String> {
    match read(name, text) {
        Err(OutputsError::Rows { problems, .. }) => {
            problems.iter().map(ToString::to_string).collect()
        }
        other => panic!("{other:?}"),
    }
}

async fn ask(outputs: Outputs, id: &str, repeat: u32) -> Result<Reply, String> {
    let target = OutputsTarget::new(TargetIdentity::new("outputs", "file"), outputs);
    let mut request = Request::question(id, "Why?");
    request.repeat = repeat;
    target
        .ask(&request)
        .await
        .map_err(|error| error.to_string())
}

fn ids(reply: &Reply) -> Vec<&str> {
    let documents = reply.documents.as_ref().unwrap();
    documents
        .iter()
        .map(|it| it.id.as_deref().unwrap())
        .collect()
}

#[tokio::test]
async fn json_lines_hold_a_reply_on_each_line() {
    let text = "\u{feff}{\"id\": \"a\", \"answer\": \"x\", \"documents\": [\"d1\", {\"id\": \"d2\"}]}\r\n\n{\"id\": 7, \"answer\": \"y\"}";
    let outputs = read("replies.jsonl", text).unwrap();
    assert_eq!(outputs.ids().collect::<Vec<_>>(), ["7", "a"]);
    let reply = ask(outputs.clone(), "a", 3).await.unwrap();
    assert_eq!(
        (reply.answer.clone(), ids(&reply)),
        (Some(json!("x")), vec!["d1", "d2"])
    );
    assert_eq!(ask(outputs, "7", 1).await.unwrap().answer, Some(json!("y")));
    let null = read("replies.jsonl", r#"{"id": "a", "answer": null}"#).unwrap();
    assert_eq!(ask(null, "a", 1).await.unwrap().answer, Some(json!(null)));
}

#[tokio::test]
async fn cells_of_csv_are_the_fields_of_a_reply() {
    let text = "id,answer,documents,refused,latency_ms,metrics\n\
                q1,\"Paris, of course\",d1|d2,False,12,\"{\"\"hops\"\": 2}\"\n\
                q2,42,\"[\"\"d3\"\"]\",,,\n\
                q3,,d4,,,\n";
    let outputs = read("replies.csv", text).unwrap();
    let first = ask(outputs.clone(), "q1", 1).await.unwrap();
    assert_eq!(first.answer, Some(json!("Paris, of course")));
    assert_eq!(
        (ids(&first), first.refused),
        (vec!["d1", "d2"], Some(false))
    );
    assert_eq!(first.reported.unwrap().as_millis(), 12);
    assert_eq!(first.metrics["hops"].to_bits(), 2.0_f64.to_bits());
    let second = ask(outputs.clone(), "q2", 1).await.unwrap();
    assert_eq!(
        (second.answer.clone(), ids(&second)),
        (Some(json!("42")), vec!["d3"])
    );
    assert_eq!(
        ask(outputs, "q3", 1).await.unwrap().answer,
        Some(json!("")),
        "an empty answer, not a missing one"
    );
}

#[tokio::test]
async fn an_error_fails_its_case_alone_whether_text_or_object() {
    let text = "{\"id\": \"a\", \"error\": \"down\"}\n{\"id\": \"b\", \"error\": {\"code\": 502}}\n{\"id\": \"c\", \"answer\": 1}";
    let outputs = read("replies.jsonl", text).unwrap();
    assert_eq!(ask(outputs.clone(), "a", 1).await.unwrap_err(), "down");
    assert_eq!(
        ask(outputs.clone(), "b", 1).await.unwrap_err(),
        "{\"code\":502}"
    );
    assert!(ask(outputs, "c", 1).await.is_ok());
}

#[tokio::test]
async fn an_error_that_says_there_is_none_fails_nothing() {
    for none in ["null", "false", "\"\"", "\" \""] {
        let line = format!("{{\"id\": \"a\", \"error\": {none}, \"answer\": 1}}\n");
        let outputs = read("replies.jsonl", &line).unwrap();
        assert!(ask(outputs, "a", 1).await.is_ok(), "{none}");
        assert!(
            own().read(&serde_json::from_str(&line).unwrap()).is_ok(),
            "{none}"
        );
    }
}

#[tokio::test]
async fn rows_of_another_shape_are_read_by_paths() {
    let response: ResponseSettings =
        serde_json::from_value(json!({"id": "$.case", "answer": "$.out.text"})).unwrap();
    let file = file("replies.ndjson", r#"{"case": "a", "out": {"text": "x"}}"#);
    let outputs = Outputs::read(&file.path, &Mapping::new(&response).unwrap()).unwrap();
    assert_eq!(ask(outputs, "a", 1).await.unwrap().answer, Some(json!("x")));
}

#[tokio::test]
async fn a_row_with_repeat_is_the_reply_to_one_repetition() {
    let text = "{\"id\": \"a\", \"repeat\": 1, \"answer\": \"x\"}\n{\"id\": \"a\", \"repeat\": 2, \"answer\": \"y\"}";
    let outputs = read("replies.jsonl", text).unwrap();
    assert_eq!(
        ask(outputs.clone(), "a", 2).await.unwrap().answer,
        Some(json!("y"))
    );
    let missing = ask(outputs, "a", 3).await.unwrap_err();
    assert!(
        missing.ends_with("has no reply to repetition 3 of `a`"),
        "{missing}"
    );
}

#[tokio::test]
async fn a_missing_case_and_one_with_an_error_fail_with_their_reasons() {
    let outputs = read("replies.jsonl", r#"{"id": "a", "error": "out of memory"}"#).unwrap();
    assert_eq!(
        ask(outputs.clone(), "a", 1).await.unwrap_err(),
        "out of memory"
    );
    let missing = ask(outputs, "b", 1).await.unwrap_err();
    assert!(
        missing.ends_with("replies.jsonl` has no reply to `b`"),
        "{missing}"
    );
}

#[test]
fn unknown_and_missing_ids_are_told_before_the_run() {
    let text = "id,answer\na,1\nb,1\nc,1\n";
    let target = OutputsTarget::new(
        TargetIdentity::new("outputs", "f"),
        read("r.csv", text).unwrap(),
    );
    let warnings = target.warnings(&BTreeSet::from(["a", "x"]));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].ends_with("2 of 3 ids are none of this run's cases and are not used: `b`, `c`"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].ends_with("has no reply to 1 of 2 cases, which count as failed: `x`"),
        "{warnings:?}"
    );
    assert_eq!(target.warnings(&BTreeSet::from(["a", "b", "c"])), [""; 0]);
}

#[test]
fn every_bad_row_is_named_with_its_line() {
    let text = "{\"id\": \"a\", \"answer\": \"x\"}\n[1]\n{\"id\": \"a\", \"answer\": \"y\"}\n{\"answer\": \"z\"}\n{\"id\": \"b\"\n\n{\"id\": \"c\"}\n{\"id\": \"d\", \"repeat\": 0, \"answer\": 1}\n{\"id\": \"a\", \"repeat\": 2, \"answer\": 1}\n";
    let problems = problems("r.jsonl", text);
    let expected = [
        "line 2: it is not a JSON object",
        "line 3: `a` has a second reply",
        "line 4: it has no `id`, a text or a number",
        "line 5: it is not JSON: EOF while parsing an object at column 10; it begins with `{\"id\": \"b\"`",
        "line 7: the reply has neither `answer` nor `documents`",
        "line 8: `repeat` is a whole number from 1, not `0`",
        "line 9: `a` has replies with and without `repeat`; write it in all of them or in none",
    ];
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.starts_with(expected), "{problem}");
    }
    let message = read("r.jsonl", text).unwrap_err().to_string();
    assert!(message.starts_with("7 problems in `"), "{message}");
    assert!(message.ends_with("\n  and 2 more"), "{message}");
}

#[test]
fn bad_tables_are_named_with_their_line() {
    assert_eq!(
        problems("r.csv", "id,answer\na\nb,x\nb,y\nc,1,2\n"),
        [
            "line 2: 1 fields where the header has 2; a field that holds the separator, a quote or a line break needs quotes around it",
            "line 4: `b` has a second reply",
            "line 5: 3 fields where the header has 2; a field that holds the separator, a quote or a line break needs quotes around it"
        ]
    );
    assert_eq!(
        problems("r.csv", "id,answer\na,x\nb,\"y\nc,z\n"),
        [
            "line 3: the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
        ],
        "the rest of the file would be the answer to `b`"
    );
    assert_eq!(
        problems("r.csv", "id,answer,refused\na,x,no\n"),
        ["line 2: `refused` is not JSON: `no`"]
    );
    assert_eq!(
        problems("r.csv", "id,answer,answer\na,x,y\n"),
        ["line 1: two columns are named `answer`"]
    );
    assert_eq!(
        problems("r.csv", "id,documents\na,\"['d1', 'd2']\"\n"),
        [
            "line 2: `documents` begins like a list but is not JSON: `['d1', 'd2']`; write `[\"d1\", \"d2\"]` (Python: `json.dumps`) or `d1|d2`"
        ]
    );
    assert_eq!(
        problems("r.tsv", "case\tanswer\na\tx\n"),
        ["line 2: it has no `id`, a text or a number"]
    );
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let refused = |name: &str| read(name, "").unwrap_err().to_string();
    assert!(
        refused("r.txt")
            .ends_with("its name has to end in `.jsonl`, `.ndjson`, `.csv`, `.tsv` or `.parquet`")
    );
    let missing = Outputs::read(&PathBuf::from("/no/such/r.csv"), &own()).unwrap_err();
    assert_eq!(missing.to_string(), "cannot read `/no/such/r.csv`");
    assert_eq!(read("empty.jsonl", "").unwrap().ids().len(), 0);
}

#[test]
fn the_digest_is_that_of_the_whole_file() {
    // printf 'id,answer\na,x\n' | sha256sum
    let expected = "38ef204a3dfe53df2c1187d441b07b09fc9beb8864d6625f5b6064a8beac856b";
    let outputs = read("r.csv", "id,answer\na,x\n").unwrap();
    assert_eq!(outputs.digest(), expected);
    let identity = TargetIdentity::new("outputs", "r.csv");
    let target = OutputsTarget::new(identity, outputs);
    assert_eq!(
        target.identity().parameters["sha256"],
        Value::from(expected)
    );
}

#[tokio::test]
async fn a_trec_run_gives_documents_in_the_order_of_trec_eval() {
    let file = file(
        "run.trec",
        "q1 Q0 a 1 0.5 x\nq1 Q0 c 2 0.5 x\nq1 Q0 b 3 9 x\n",
    );
    let outputs = Outputs::read_trec(&file.path).unwrap();
    let reply = ask(outputs.clone(), "q1", 2).await.unwrap();
    assert_eq!(ids(&reply), ["b", "c", "a"]);
    assert_eq!(reply.answer, None);
    ask(outputs, "q2", 1).await.unwrap_err();
    let bad = self::file("run.trec", "q1 Q0 a 1 high x\n");
    let error = Outputs::read_trec(&bad.path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        source.starts_with("line 1: `high` is not a score"),
        "{source}"
    );
}

mod fuzz {
    //! Any bytes are replies or problems with places, and never a panic.

    use super::*;

    #[test]
    fn outputs() {
        let seeds: [&[u8]; 4] = [
            b"id,answer,documents\na,x,d1|d2\nb,\"y\nz\",[\"d\"]\n",
            b"{\"id\": \"a\", \"answer\": \"x\", \"documents\": [\"d\"]}\n{\"id\": 2, \"error\": \"e\", \"repeat\": 1}\n",
            b"id\tanswer\trepeat\na\tx\t1\n",
            b"\xef\xbb\xbfid,answer\r\na,\xff\r\n",
        ];
        let folder = TempDir::new().unwrap();
        let mapping = own();
        let paths = ["r.csv", "r.jsonl", "r.tsv"].map(|name| folder.path().join(name));
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/outputs");
        let mut target = evals_fuzz::Target::new("outputs", corpus);
        for seed in seeds {
            target = target.seed(seed);
        }
        let target = target.dictionary([
            "\"", "\n", ",", "\t", "|", "[", "{", "}", "\"id\":", "NaN", "1e999",
        ]);
        target.run(|input| {
            for path in &paths {
                std::fs::write(path, input).unwrap();
                match Outputs::read(path, &mapping) {
                    Ok(outputs) => assert!(outputs.ids().len() <= input.len()),
                    Err(OutputsError::Rows { problems, .. }) => {
                        assert!(problems.iter().all(|it| it.place.starts_with("line ")));
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        });
    }
}
