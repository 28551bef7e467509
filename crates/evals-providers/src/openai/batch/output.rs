//! The formats of batches: the line of a request, and what servers say: the state of a batch, and the lines about its requests, in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use evals_messages::quantity;
use serde::Deserialize;
use serde_json::{Value, json};

/// The endpoint that the requests of a batch are for.
pub(super) const CHAT: &str = "/v1/chat/completions";

/// The line of a request in the input file of a batch, with its line feed.
pub(super) fn input_line(id: &str, body: &Value) -> String {
    let line = json!({"custom_id": id, "method": "POST", "url": CHAT, "body": body});
    format!("{line}\n")
}

/// A line of an output file or an error file.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OutputLine {
    pub(super) custom_id: String,
    pub(super) response: Option<LineResponse>,
    #[serde(default)]
    pub(super) error: Value,
}

/// The answer to a request.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LineResponse {
    pub(super) status_code: u16,
    #[serde(default)]
    pub(super) body: Value,
}

impl OutputLine {
    /// Whether the line holds an answer with the status of a success.
    pub(super) fn is_success(&self) -> bool {
        let response = self.response.as_ref();
        response.is_some_and(|response| (200..300).contains(&response.status_code))
    }
}

/// The files of a batch that is over: the line of each request.
#[derive(Debug, Default)]
pub(super) struct BatchOutput {
    lines: BTreeMap<String, OutputLine>,
    /// Lines that are not JSON, or have no `custom_id`.
    pub(super) unreadable: usize,
    /// All lines that are not empty.
    pub(super) total: usize,
}

impl BatchOutput {
    /// Adds the lines of a file. Of several lines of one request, the first success counts, or else the first line.
    pub(super) fn add(&mut self, file: &[u8]) {
        let lines = file.split(|byte| *byte == b'\n');
        for text in lines.filter(|text| !text.trim_ascii().is_empty()) {
            self.total += 1;
            let Ok(line) = serde_json::from_slice::<OutputLine>(text) else {
                self.unreadable += 1;
                continue;
            };
            let known = self.lines.get(&line.custom_id);
            if known.is_none_or(|known| line.is_success() && !known.is_success()) {
                self.lines.insert(line.custom_id.clone(), line);
            }
        }
    }

    /// The requests with a line.
    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        self.lines.keys()
    }

    /// The line of a request; `None` for a request without a line.
    pub(super) fn line(&self, id: &str) -> Option<&OutputLine> {
        self.lines.get(id)
    }

    /// What is odd about the output of a batch of these requests, as sentences without the batch's name.
    pub(super) fn oddities(&self, ids: &BTreeSet<String>) -> Vec<String> {
        let unknown = self.ids().filter(|id| !ids.contains(*id)).count();
        let odd = [
            (self.unreadable, "no JSON with a `custom_id`"),
            (unknown, "of no request in the batch"),
        ];
        let odd = odd.into_iter().filter(|(count, _)| *count > 0);
        odd.map(|(count, what)| format!("has {}: {what}; skipped", quantity::of(count, "line")))
            .collect()
    }
}

/// How many requests of a batch are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchCounts {
    /// All requests.
    pub total: u64,
    /// Those that were answered.
    pub completed: u64,
    /// Those that failed.
    pub failed: u64,
}

impl BatchCounts {
    /// The requests that were answered or failed.
    pub fn done(&self) -> u64 {
        self.completed.saturating_add(self.failed)
    }
}

impl fmt::Display for BatchCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} done", self.done(), self.total)?;
        if self.failed > 0 {
            write!(formatter, " ({} failed)", self.failed)?;
        }
        Ok(())
    }
}

/// The state of a batch, as far as it decides what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchState {
    /// It may still change: validating, queued, in progress, finalizing, cancelling, or a word that is not known.
    UnderWay,
    /// Every request was tried.
    Completed,
    /// The server refused the whole batch.
    Failed,
    /// Its time ran out. Some requests may have replies.
    Expired,
    /// Somebody cancelled it. Some requests may have replies.
    Cancelled,
}

/// A batch, as the server describes it. Servers differ in the fields that they send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DescribedBatch {
    pub(super) id: String,
    pub(super) state: BatchState,
    /// The server's word for the state.
    pub(super) word: String,
    /// The file with the replies.
    pub(super) output: Option<String>,
    /// The file with the failures.
    pub(super) errors: Option<String>,
    /// The server's reasons for refusing the batch.
    pub(super) reasons: Vec<String>,
    pub(super) counts: Option<BatchCounts>,
    /// The file with the requests.
    pub(super) input: Option<String>,
    pub(super) metadata: Value,
}

