//! Questions that users asked, from a log.

use std::collections::BTreeSet;

use evals_guard::csv::{CsvError, Table, separator};
use evals_rag::text::words_in_order;
use serde_json::Value;

use crate::drawing::permanent_number;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A line is no JSON object with a question.
    #[error("line {line} is not a JSON object with a text `question`, `query` or `text`")]
    NoQuestion {
        /// The line, from 1.
        line: usize,
    },
    /// The table is broken.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// The table has no column for questions.
    #[error("no column is called `question`, `query` or `text`")]
    NoColumn,
    /// There is nothing to ask.
    #[error("the log has no question")]
    Empty,
}

/// The names of the member or column with the question, the first one found.
const NAMES: [&str; 3] = ["question", "query", "text"];

/// Draws `count` questions of a log by `seed`, in random order. Those that differ only in case, white space or signs count once. The end of the
/// `file`'s name says how it is written: `.jsonl` or `.ndjson` with a JSON object on each line, `.csv`, or else a question on each line.
///
/// # Errors
///
/// The log is broken, or has no question.
pub fn questions_of_log(
    log: &str,
    file: &str,
    count: usize,
    seed: u64,
) -> Result<Vec<String>, LogError> {
    let log = log.trim_start_matches('\u{feff}');
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let all = match extension.to_lowercase().as_str() {
        "jsonl" | "ndjson" => of_json_lines(log)?,
        "csv" => of_csv(log)?,
        _ => log.lines().map(str::to_owned).collect(),
    };
    let mut seen = BTreeSet::new();
    let mut questions: Vec<(u64, String, String)> = Vec::new();
    for question in all {
        let words: Vec<String> = words_in_order(&question).collect();
        let folded = words.join(" ");
        if !folded.is_empty() && seen.insert(folded.clone()) {
            let place = permanent_number(seed, &folded, 0);
            questions.push((place, folded, question.trim().to_owned()));
        }
    }
    if questions.is_empty() {
        return Err(LogError::Empty);
    }
    questions.sort();
    let drawn = questions.into_iter().take(count);
    Ok(drawn.map(|(_, _, question)| question).collect())
}

fn of_json_lines(log: &str) -> Result<Vec<String>, LogError> {
    let lines = (1..).zip(log.lines());
    let lines = lines.filter(|(_, text)| !text.trim().is_empty());
    let questions = lines.map(|(line, text)| {
        let object: Option<Value> = serde_json::from_str(text).ok();
        let question = |name| object.as_ref()?.get(name)?.as_str();
        let question = NAMES.iter().find_map(question);
        let question = question.ok_or(LogError::NoQuestion { line })?;
        Ok(question.to_owned())
    });
    questions.collect()
}

fn of_csv(log: &str) -> Result<Vec<String>, LogError> {
    let mut table = Table::open(log.as_bytes(), separator(log.as_bytes()))?;
    let place = |name: &&str| {
        let mut columns = table.header().iter();
        columns.position(|column| column.trim().eq_ignore_ascii_case(name))
    };
    let column = NAMES.iter().find_map(place).ok_or(LogError::NoColumn)?;
    let mut questions = Vec::new();
    while let Some(record) = table.row()? {
        questions.push(record.text(column)?.to_owned());
    }
    Ok(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(log: &str, file: &str) -> Vec<String> {
        let mut questions = questions_of_log(log, file, 100, 1).unwrap();
        questions.sort();
        questions
    }

    #[test]
    fn logs_are_read_in_three_formats() {
        let expected = ["When?", "渡し船は?"];
        let lines = "\u{feff}When?\r\n\r\nwhen ?\n  渡し船は?\n";
        assert_eq!(sorted(lines, "log.txt"), expected);
        let json = "{\"query\": \"When?\", \"user\": 1}\n\n{\"text\": \"渡し船は?\"}\n{\"question\": \"WHEN\"}\n";
        assert_eq!(sorted(json, "log.JSONL"), expected);
        let csv = "user,Question\n1,When?\n2,\"渡し船は?\"\n3,\"when\n\"\n";
        assert_eq!(sorted(csv, "a/log.csv"), expected);
        // As a spreadsheet writes it where a comma divides decimals.
        let csv = csv.replace(',', ";");
        assert_eq!(sorted(&csv, "log.csv"), expected);
    }

    #[test]
    fn the_sample_depends_on_the_seed_alone() {
        let numbers: Vec<String> = (0..50).map(|it| format!("What is {it}?")).collect();
        let draw =
            |lines: &[String], seed| questions_of_log(&lines.join("\n"), "log", 10, seed).unwrap();
        let reversed: Vec<String> = numbers.iter().rev().cloned().collect();
        assert_eq!(draw(&numbers, 1), draw(&reversed, 1));
        assert_ne!(draw(&numbers, 1), draw(&numbers, 2));
        assert_eq!(draw(&numbers, 1).len(), 10);
    }

    #[test]
    fn broken_logs_are_refused_with_their_line() {
        let error = |log: &str, file: &str| {
            let error = questions_of_log(log, file, 5, 1).unwrap_err();
            error.to_string()
        };
        for broken in ["\n{\"q\": 1}", "{\"text\": \"a\"}\n{"] {
            assert_eq!(
                error(broken, "log.jsonl"),
                "line 2 is not a JSON object with a text `question`, `query` or `text`"
            );
        }
        assert_eq!(
            error("a,b\n1,2\n", "log.csv"),
            "no column is called `question`, `query` or `text`"
        );
        assert_eq!(error(" \n?!\n", "log"), "the log has no question");
    }
}
