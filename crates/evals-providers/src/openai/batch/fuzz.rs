//! Fuzzes what servers send about batches: no reply goes to another request, and no state is made up.

use std::collections::BTreeMap;

use evals_fuzz::Target;
use serde_json::{Value, json};

use super::output::{BatchOutput, BatchState, DescribedBatch, OutputLine};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// The answers of each request, in the order of their lines: the status, and `None` for a line without an answer.
fn statuses(input: &[u8]) -> BTreeMap<String, Vec<Option<u16>>> {
    let mut statuses: BTreeMap<String, Vec<Option<u16>>> = BTreeMap::new();
    for line in input.split(|byte| *byte == b'\n') {
        if let Ok(line) = serde_json::from_slice::<OutputLine>(line) {
            let status = line.response.map(|response| response.status_code);
            statuses.entry(line.custom_id).or_default().push(status);
        }
    }
    statuses
}

#[test]
fn every_line_belongs_to_its_own_request() {
    Target::new("batch-output", CORPUS)
        .seed(
            "{\"id\": \"x\", \"custom_id\": \"a\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 1}}, \"error\": null}\n\
             {\"custom_id\": \"b\", \"response\": {\"status_code\": 429, \"body\": {}}}\n\n\
             {\"custom_id\": \"b\", \"response\": {\"status_code\": 200}}\n",
        )
        .seed("{\"custom_id\": \"c\", \"response\": null, \"error\": {\"code\": \"batch_expired\"}}\r\n{\"custom_id\": \"c\", \"resp")
        .dictionary([
            "\n", "\r\n", "\"custom_id\": \"a\"", "\"response\":", "\"status_code\": 200", "\"status_code\": 65536", "null", "-1", "1e999",
            "\\ud800", "\\u0061", "{", "}", "[", "\"error\": {\"code\": 7}", "\u{feff}",
        ])
        // Without UTF-8 in a member that is not read, and a request that comes twice.
        .seed(b"{\"id\": \"\xf8\", \"custom_id\": \"a\"}\n{\"custom_id\": \"a\", \"response\": {\"status_code\": 299}}")
        .run(|input| {
            let mut output = BatchOutput::default();
            output.add(input);
            let is_line = |line: &&[u8]| !line.trim_ascii().is_empty();
            assert_eq!(output.total, input.split(|byte| *byte == b'\n').filter(is_line).count());
            let statuses = statuses(input);
            let ids: Vec<&String> = output.ids().collect();
            assert_eq!(ids, statuses.keys().collect::<Vec<_>>());
            let readable: usize = statuses.values().map(Vec::len).sum();
            assert_eq!(readable + output.unreadable, output.total);
            for (id, statuses) in &statuses {
                let line = output.line(id).expect("a line that was read");
                assert_eq!(&line.custom_id, id);
                // The first success counts, or else the first line.
                let is_success = |status: &&Option<u16>| status.is_some_and(|it| (200..300).contains(&it));
                let counted = statuses.iter().find(is_success).unwrap_or(&statuses[0]);
                assert_eq!(line.response.as_ref().map(|it| it.status_code), *counted);
            }
            assert!(output.line("nobody asked for this").is_none());
        });
}

#[test]
fn a_batch_that_is_read_is_the_same_in_the_words_of_openai() {
    Target::new("batch-status", CORPUS)
        .seed(
            r#"{"id": "batch_1", "status": "completed", "output_file_id": "f", "error_file_id": "", "input_file_id": "i", "metadata": {"key": "k"}, "request_counts": {"total": 3, "completed": 2, "failed": 1}}"#,
        )
        .seed(r#"{"batch_id": "b", "status": "SUCCESS", "errors": {"data": [{"code": "invalid_json", "message": "no", "line": 7}, "bad", 3]}}"#)
        .seed(r#"{"id": "b", "status": "timeout_exceeded", "output_file": "f", "errors": [null]}"#)
        .dictionary([
            "\"\"", "null", "-1", "1e999", "18446744073709551615", "\"expired\"", "\"failed\"", "\"canceled\"", "\"status\":", "\"id\":",
            "[", "{", "\"data\":", "\\u0000", "\"errors\":", "\"request_counts\":",
        ])
        .run(|input| {
            let Ok(json) = serde_json::from_slice::<Value>(input) else {
                return;
            };
            let Some(batch) = DescribedBatch::read(&json) else {
                return;
            };
            assert!(!batch.id.is_empty() && !batch.word.is_empty());
            let files = [&batch.output, &batch.errors, &batch.input];
            assert!(files.into_iter().flatten().all(|file| !file.is_empty()));
            // A batch is given up only in a state that the server names.
            let is_named = json["status"].as_str().is_some_and(|it| it == batch.word);
            assert!(is_named || batch.state == BatchState::UnderWay, "{batch:?}");
            let again = json!({
                "id": batch.id, "status": batch.word, "metadata": batch.metadata,
                "output_file_id": batch.output, "error_file_id": batch.errors, "input_file_id": batch.input,
                "errors": {"data": batch.reasons},
                "request_counts": batch.counts.map(|it| json!({"total": it.total, "completed": it.completed, "failed": it.failed})),
            });
            assert_eq!(DescribedBatch::read(&again), Some(batch));
        });
}
