//! The progress of a run at one moment.

use std::sync::Arc;
use std::time::Duration;

use evals::{CaseReport, Summary};
use evals_models::ModelIdentity;
use evals_rag::Purpose;
use evals_rag::prices::Prices;
use evals_runs::run_folder::RunState;
use evals_runs::run_record::{Benchmark, RunRecord};

use super::without_texts::WithoutTexts;
use crate::models::RanIn;
use crate::question_answering::Costs;
use crate::targets;

/// The progress of a run at one moment.
///
/// It has no verdict and no p value: if people check often and stop at a good moment, they find differences that chance made.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Whether it runs, and how it ended.
    pub state: RunState,
    /// The cases; `None` for a run that keeps no journal and has no report yet.
    pub counts: Option<Counts>,
    /// The measures of the finished cases, under the names that the final report gives them. `None` without a case.
    ///
    /// While the run is running, intervals come from fewer resamples than in a report, and may lag behind the counts.
    pub summary: Option<Arc<Summary>>,
    /// What the finished cases cost.
    pub spent: Spent,
    /// Cases per second, over the last minute. `None` unless the run is running.
    pub rate: Option<f64>,
    /// The time that the other cases take at this rate.
    pub time_left: Option<Duration>,
}

/// How many runs of cases a run has, repetitions included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The cases of the run.
    pub planned: usize,
    /// Finished ones, with the failed.
    pub finished: usize,
    /// Finished ones whose task failed.
    pub failed: usize,
    /// Failed evaluators, over all cases.
    pub evaluator_failures: usize,
    /// Lines of the journal that fail their check. The cases of these lines run again if the run is resumed.
    pub damaged_lines: usize,
}

/// What a run cost so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spent {
    /// Nothing, because no model is behind a server.
    Nothing,
    /// The price of a model or its number of tokens is unknown.
    Unknown,
    /// USD. Cached replies count at full price, as in a report.
    Dollars(f64),
}

impl Spent {
    /// The cost of the cases, as the final report counts it. With batches, only that report has the cost.
    pub(super) fn of(
        record: &RunRecord,
        has_batches: bool,
        prices: Prices,
        cases: &[CaseReport<WithoutTexts>],
    ) -> Self {
        let is_served = |model: &ModelIdentity| RanIn::of(model) == RanIn::Server;
        if has_batches || !record.models.values().any(is_served) {
            return Self::Nothing;
        }
        let cost = match record.target() {
            _ if record.benchmark == Benchmark::Eval => {
                let judges: Vec<ModelIdentity> = record.models.values().cloned().collect();
                prices.cost_of_any(&judges, cases, Purpose::Judge)
            }
            Some(target) => {
                let prices = targets::with_price(prices, target, None);
                Costs::of(cases, &record.models, &prices).total()
            }
            None => Costs::of(cases, &record.models, &prices).total(),
        };
        cost.map_or(Self::Unknown, Self::Dollars)
    }
}

impl Progress {
    /// Whether a process works on the run.
    pub fn is_running(&self) -> bool {
        self.state == RunState::Running
    }
}

impl Counts {
    /// The counts of a report.
    pub(super) fn of(summary: &Summary) -> Self {
        Self {
            planned: summary.finished.saturating_add(summary.not_run),
            finished: summary.finished,
            failed: summary.failed,
            evaluator_failures: summary.evaluator_failures,
            damaged_lines: 0,
        }
    }
}
