//! The output of a batch: a line for each request, in any order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use evals_messages::quantity;
use serde::Deserialize;
use serde_json::Value;

/// A line of an output file or an error file.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct OutputLine {
    pub(super) custom_id: String,
    #[serde(default)]
    pub(super) response: Option<Response>,
    #[serde(default)]
    pub(super) error: Value,
}

/// The answer to a request.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Response {
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

    /// The code of a failure that is no answer, such as `batch_expired`.
    pub(super) fn code(&self) -> Option<&str> {
        self.error.get("code").and_then(Value::as_str)
    }
}

/// Where the line of each request is in the file with the output of a batch.
#[derive(Debug)]
pub(super) struct Output {
    path: PathBuf,
    lines: BTreeMap<String, Place>,
    /// Lines that are no JSON, or have no `custom_id`.
    pub(super) unreadable: usize,
    /// All lines that are not empty.
    pub(super) total: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: u64,
    length: usize,
    is_success: bool,
}

impl Output {
    /// Finds the lines of a file. Of several lines of one request, the first success counts, or else the first line.
    pub(super) fn index(path: &Path) -> io::Result<Self> {
        let mut output = Self {
            path: path.to_owned(),
            lines: BTreeMap::new(),
            unreadable: 0,
            total: 0,
        };
        let mut reader = BufReader::new(File::open(path)?);
        let (mut start, mut text) = (0, Vec::new());
        loop {
            text.clear();
            let length = reader.read_until(b'\n', &mut text)?;
            if length == 0 {
                return Ok(output);
            }
            output.enter(start, &text);
            start += length as u64;
        }
    }

    fn enter(&mut self, start: u64, text: &[u8]) {
        if text.trim_ascii().is_empty() {
            return;
        }
        self.total += 1;
        let Ok(line) = serde_json::from_slice::<OutputLine>(text) else {
            self.unreadable += 1;
            return;
        };
        let place = Place {
            start,
            length: text.len(),
            is_success: line.is_success(),
        };
        let known = self.lines.entry(line.custom_id).or_insert(place);
        if place.is_success && !known.is_success {
            *known = place;
        }
    }

    /// The requests with a line.
    pub(super) fn ids(&self) -> impl Iterator<Item = &String> {
        self.lines.keys()
    }

    /// The requests that were answered.
    pub(super) fn successes(&self) -> impl Iterator<Item = &String> {
        let lines = self.lines.iter();
        lines
            .filter(|(_, place)| place.is_success)
            .map(|(id, _)| id)
    }

    /// Whether a request was answered.
    pub(super) fn is_success(&self, id: &str) -> bool {
        self.lines.get(id).is_some_and(|place| place.is_success)
    }

    /// What is odd about the output of a batch of these requests, as sentences without the batch's name.
    pub(super) fn oddities(&self, ids: &BTreeSet<String>) -> Vec<String> {
        let unknown = self.ids().filter(|id| !ids.contains(*id)).count();
        let odd = [
            (
                self.unreadable,
                "that is no JSON with a `custom_id`",
                "that are no JSON with a `custom_id`",
            ),
            (
                unknown,
                "of a request that is not in the batch",
                "of requests that are not in the batch",
            ),
        ];
        let odd = odd.into_iter().filter(|(count, ..)| *count > 0);
        odd.map(|(count, one, many)| {
            let lines = quantity::of(count, "line");
            let which = if count == 1 { one } else { many };
            format!("has {lines} {which}; skipped")
        })
        .collect()
    }

    /// Reads the line of a request; `None` for a request without a line.
    pub(super) fn line(&self, id: &str) -> io::Result<Option<OutputLine>> {
        let Some(place) = self.lines.get(id) else {
            return Ok(None);
        };
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(place.start))?;
        let mut text = vec![0; place.length];
        file.read_exact(&mut text)?;
        Ok(serde_json::from_slice(&text).ok())
    }
}

/// The number of lines of a file that are not empty.
pub(super) fn lines(path: &Path) -> io::Result<usize> {
    let mut count = 0;
    for line in BufReader::new(File::open(path)?).split(b'\n') {
        count += usize::from(!line?.trim_ascii().is_empty());
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn indexed(text: &str) -> Output {
        let folder = std::env::temp_dir().join(format!("evals-output-{}", fastrand::u64(..)));
        fs::write(&folder, text).unwrap();
        Output::index(&folder).unwrap()
    }

    #[test]
    fn lines_are_found_in_any_order_and_a_success_goes_before_a_failure() {
        let output = indexed(concat!(
            "{\"custom_id\": \"b\", \"response\": {\"status_code\": 500, \"body\": {}}}\n",
            "\n",
            "{\"custom_id\": \"a\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 1}}}\n",
            "{\"custom_id\": \"b\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 2}}}\n",
            "{\"custom_id\": \"b\", \"response\": {\"status_code\": 200, \"body\": {\"n\": 3}}}\n",
            "{\"custom_id\": \"c\", \"response\": null, \"error\": {\"code\": \"batch_expired\"}}\n",
            "{\"custom_id\": \"d\", \"resp",
        ));
        assert_eq!((output.unreadable, output.total), (1, 6));
        let body = |id: &str| output.line(id).unwrap().unwrap().response.unwrap().body;
        assert_eq!(
            (body("a")["n"].clone(), body("b")["n"].clone()),
            (1.into(), 2.into())
        );
        let expired = output.line("c").unwrap().unwrap();
        assert_eq!(expired.code(), Some("batch_expired"));
        assert!(output.line("d").unwrap().is_none());
        assert_eq!(output.successes().collect::<Vec<_>>(), ["a", "b"]);
        fs::remove_file(&output.path).unwrap();
    }
}
