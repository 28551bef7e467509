//! The judges of the settings beside the one that compares answers with references: claim by claim, by rubric, and panels.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals::{CaseId, Dataset};
use evals_models::ChatModel;
use evals_rag::Prompt;
use evals_rag::judging::ChatJudge;
use evals_rag::qa::Qa;
use evals_rag::rag_judges::{
    Decomposed, JudgeAgreement, JudgeTemplates, JudgedMeasure, LastTurns, Pairwise, Panel,
    PanelError, RagJudges, Rubric, RubricEvaluator, Rule,
};
use evals_settings::{Model, Resolved, Role};
use evals_terminal::Printer;
use serde_json::{Map, Value};

use crate::models::{ConfiguredChat, ConfiguredModel, Servers};
use crate::options::ModelName;
use crate::run_models::Opener;

/// The settings of the further judges, checked.
#[derive(Debug, Clone)]
pub(crate) struct FurtherPlan {
    pub(crate) measures: Vec<JudgedMeasure>,
    pub(crate) rubrics: Vec<PlannedRubric>,
    /// The judges beside the first.
    pub(crate) models: Vec<ConfiguredChat>,
    pub(crate) repeats: NonZeroU32,
    pub(crate) rule: Rule,
    pub(crate) context_tokens: NonZeroUsize,
}

/// A rubric, and whether its judge sees the reference.
#[derive(Debug, Clone)]
pub(crate) struct PlannedRubric {
    rubric: Rubric,
    pub(super) sees_reference: bool,
    /// As the settings write it.
    pub(super) settings: Map<String, Value>,
}

impl PlannedRubric {
    /// The names of its outcomes.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = String> {
        let score = self.rubric.name().to_owned();
        std::iter::once(score).chain(self.rubric.pass_name())
    }
}

/// The opened further judges.
#[derive(Debug, Clone)]
pub(crate) struct FurtherJudges {
    judges: Arc<RagJudges>,
    /// The judges of the panel beside the first.
    pub(crate) others: Vec<Arc<dyn ChatModel>>,
    measures: Vec<JudgedMeasure>,
    rubrics: Vec<PlannedRubric>,
}

impl FurtherPlan {
    /// Checks the settings. `first` is the judge of the settings.
    pub(crate) fn of(resolved: &Resolved, first: &ConfiguredChat) -> Result<Self> {
        let evaluations = &resolved.settings.evaluations;
        let panel = &evaluations.panel;
        let is_chat = !first.is_embedded();
        let wanted = [
            ("evaluations.judges", evaluations.judges.is_empty()),
            ("evaluations.rubrics", evaluations.rubrics.is_empty()),
            ("evaluations.panel.models", panel.models.is_empty()),
            (
                "evaluations.panel.repeats",
                panel.repeats == NonZeroU32::MIN,
            ),
        ];
        if let Some((path, _)) = wanted
            .iter()
            .find(|(_, is_default)| !is_default && !is_chat)
        {
            let message = format!(
                "needs a chat model as the judge, and `{first}` is not one; add `--judge PROVIDER:NAME` or set `evaluations.judge`"
            );
            return Err(resolved.bad_value(path, &message).into());
        }
        let mut measures: Vec<JudgedMeasure> = Vec::new();
        for measure in &evaluations.judges {
            if !measures.contains(measure) {
                measures.push(*measure);
            }
        }
        let rule = Rule::from(panel.rule);
        let models = members(resolved, first)?;
        rule.check(models.len() + 1, panel.repeats)
            .map_err(|error| resolved.bad_value(place(error), &error))?;
        Ok(Self {
            measures,
            rubrics: rubrics(resolved)?,
            models,
            repeats: panel.repeats,
            rule,
            context_tokens: evaluations.judge_context_tokens,
        })
    }

    /// Warns if repeats say nothing because the judge always replies the same.
    pub(crate) fn warn(&self, printer: &Printer, first: &ConfiguredChat) {
        let temperature = first.settings.kind.sampling().and_then(|it| it.temperature);
        let is_cold = temperature.is_none_or(|it| it == 0.0);
        if self.repeats > NonZeroU32::MIN && is_cold {
            printer.warn(
                "judges are asked again at temperature 0, where most models repeat themselves; set `evaluations.judge.temperature`, e.g. to 0.7",
            );
        }
    }
}

/// The setting that an error of a panel is about.
fn place(error: PanelError) -> &'static str {
    match error {
        PanelError::TooManyRepeats { .. } => "evaluations.panel.repeats",
        _ => "evaluations.panel",
    }
}

