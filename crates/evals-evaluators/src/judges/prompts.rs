//! The prompts of the judges.

use std::sync::LazyLock;

use evals_rag::{Prompt, PromptError};

static RUBRIC: LazyLock<Prompt> = LazyLock::new(|| {
    bundled(
        "rubric.md.jinja",
        include_str!("../../../../prompts/rubric.md.jinja"),
    )
});

static G_EVAL: LazyLock<Prompt> = LazyLock::new(|| {
    bundled(
        "g-eval.md.jinja",
        include_str!("../../../../prompts/g-eval.md.jinja"),
    )
});

static REPAIR: LazyLock<Prompt> = LazyLock::new(|| {
    bundled(
        "verdict-repair.md.jinja",
        include_str!("../../../../prompts/verdict-repair.md.jinja"),
    )
});

/// The judge of answers, and its message that asks for a correction.
static ANSWER: [LazyLock<Prompt>; 2] =
    [LazyLock::new(Prompt::judge), LazyLock::new(Prompt::repair)];

/// The prompts of `LLMJudge`, `GEval` and `Judge`, whose names and digests belong into a report.
pub fn prompts() -> [&'static Prompt; 5] {
    [rubric(), g_eval(), &REPAIR, &ANSWER[0], &ANSWER[1]]
}

/// The prompt of `LLMJudge`. Values: `output`, `rubric`, `nonce`, and, if the judge sees them, `input` and `expected`.
pub(super) fn rubric() -> &'static Prompt {
    &RUBRIC
}

/// The prompt of `GEval`. Values: `output`, `criteria`, `steps`, `lowest`, `highest`, `nonce`, and, if the judge sees it, `input`.
pub(super) fn g_eval() -> &'static Prompt {
    &G_EVAL
}

/// The message that sends an unreadable verdict back; `shape` is the form of the object that was asked for.
pub(super) fn repair(complaint: &str, shape: &str) -> Result<String, PromptError> {
    REPAIR.fill([("complaint", complaint), ("shape", shape)])
}

/// The version of an evaluator that asks with a prompt: another prompt may give other verdicts.
pub(crate) fn version(prompt: &Prompt) -> String {
    format!("prompt {}", &prompt.digest()[..12])
}

fn bundled(name: &str, text: &str) -> Prompt {
    Prompt::new(name, text).expect("a test renders every bundled prompt")
}
