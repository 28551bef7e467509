//! How many questions of a retrieval run were searched one by one to measure latencies.

use std::collections::BTreeSet;

use evals::Report;
use evals_rag::{Retrieval, Retrieved};

/// How many questions of a retrieval run were searched one by one to measure latencies. The others were searched all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedQuestions {
    /// The number of different questions in the sample.
    pub(crate) timed: usize,
    pub(crate) of: usize,
    /// The seed of the sample.
    pub(crate) seed: u64,
}

impl TimedQuestions {
    /// Counts the timed questions of a report; `None` if every question was searched by itself.
    pub fn of_report(report: &Report<Retrieval>, seed: u64) -> Option<Self> {
        let (timed, others): (Vec<_>, Vec<_>) = report
            .cases
            .iter()
            .partition(|case| case.untimed() != Some(Retrieved::IN_BATCH));
        if others.is_empty() {
            return None;
        }
        let timed: BTreeSet<&String> = timed.iter().map(|case| &case.input).collect();
        Some(Self {
            timed: timed.len(),
            of: report.cases.len(),
            seed,
        })
    }

    /// What the report says about its latencies.
    pub fn fact(self) -> (String, String) {
        let Self { timed, of, seed } = self;
        let text = format!(
            "searches of {timed} sampled questions of {of}, seed {seed}; the others were searched all at once"
        );
        ("latency".to_owned(), text)
    }
}
