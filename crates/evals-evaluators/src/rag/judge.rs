//! `Judge`: whether the answer says the same as the reference answer.

use std::sync::Arc;

use evals_rag::judging::{ChatJudge, Judge as _, OverlapJudge};
use evals_rag::qa::Equivalence;

use super::converted::Converted;
use crate::judges::{self, model_parameters};
use crate::{Arguments, BuildError, Entry, Resources, judge_prompts};

/// The name of the judge that asks no model.
const OVERLAP: &str = "embedded:overlap";

/// The entry of `Judge`.
pub(super) fn entry() -> Entry {
    Entry::evaluation(
        "Judge",
        "Asks a chat model whether the answer says the same as the reference answer; `embedded:overlap` compares words instead.",
        model_parameters(),
        read,
    )
}

fn read(
    arguments: &Arguments,
    resources: &Resources,
) -> Result<Converted<Equivalence>, BuildError> {
    if arguments.value("model") == OVERLAP {
        let overlap = OverlapJudge::default();
        let digest = overlap.identity().digest.clone();
        let version = digest.unwrap_or_default();
        return Ok(Converted::new(
            Equivalence::new(Arc::new(overlap)),
            Some(version),
        ));
    }
    let prompt = resources.prompts.judge.clone();
    let version = judge_prompts::version(&prompt);
    let judge = ChatJudge::new(judges::opened(arguments, resources)?).prompt(prompt);
    Ok(Converted::new(
        Equivalence::new(Arc::new(judge)),
        Some(version),
    ))
}