impl DescribedBatch {
    /// Reads a batch; `None` where it has no name.
    pub(super) fn read(json: &Value) -> Option<Self> {
        let text = |name: &str| {
            let text = json.get(name).and_then(Value::as_str);
            // Some servers send an empty text in place of the name of a missing file.
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let id = text("id").or_else(|| text("batch_id"))?;
        let word = text("status").unwrap_or_else(|| "unknown".to_owned());
        let errors = json.get("errors").unwrap_or(&Value::Null);
        let errors = errors.get("data").unwrap_or(errors).as_array();
        Some(Self {
            id,
            state: BatchState::of(&word),
            word,
            output: text("output_file_id").or_else(|| text("output_file")),
            errors: text("error_file_id").or_else(|| text("error_file")),
            reasons: errors.into_iter().flatten().map(reason).collect(),
            counts: counts(json),
            input: text("input_file_id"),
            metadata: json.get("metadata").cloned().unwrap_or_default(),
        })
    }

    /// How many requests were answered, as far as the server counts them.
    pub(super) fn completed(&self) -> u64 {
        self.counts.map_or(0, |counts| counts.completed)
    }

    /// Whether the server names a file of replies or of failures.
    pub(super) fn has_files(&self) -> bool {
        self.output.is_some() || self.errors.is_some()
    }
}

impl BatchState {
    /// The words are those of `OpenAI`, and of servers that write them otherwise.
    fn of(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "completed" | "success" | "succeeded" | "ended" => Self::Completed,
            "failed" => Self::Failed,
            "expired" | "timeout_exceeded" => Self::Expired,
            "cancelled" | "canceled" => Self::Cancelled,
            _ => Self::UnderWay,
        }
    }
}

/// Why a server refused a batch, with the code and the line of the input file if it names them.
fn reason(error: &Value) -> String {
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let message = text("message").or_else(|| error.as_str());
    let message = message.map_or_else(|| error.to_string(), str::to_owned);
    let code = text("code").map(|code| format!("`{code}`"));
    let line = error.get("line").and_then(Value::as_u64);
    let place: Vec<String> = code
        .into_iter()
        .chain(line.map(|line| format!("line {line}")))
        .collect();
    if place.is_empty() {
        message
    } else {
        format!("{message} ({})", place.join(", "))
    }
}

fn counts(json: &Value) -> Option<BatchCounts> {
    let counts = json.get("request_counts")?;
    let count = |name: &str| counts.get(name).and_then(Value::as_u64);
    Some(BatchCounts {
        total: count("total").filter(|total| *total > 0)?,
        completed: count("completed").unwrap_or(0),
        failed: count("failed").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_openai_documents_it() {
        let line: Value = serde_json::from_str(&input_line("a1", &json!({"model": "m"}))).unwrap();
        assert_eq!(
            line,
            json!({"custom_id": "a1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}})
        );
    }

    #[test]
    fn lines_are_found_in_any_order_and_a_success_goes_before_a_failure() {
        let mut output = BatchOutput::default();
        output.add(concat!(
            "{\"custom_id\": \"b\", \"response\": {\"status_code\": 500, \"body\": {}}}\n",
            "\n",
            "{\"custom_id\": \"a\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 1}}}\n",
            "{\"custom_id\": \"b\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 2}}}\n",
            "{\"custom_id\": \"b\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 3}}}\n",
            "{\"custom_id\": \"c\", \"response\": null, \"error\": {\"code\": \"batch_expired\"}}\n",
            "{\"custom_id\": \"d\", \"resp",
        ).as_bytes());
        assert_eq!((output.unreadable, output.total), (1, 6));
        let body = |id: &str| &output.line(id).unwrap().response.as_ref().unwrap().body["n"];
        assert_eq!((body("a"), body("b")), (&json!(1), &json!(2)));
        assert_eq!(output.line("c").unwrap().error["code"], "batch_expired");
        assert!(output.line("d").is_none());
    }
}

#[cfg(test)]
mod described_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_batch_of_openai_is_read() {
        // The example of OpenAI's reference of the batch object, shortened.
        let batch = DescribedBatch::read(&json!({
            "id": "batch_abc123", "object": "batch", "endpoint": "/v1/completions", "errors": null,
            "input_file_id": "file-abc123", "completion_window": "24h", "status": "completed",
            "output_file_id": "file-cvaTdG", "error_file_id": "", "created_at": 1_711_471_533,
            "request_counts": {"total": 100, "completed": 95, "failed": 5},
            "metadata": {"customer_id": "user_123456789"},
        }))
        .unwrap();
        assert_eq!(batch.state, BatchState::Completed);
        assert_eq!(batch.output.as_deref(), Some("file-cvaTdG"));
        assert_eq!(batch.errors, None, "an empty name is none");
        assert_eq!(batch.input.as_deref(), Some("file-abc123"));
        assert_eq!(
            batch.counts.unwrap().to_string(),
            "100 of 100 done (5 failed)"
        );
    }

    #[test]
    fn the_words_of_other_servers_are_known_and_an_unknown_one_may_change() {
        let states = [
            "SUCCESS",
            "TIMEOUT_EXCEEDED",
            "canceled",
            "cancelling",
            "odd",
        ];
        assert_eq!(
            states.map(BatchState::of),
            [
                BatchState::Completed,
                BatchState::Expired,
                BatchState::Cancelled,
                BatchState::UnderWay,
                BatchState::UnderWay
            ]
        );
    }

    #[test]
    fn reasons_name_code_and_line() {
        let batch = DescribedBatch::read(&json!({
            "id": "b", "status": "failed",
            "errors": {"object": "list", "data": [
                {"code": "invalid_json_line", "message": "This line is not parseable as valid JSON.", "line": 3},
                "no credit",
            ]},
        }));
        assert_eq!(
            batch.unwrap().reasons,
            [
                "This line is not parseable as valid JSON. (`invalid_json_line`, line 3)",
                "no credit"
            ]
        );
        assert_eq!(DescribedBatch::read(&json!({"status": "failed"})), None);
    }
}
