//! The models of a question answering run and of a search, as manifests and reports record them.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

use evals_models::{ChatModel, ModelIdentity};
use evals_rag::prices::{Price, Prices};
use evals_runs::judged_by::JudgeRecords;
use evals_runs::run_record::RunRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answering::Answering;
use super::judge_records::JUDGES;
use super::judging::Judging;
use crate::run_models::reranker::Reranking;
use crate::run_models::{Prompted, Prompts};

/// The models by role, with the parameters and prompts that their replies depend on.
#[derive(Debug, Clone, Default)]
pub struct ModelSet {
    pub(crate) models: BTreeMap<&'static str, ModelIdentity>,
    pub(crate) parameters: BTreeMap<&'static str, Map<String, Value>>,
    /// Digests by file name.
    pub(crate) prompts: BTreeMap<String, String>,
    /// Who judges each measure.
    pub(crate) judges: JudgeRecords,
    /// The chat models, whose notes are read after the run.
    asked: Vec<(&'static str, Arc<dyn ChatModel>)>,
}

/// What a report says about its models.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelRecord {
    /// The models by role.
    pub models: BTreeMap<String, ModelIdentity>,
    parameters: BTreeMap<String, Map<String, Value>>,
    /// Digests by file name.
    prompts: BTreeMap<String, String>,
    /// Who judges each measure.
    #[serde(default)]
    judges: JudgeRecords,
    /// A warning if the judge and the answerer are the same model.
    pub(crate) self_preference: Option<String>,
    /// Notes on parameters that servers rejected, by role.
    pub notes: Vec<(String, String)>,
}

impl ModelRecord {
    /// Adds the members to the metadata of a report.
    pub(super) fn enter(&self, metadata: &mut Map<String, Value>) -> serde_json::Result<()> {
        if let Value::Object(members) = serde_json::to_value(self)? {
            metadata.extend(members);
        }
        Ok(())
    }
}

impl ModelSet {
    /// Adds the models to the record of a run.
    pub(crate) fn record_in(&self, record: &mut RunRecord) {
        for (role, identity) in &self.models {
            record.models.insert((*role).to_owned(), identity.clone());
        }
        for (role, parameters) in &self.parameters {
            let all = record.parameters.get_or_insert_default();
            let all = all.get_or_insert_default();
            all.insert((*role).to_owned(), parameters.clone());
        }
        record.prompts.extend(self.prompts.clone());
    }

    /// The record in the report of a run. It is complete once the run has ended.
    pub(crate) fn record(&self) -> ModelRecord {
        let roles = self.models.iter();
        let parameters = self.parameters.iter();
        ModelRecord {
            models: roles
                .map(|(role, it)| ((*role).to_owned(), it.clone()))
                .collect(),
            parameters: parameters
                .map(|(role, it)| ((*role).to_owned(), it.clone()))
                .collect(),
            prompts: self.prompts.clone(),
            judges: self.judges.clone(),
            self_preference: self.self_preference(),
            notes: self.notes(),
        }
    }

    pub(crate) fn of(answering: Option<&Answering>, judging: &Judging) -> Self {
        let mut set = Self {
            judges: judging.records.clone(),
            ..Self::default()
        };
        set.enter_chat("judge", judging.judge.identity(), judging.model.as_ref());
        let others = judging.further.iter().flat_map(|further| &further.others);
        for (role, model) in JUDGES.into_iter().skip(1).zip(others) {
            set.enter_chat(role, model.identity(), Some(model));
        }
        if let Some(answering) = answering {
            let identity = answering.answerer.identity();
            set.enter_chat("answerer", identity, answering.model.as_ref());
            if let Some(agent) = &answering.agent {
                let parameters = set.parameters.entry("answerer").or_default();
                parameters.insert("mode".to_owned(), "agent".into());
                parameters.insert("max_steps".to_owned(), agent.steps().get().into());
            }
        }
        let answer = answering.map_or(&[][..], |answering| &answering.prompts);
        set.prompts = Prompts::digests(answer.iter().chain(&judging.prompts));
        set
    }

    /// Adds the reranker.
    pub(crate) fn enter_reranker(&mut self, reranking: &Reranking) {
        let parameters = Some(reranking.parameters());
        self.enter("reranker", reranking.identity(), parameters);
        self.prompts.extend(reranking.prompts().clone());
    }

    /// Adds a model that does one thing by one prompt.
    pub(crate) fn enter_prompted(&mut self, role: &'static str, prompted: &Prompted) {
        let model = &prompted.model;
        self.enter_chat(role, model.identity(), Some(model));
        self.prompts.extend(prompted.prompts());
    }

    fn enter_chat(
        &mut self,
        role: &'static str,
        identity: &ModelIdentity,
        model: Option<&Arc<dyn ChatModel>>,
    ) {
        let parameters = model.map(|model| model.parameters());
        self.enter(role, identity, parameters.as_ref());
        self.asked
            .extend(model.map(|model| (role, Arc::clone(model))));
    }

    /// The price of the model in a role; unknown if there is none.
    pub(crate) fn price(&self, role: &str, prices: &Prices) -> Price {
        Self::price_of(&self.models, role, prices)
    }

    /// The price of the model in a role of `models`. The judges of a panel share their tokens, so their price is unknown if they differ
    /// in it.
    pub(crate) fn price_of<R: Borrow<str> + Ord>(
        models: &BTreeMap<R, ModelIdentity>,
        role: &str,
        prices: &Prices,
    ) -> Price {
        let Some(model) = models.get(role) else {
            return Price::default();
        };
        let price = prices.of(model);
        let others = JUDGES.iter().skip(1).filter(|_| role == JUDGES[0]);
        let mut others = others.filter_map(|other| models.get(*other));
        if others.all(|other| prices.of(other) == price) {
            price
        } else {
            Price::default()
        }
    }

    /// Notes on parameters that servers rejected, so that requests differed from the settings.
    pub(crate) fn notes(&self) -> Vec<(String, String)> {
        let notes = self.asked.iter().flat_map(|(role, model)| {
            let notes = model.notes().into_iter();
            notes.map(move |note| ((*role).to_owned(), note))
        });
        notes.collect()
    }

    fn enter(
        &mut self,
        role: &'static str,
        identity: &ModelIdentity,
        parameters: Option<&Map<String, Value>>,
    ) {
        self.models.insert(role, identity.clone());
        if let Some(parameters) = parameters {
            self.parameters.insert(role, parameters.clone());
        }
    }

    /// A warning if the judge and the answerer are the same model.
    pub(crate) fn self_preference(&self) -> Option<String> {
        let (answerer, judge) = (self.models.get("answerer")?, self.models.get("judge")?);
        let same = answerer.provider == judge.provider && answerer.name == judge.name;
        let llm = self.parameters.contains_key("judge");
        (same && llm).then(|| {
            format!("`{judge}` judges its own answers; models tend to prefer their own text")
        })
    }
}
