//! Reads the head of a report, up to its summary, without its cases.

use std::fmt;
use std::io::{BufReader, Read};

use evals::{SchemaVersion, Summary};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

/// The part of a report before its cases.
#[derive(Debug)]
pub(super) struct ReportHead {
    pub(super) summary: Summary,
}

impl ReportHead {
    /// Reads up to the summary, so that listing large reports is quick.
    pub(super) fn read(file: impl Read) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_reader(BufReader::new(file));
        let mut found = None;
        match UpToSummary(&mut found).deserialize(&mut deserializer) {
            Ok(()) => found.ok_or_else(|| serde_json::Error::custom("the report has no `summary`")),
            Err(error) => found.ok_or(error),
        }
        .map(|summary| Self { summary })
    }
}

/// Stores the summary as soon as it is read.
struct UpToSummary<'f>(&'f mut Option<Summary>);

impl<'de> DeserializeSeed<'de> for UpToSummary<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for UpToSummary<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a report")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut is_known = false;
        while let Some(member) = members.next_key::<String>()? {
            match member.as_str() {
                "schema_version" => {
                    members.next_value::<SchemaVersion>()?;
                    is_known = true;
                }
                "summary" if is_known => {
                    *self.0 = Some(members.next_value()?);
                    // An error is the only way to end the deserializer early; the caller has the summary.
                    return Err(A::Error::custom("the rest is not read"));
                }
                _ => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = r#"{"name": "", "dataset": "", "repeat": 1, "finished": 4, "failed": 1, "evaluator_failures": 0,
        "interrupted": false, "not_run": 0, "seconds": 1.0, "scores": {}, "assertions": {}, "labels": {}, "metrics": {},
        "timings": {}, "cached_timings": {}, "task_time": {"n": 0, "p50": null, "p95": null, "p99": null}}"#;

    fn read(text: &str) -> Result<usize, String> {
        let head = ReportHead::read(text.as_bytes());
        head.map(|head| head.summary.failed)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn reading_ends_at_the_summary() {
        let head =
            format!(r#"{{"schema_version": 1, "name": "x", "summary": {SUMMARY}, "cases": ["#);
        assert_eq!(read(&head).unwrap(), 1);
    }

    #[test]
    fn other_versions_and_other_json_are_errors() {
        let other = format!(r#"{{"schema_version": 2, "summary": {SUMMARY}}}"#);
        assert!(read(&other).unwrap_err().contains("schema version 2"));
        let none = r#"{"schema_version": 1, "cases": []}"#;
        assert_eq!(read(none).unwrap_err(), "the report has no `summary`");
        assert!(read("[1, 2]").is_err());
        let deep = "[".repeat(100_000);
        let deep = format!(r#"{{"schema_version": 1, "metadata": {deep}"#);
        assert!(read(&deep).is_err());
    }
}