/// The judges of the panel beside the first.
fn members(resolved: &Resolved, first: &ConfiguredChat) -> Result<Vec<ConfiguredChat>> {
    const PATH: &str = "evaluations.panel.models";
    let names = &resolved.settings.evaluations.panel.models;
    let mut members: Vec<ConfiguredChat> = Vec::new();
    for name in names {
        let parsed: ModelName = name
            .parse()
            .map_err(|problem: String| resolved.bad_value(PATH, &format!("`{name}` {problem}")))?;
        let mut model = Model::named(&parsed.provider, &parsed.name);
        if let Some((_, sampling)) = model.kind.served_mut() {
            *sampling = first.settings.kind.sampling().cloned().unwrap_or_default();
        }
        let model = ConfiguredModel::new(Role::Judge, model);
        if model.is_embedded() {
            let message = format!("`{model}` is not a chat model on a server");
            return Err(resolved.bad_value(PATH, &message).into());
        }
        Servers::check(resolved, &model)
            .with_context(|| format!("cannot use `{name}` of `{PATH}`"))?;
        let known = members.iter().chain([first]);
        if known
            .map(ConfiguredModel::identity)
            .any(|it| it == model.identity())
        {
            let message = format!("`{model}` judges already; `repeats` asks a judge several times");
            return Err(resolved.bad_value(PATH, &message).into());
        }
        members.push(model);
    }
    if members.len() >= Panel::MOST_JUDGES {
        let message = format!(
            "a panel has {} judges at most, `evaluations.judge` included",
            Panel::MOST_JUDGES
        );
        return Err(resolved.bad_value(PATH, &message).into());
    }
    Ok(members)
}

fn rubrics(resolved: &Resolved) -> Result<Vec<PlannedRubric>> {
    let rubrics = resolved.settings.evaluations.rubrics.iter();
    let planned = rubrics.map(|(name, settings)| {
        let rubric = Rubric::new(
            name,
            &settings.criterion,
            settings.levels.clone(),
            settings.pass,
        );
        let path = format!("evaluations.rubrics.{name}");
        let written = match serde_json::to_value(settings)? {
            Value::Object(written) => written,
            _ => Map::new(),
        };
        Ok(PlannedRubric {
            settings: written,
            rubric: rubric.map_err(|error| resolved.bad_value(&path, &error))?,
            sees_reference: settings.include_reference,
        })
    });
    planned.collect()
}

impl FurtherJudges {
    /// Opens the judges of `plan` beside `first`, whose replies have `most` tokens at most.
    pub(super) async fn open(
        opener: &mut Opener<'_, '_>,
        plan: &FurtherPlan,
        first: &Arc<dyn ChatModel>,
        most: Option<NonZeroU32>,
        templates: JudgeTemplates,
    ) -> Result<Self> {
        let mut panel = Panel::new(Arc::clone(first), most);
        let mut others = Vec::new();
        for model in &plan.models {
            let model = opener.chat_in_batches(model).await?;
            panel = panel.member(Arc::clone(&model), most);
            others.push(model);
        }
        let panel = panel.repeats(plan.repeats).rule(plan.rule);
        let judges = RagJudges::new(panel)
            .templates(templates)
            .context_tokens(plan.context_tokens);
        Ok(Self {
            judges: Arc::new(judges),
            others,
            measures: plan.measures.clone(),
            rubrics: plan.rubrics.clone(),
        })
    }

    /// The same judges, asked whether an answer agrees with the reference.
    pub(super) fn chat_judge(&self) -> ChatJudge {
        ChatJudge::of_panel(self.judges.panel().clone())
    }

    /// Compares answers with `others` in both orders.
    pub(crate) fn pairwise(&self, others: BTreeMap<(CaseId, u32), String>) -> Pairwise {
        Pairwise::new(Arc::clone(&self.judges), others)
    }

    /// How many votes are given on each answer or claim.
    pub(crate) fn votes(&self) -> usize {
        self.judges.panel().votes()
    }

    /// The prompts that the judges are asked with, each once.
    pub(super) fn prompts(&self, templates: &JudgeTemplates) -> Vec<Prompt> {
        let measures = self
            .measures
            .iter()
            .flat_map(|measure| templates.of(*measure));
        let levels = (!self.rubrics.is_empty()).then_some(&templates.levels);
        let mut prompts: Vec<Prompt> = Vec::new();
        for prompt in measures.chain(levels) {
            if !prompts.contains(prompt) {
                prompts.push(prompt.clone());
            }
        }
        prompts
    }

    /// The names of the evaluators.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let measures = self.measures.iter();
        let measures = measures.map(|measure| measure.name().to_owned());
        let rubrics = self.rubrics.iter();
        measures.chain(rubrics.map(|planned| planned.rubric.name().to_owned()))
    }

    /// Adds the evaluators to `dataset`, with a warning about one that has nothing to judge.
    pub(super) fn add_evaluators(
        &self,
        printer: &Printer,
        mut dataset: Dataset<Qa>,
    ) -> Dataset<Qa> {
        let last_turns = LastTurns::of(dataset.cases().iter().map(|case| &case.metadata.0));
        for measure in &self.measures {
            let mut cases = dataset.cases().iter();
            let has_any = cases.any(|case| last_turns.ends(&case.metadata.0));
            if measure.judges_conversations() && !has_any {
                printer.warn(&format!(
                    "the judge `{}` has nothing to judge: no question of this run is a later turn of a conversation \
                     (`questions.conversation` in the manifest)",
                    measure.name()
                ));
            }
            let judge = Decomposed::new(*measure, Arc::clone(&self.judges));
            dataset = dataset.evaluator(judge.at(last_turns.clone()));
        }
        for planned in &self.rubrics {
            let evaluator = RubricEvaluator::new(planned.rubric.clone(), Arc::clone(&self.judges));
            dataset = dataset.evaluator(if planned.sees_reference {
                evaluator.with_reference()
            } else {
                evaluator
            });
        }
        if self.votes() > 1 {
            dataset = dataset.report_evaluator(JudgeAgreement);
        }
        dataset
    }
}
