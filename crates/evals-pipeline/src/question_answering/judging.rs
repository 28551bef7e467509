//! Plans the judge from the settings and opens it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Result, bail};
use evals::Dataset;
use evals_models::{ChatModel, ModelIdentity};
use evals_rag::Prompt;
use evals_rag::judging::{ChatJudge, Judge, OverlapJudge, RefusalJudge};
use evals_rag::qa::{
    Breakdown, CitationPrecision, CiteRate, Equivalence, ExactMatch, NumberMatch, Qa, Refusal,
    RougeL, TokenF1, WholeConversations,
};
use evals_runs::judged_by::JudgeRecords;
use evals_settings::{EMBEDDED, Resolved};
use evals_terminal::Printer;

use super::further_judges::{FurtherJudges, FurtherPlan};
use super::judge_records;
use crate::batches::Caller;
use crate::case_selection::ChosenCases;
use crate::choices;
use crate::models::{ConfiguredChat, OVERLAP, RanIn};
use crate::run_models::{Opener, Prompts};
use crate::session::Session;

/// The resolved settings of judging.
#[derive(Debug)]
pub(crate) struct JudgingPlan {
    pub(crate) judge: ConfiguredChat,
    /// Whether the judge also classifies refusals.
    pub(crate) refusals: bool,
    pub(crate) prompts: Prompts,
    /// Judges beside the one that compares answers with references, and further votes for all of them.
    pub(crate) further: FurtherPlan,
}

impl JudgingPlan {
    /// Plans the judging of `answerer`'s answers. There is no default judge for a model's answers: the user has to choose one.
    pub(crate) fn new(
        session: &Session<'_>,
        resolved: &Resolved,
        judge: &ConfiguredChat,
        answerer: &ModelIdentity,
    ) -> Result<Self> {
        let is_embedded = RanIn::of(answerer) == RanIn::Program;
        if !is_embedded && !resolved.sets("evaluations.judge") {
            bail!(
                "no judge is set for the answers of `{answerer}`; add `--judge PROVIDER:NAME` or set `evaluations.judge`, \
                 ideally to a model of a different family; `--judge {EMBEDDED}:{OVERLAP}` judges by word overlap, without a model"
            );
        }
        Self::with_default(session, resolved, judge)
    }

    /// Plans the judging of any answers. Unless the user chose a judge, it is the embedded one.
    pub(crate) fn with_default(
        session: &Session<'_>,
        resolved: &Resolved,
        judge: &ConfiguredChat,
    ) -> Result<Self> {
        let evaluations = &resolved.settings.evaluations;
        judge.check_embedded_name(resolved)?;
        if evaluations.judge_refusals && judge.is_embedded() {
            let message = "the embedded judge only recognizes the dataset's refusal sentences; set `evaluations.judge` to a model";
            return Err(resolved
                .bad_value("evaluations.judge_refusals", &message)
                .into());
        }
        choices::case_timeout(resolved)?;
        let further = FurtherPlan::of(resolved, judge)?;
        further.warn(session.printer, judge);
        Ok(Self {
            further,
            judge: judge.clone(),
            refusals: evaluations.judge_refusals,
            prompts: Prompts::find(&session.directories, &resolved.settings.prompts)?,
        })
    }
}

impl JudgingPlan {
    /// Every judge, that of the settings first.
    pub(crate) fn judges(&self) -> impl Iterator<Item = &ConfiguredChat> {
        std::iter::once(&self.judge).chain(&self.further.models)
    }

    /// The same as models that may use batches.
    pub(crate) fn callers(&self) -> impl Iterator<Item = Caller<'_>> {
        self.judges().map(|model| Caller {
            role: "judge",
            model,
            direct: None,
        })
    }
}

/// An opened judge.
#[derive(Debug, Clone)]
pub(crate) struct Judging {
    pub(crate) judge: Arc<dyn Judge>,
    pub(crate) chat: Option<ChatJudge>,
    pub(crate) refusals: Option<RefusalJudge>,
    /// `None` if a model without a chat judges.
    pub(crate) further: Option<FurtherJudges>,
    pub(super) model: Option<Arc<dyn ChatModel>>,
    pub(super) prompts: Vec<Prompt>,
    /// The most tokens of earlier turns that a judge reads before a question.
    context_tokens: NonZeroUsize,
    /// Who judges each measure.
    pub(crate) records: JudgeRecords,
}

impl Judging {
    /// Opens the judge of `plan`.
    pub(crate) async fn open(opener: &mut Opener<'_, '_>, plan: &JudgingPlan) -> Result<Self> {
        if plan.judge.is_embedded() {
            let judge = OverlapJudge::default();
            return Ok(Self {
                records: judge_records::of_embedded(judge.identity()),
                judge: Arc::new(judge),
                chat: None,
                refusals: None,
                further: None,
                model: None,
                prompts: Vec::new(),
                context_tokens: plan.further.context_tokens,
            });
        }
        let model = opener.chat_in_batches(&plan.judge).await?;
        let mut prompts = vec![plan.prompts.judge.clone()];
        let refusals = plan.refusals.then(|| {
            prompts.push(plan.prompts.refusal.clone());
            RefusalJudge::new(Arc::clone(&model)).prompt(plan.prompts.refusal.clone())
        });
        let further = FurtherJudges::open(
            opener,
            &plan.further,
            &model,
            plan.judge.settings.max_tokens(),
            plan.prompts.judges.clone(),
        )
        .await?;
        prompts.extend(further.prompts(&plan.prompts.judges));
        let chat = further.chat_judge().prompt(plan.prompts.judge.clone());
        Ok(Self {
            judge: Arc::new(chat.clone()),
            records: judge_records::of(
                &model,
                plan.refusals,
                &plan.further,
                &further,
                &plan.prompts,
            ),
            further: Some(further),
            chat: Some(chat),
            refusals,
            model: Some(model),
            prompts,
            context_tokens: plan.further.context_tokens,
        })
    }

    /// The names of the evaluators that ask the further judges.
    pub(crate) fn further_names(&self) -> BTreeSet<String> {
        let further = self.further.iter();
        further.flat_map(FurtherJudges::names).collect()
    }

    /// Adds every evaluator to `dataset`, which has the chosen cases, the headline first, with a warning about a judge that has nothing to
    /// judge.
    pub(crate) fn add_evaluators(
        &self,
        printer: &Printer,
        dataset: Dataset<Qa>,
        chosen: &ChosenCases,
    ) -> Dataset<Qa> {
        let refusal = match &self.refusals {
            Some(judge) => Refusal::new().judge(judge.clone(), self.context_tokens),
            None => Refusal::new(),
        };
        let equivalence = Equivalence::new(Arc::clone(&self.judge));
        let mut dataset = dataset.evaluator(equivalence.context_tokens(self.context_tokens));
        if let Some(further) = &self.further {
            dataset = further.add_evaluators(printer, dataset);
        }
        dataset
            .evaluator(refusal)
            .evaluator(CiteRate)
            .evaluator(CitationPrecision)
            .evaluator(Breakdown)
            .evaluator(ExactMatch)
            .evaluator(TokenF1)
            .evaluator(RougeL)
            .evaluator(NumberMatch)
            .report_evaluator(WholeConversations::without(chosen.cut.clone()))
    }
}
