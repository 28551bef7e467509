//! What was measured of a candidate.

use std::collections::BTreeMap;

use evals_metrics::{Percentiles, arithmetic_mean};
use serde::{Deserialize, Serialize};

/// What a candidate did with a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The value of the objective, or why there is none: an error, or that it is undefined.
    pub value: Result<f64, String>,
    /// How long it took, in seconds.
    pub latency: Option<f64>,
    /// What it cost, in USD.
    pub cost: Option<f64>,
}

impl Answered {
    /// An answer of which only the value is known.
    pub fn of(value: f64) -> Self {
        Self {
            value: Ok(value),
            latency: None,
            cost: None,
        }
    }
}

/// A figure beside the objective, of which lower is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The mean latency, in seconds.
    LatencyMean,
    /// The median latency.
    LatencyP50,
    /// The 95th percentile of latency.
    LatencyP95,
    /// The 99th percentile of latency.
    LatencyP99,
    /// The mean cost of a question, in USD.
    CostPerQuestion,
}

/// The answers of one candidate, by question.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    values: Vec<Option<Result<f64, String>>>,
    latencies: Vec<f64>,
    costs: Vec<f64>,
}

impl Answers {
    pub(crate) fn new(questions: usize) -> Self {
        Self {
            values: vec![None; questions],
            latencies: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// Whether the answer is new: the first one of a question counts.
    pub(crate) fn record(&mut self, question: usize, answered: Answered) -> bool {
        let is_new = self.is_open(question);
        if is_new {
            self.values[question] = Some(match answered.value {
                Ok(value) if !value.is_finite() => {
                    Err("the value is not a finite number".to_owned())
                }
                value => value,
            });
            self.latencies
                .extend(answered.latency.filter(|it| it.is_finite()));
            self.costs.extend(answered.cost.filter(|it| it.is_finite()));
        }
        is_new
    }

    pub(crate) fn is_open(&self, question: usize) -> bool {
        self.values[question].is_none()
    }

    pub(crate) fn value(&self, question: usize) -> Option<f64> {
        self.values[question].as_ref()?.as_ref().ok().copied()
    }

    /// How many answers have no value, with the most frequent reason.
    pub(crate) fn without_value(&self) -> Option<(usize, String)> {
        let mut reasons: BTreeMap<&String, usize> = BTreeMap::new();
        for reason in self
            .values
            .iter()
            .flatten()
            .filter_map(|value| value.as_ref().err())
        {
            *reasons.entry(reason).or_default() += 1;
        }
        let (most, _) = reasons.iter().rev().max_by_key(|(_, times)| **times)?;
        Some((reasons.values().sum(), (*most).clone()))
    }

    pub(crate) fn latency(&self) -> Percentiles {
        Percentiles::of(self.latencies.iter().copied())
    }

    pub(crate) fn cost(&self) -> Option<f64> {
        arithmetic_mean(&self.costs)
    }

    pub(crate) fn figure(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::LatencyMean => arithmetic_mean(&self.latencies),
            Figure::LatencyP50 => self.latency().p50,
            Figure::LatencyP95 => self.latency().p95,
            Figure::LatencyP99 => self.latency().p99,
            Figure::CostPerQuestion => self.cost(),
        }
    }
}
