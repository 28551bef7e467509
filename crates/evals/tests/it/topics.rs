//! A domain whose cases have metadata and facts.

use evals::{CaseReport, Domain, Report};
use serde_json::{Value, json};

use crate::fakes::{Words, report};

/// As `Words`, with metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topics;

impl Domain for Topics {
    type Input = String;
    type Output = String;
    type Expected = String;
    type Metadata = Value;

    fn mean_title(score: &str) -> Option<String> {
        (score == "RR").then(|| "MRR".to_owned())
    }

    fn group_facts(case: &CaseReport<Self>) -> Vec<(&'static str, Value)> {
        vec![
            ("letters", case.input.len().into()),
            ("hidden", json!("fact")),
        ]
    }
}

/// Gives each case of a report its metadata.
pub(crate) fn with_metadata(cases: Vec<(CaseReport<Words>, Value)>) -> Report<Topics> {
    let case = |(case, metadata): (CaseReport<Words>, Value)| {
        let mut case = serde_json::to_value(case).unwrap();
        case["metadata"] = metadata;
        serde_json::from_value(case).unwrap()
    };
    let cases: Vec<CaseReport<Topics>> = cases.into_iter().map(case).collect();
    let mut whole = serde_json::to_value(report(Vec::new())).unwrap();
    whole["cases"] = json!(cases);
    serde_json::from_value(whole).unwrap()
}
