//! Records who judges each measure of question answering.

use std::sync::Arc;

use evals_models::{ChatModel, ModelIdentity};
use evals_rag::qa::{Equivalence, Refusal};
use evals_runs::judged_by::{JudgeRecord, JudgeRecords, PanelMember};

use super::further_judges::{FurtherJudges, FurtherPlan};
use crate::run_models::Prompts;

/// The roles of the judges of a panel, the first of which is the judge of the settings.
pub const JUDGES: [&str; 9] = [
    "judge", "judge 2", "judge 3", "judge 4", "judge 5", "judge 6", "judge 7", "judge 8", "judge 9",
];

/// The records of a judge without a chat.
pub(super) fn of_embedded(judge: &ModelIdentity) -> JudgeRecords {
    let mut records = JudgeRecords::default();
    let judge = (JUDGES[0].to_owned(), PanelMember::plain(judge));
    records.enter(Equivalence::OUTCOME, JudgeRecord::new([judge], []));
    records
}

/// The records of `first`, which judges refusals too if `judges_refusals`, and of the `further` judges.
pub(super) fn of(
    first: &Arc<dyn ChatModel>,
    judges_refusals: bool,
    plan: &FurtherPlan,
    further: &FurtherJudges,
    prompts: &Prompts,
) -> JudgeRecords {
    let mut records = JudgeRecords::default();
    let panel = || {
        let models = std::iter::once(first).chain(&further.others);
        let judges = JUDGES.into_iter().zip(models);
        judges.map(|(role, model)| (role.to_owned(), PanelMember::from(&**model)))
    };
    let votes = |record: JudgeRecord| JudgeRecord {
        repeats: plan.repeats.get(),
        rule: (further.votes() > 1).then_some(plan.rule),
        ..record
    };
    let judged = votes(JudgeRecord::new(panel(), [&prompts.judge]));
    records.enter(Equivalence::OUTCOME, judged);
    if judges_refusals {
        for outcome in [Refusal::PRECISION, Refusal::RECALL] {
            // A panel does not vote on refusals.
            let record = JudgeRecord::new(panel().take(1), [&prompts.refusal]);
            records.enter(outcome, record);
        }
    }
    let templates = &prompts.judges;
    for measure in &plan.measures {
        let record = JudgeRecord {
            context_tokens: Some(plan.context_tokens.get()),
            ..votes(JudgeRecord::new(panel(), templates.of(*measure)))
        };
        for outcome in measure.outcomes() {
            records.enter(*outcome, record.clone());
        }
    }
    for planned in &plan.rubrics {
        let record = votes(JudgeRecord::new(panel(), [&templates.levels]));
        let record = record.asking("rubric", &planned.settings);
        for outcome in planned.outcomes() {
            records.enter(outcome, record.clone());
        }
    }
    records
}
