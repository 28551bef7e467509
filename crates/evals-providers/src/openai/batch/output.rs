//! The lines that servers and this program exchange about the requests of a batch, in any order.

use std::collections::{BTreeMap, BTreeSet};

use evals_messages::quantity;
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoint::CHAT;

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
    /// Lines that are no JSON, or have no `custom_id`.
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
