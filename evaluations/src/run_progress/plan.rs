//! What a run's manifest says about its progress: how many cases it has, and what its models cost.

use std::collections::BTreeMap;

use evals::CaseReport;
use evals_models::ModelIdentity;
use evals_rag::Purpose;
use evals_rag::prices::Prices;
use evals_targets::TargetIdentity;
use serde::Deserialize;

use super::progress::Spent;
use super::without_texts::WithoutTexts;
use crate::models::RanIn;
use crate::question_answering::Costs;
use crate::run_folder::RunHeader;
use crate::targets;

/// The part of a manifest that progress needs.
#[derive(Debug, Deserialize)]
pub(super) struct Plan {
    #[serde(flatten)]
    pub(super) header: RunHeader,
    pub(super) repeat: u32,
    #[serde(default)]
    models: BTreeMap<String, ModelIdentity>,
    #[serde(default)]
    settings: PlanSettings,
    target: Option<TargetIdentity>,
}

#[derive(Debug, Default, Deserialize)]
struct PlanSettings {
    #[serde(default)]
    prices: Prices,
    #[serde(default)]
    batch: PlannedBatches,
}

/// Whether the run uses batches.
#[derive(Debug, Default, Deserialize)]
struct PlannedBatches {
    #[serde(default)]
    enabled: bool,
}

impl Plan {
    /// How many runs of cases were planned.
    pub(super) fn cases(&self) -> usize {
        let repeat = usize::try_from(self.repeat).unwrap_or(usize::MAX);
        self.header.dataset.questions.saturating_mul(repeat)
    }

    /// Whether cases wait for batches and then finish all at once, so that their pace does not tell the remaining time.
    pub(super) fn has_batches(&self) -> bool {
        self.settings.batch.enabled
    }

    /// The cost of the cases, as the final report counts it. With batches, only that report has the cost.
    pub(super) fn spent(&self, cases: &[CaseReport<WithoutTexts>]) -> Spent {
        let is_served = |model: &ModelIdentity| RanIn::of(model) == RanIn::Server;
        if self.has_batches() || !self.models.values().any(is_served) {
            return Spent::Nothing;
        }
        let cost = match &self.target {
            _ if self.header.benchmark == "eval" => {
                let judges: Vec<ModelIdentity> = self.models.values().cloned().collect();
                let prices = &self.settings.prices;
                prices.cost_of_any(&judges, cases, Purpose::Judge)
            }
            Some(target) => {
                let prices = targets::with_price(self.settings.prices.clone(), target, None);
                Costs::of(cases, &self.models, &prices).total()
            }
            None => Costs::of(cases, &self.models, &self.settings.prices).total(),
        };
        cost.map_or(Spent::Unknown, Spent::Dollars)
    }
}
