//! Records who judges each measure of question answering.

use std::sync::Arc;

use evals_models::{ChatModel, ModelIdentity};
use evals_rag::qa::{Equivalence, Refusal};
use evals_runs::judged_by::{JudgeRecord, JudgeRecords, PanelMember};

use super::further_judges::FurtherJudges;
use super::judging::JudgingPlan;
use super::model_set::ModelSet;

/// The records of a judge without a chat.
pub(super) fn of_embedded(judge: &ModelIdentity) -> JudgeRecords {
    let mut records = JudgeRecords::default();
    let judge = (ModelSet::JUDGES[0].to_owned(), PanelMember::plain(judge));
    records.enter(Equivalence::OUTCOME, JudgeRecord::new([judge], []));
    records
}

/// The records of `first` and of the `further` judges.
pub(super) fn of(
    first: &Arc<dyn ChatModel>,
    plan: &JudgingPlan,
    further: &FurtherJudges,
) -> JudgeRecords {
    let mut records = JudgeRecords::default();
    let panel = || {
        let models = std::iter::once(first).chain(&further.others);
        let judges = ModelSet::JUDGES.into_iter().zip(models);
        judges.map(|(role, model)| (role.to_owned(), PanelMember::from(&**model)))
    };
    let votes = |record: JudgeRecord| JudgeRecord {
        repeats: plan.further.repeats.get(),
        rule: (further.votes() > 1).then_some(plan.further.rule),
        ..record
    };
    let judged = votes(JudgeRecord::new(panel(), [&plan.prompts.judge]));
    records.enter(Equivalence::OUTCOME, judged);
    if plan.refusals {
        for outcome in [Refusal::PRECISION, Refusal::RECALL] {
            // A panel does not vote on refusals.
            let record = JudgeRecord::new(panel().take(1), [&plan.prompts.refusal]);
            records.enter(outcome, record);
        }
    }
    let templates = &plan.prompts.judges;
    for measure in &plan.further.measures {
        let record = JudgeRecord {
            context_tokens: Some(plan.further.context_tokens.get()),
            ..votes(JudgeRecord::new(panel(), templates.of(*measure)))
        };
        for outcome in measure.outcomes() {
            records.enter(*outcome, record.clone());
        }
    }
    for planned in &plan.further.rubrics {
        let record = votes(JudgeRecord::new(panel(), [&templates.levels]));
        let record = record.asking("rubric", &planned.settings);
        for outcome in planned.outcomes() {
            records.enter(outcome, record.clone());
        }
    }
    records
}
