//! The prompts of evaluators that ask a chat model.

use std::sync::LazyLock;

use evals_rag::Prompt;
use evals_rag::rag_judges::JudgeTemplates;

/// The prompts of `LLMJudge`, `GEval`, `Judge`, `Rubric` and the judges that decide claim by claim. The default ones are part of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgePrompts {
    /// The prompt of `LLMJudge`. Values: `output`, `rubric`, `nonce`, and, if the judge sees them, `input` and `expected`.
    pub rubric: Prompt,
    /// The prompt of `GEval`. Values: `output`, `criteria`, `steps`, `lowest`, `highest`, `nonce`, and, if the judge sees it, `input`.
    pub g_eval: Prompt,
    /// The prompt of `Judge`, that of question answering. [`Prompt::judge`] lists its values.
    pub judge: Prompt,
    /// The prompts of `Rubric` and of the judges that decide claim by claim.
    pub decomposed: JudgeTemplates,
}

static BUNDLED: LazyLock<JudgePrompts> = LazyLock::new(|| JudgePrompts {
    rubric: bundled(
        "rubric.md.jinja",
        include_str!("../../../prompts/rubric.md.jinja"),
    ),
    g_eval: bundled(
        "g-eval.md.jinja",
        include_str!("../../../prompts/g-eval.md.jinja"),
    ),
    judge: Prompt::judge(),
    decomposed: JudgeTemplates::default(),
});

/// The messages that ask for a correction: that of `LLMJudge` and `GEval`, and that of `Judge`.
static REPAIRS: LazyLock<[Prompt; 2]> =
    LazyLock::new(|| [Prompt::verdict_repair(), Prompt::repair()]);

impl Default for JudgePrompts {
    fn default() -> Self {
        BUNDLED.clone()
    }
}

impl JudgePrompts {
    /// All texts that judges are asked with, the messages that ask for a correction too. Their names and digests belong into a report.
    pub fn all(&self) -> Vec<&Prompt> {
        let Self {
            rubric,
            g_eval,
            judge,
            decomposed,
        } = self;
        let mut all = vec![rubric, g_eval, &REPAIRS[0], judge, &REPAIRS[1]];
        all.extend(decomposed.all());
        all
    }
}

/// The message that sends an unreadable verdict back.
pub(crate) fn repair() -> Prompt {
    REPAIRS[0].clone()
}

/// The version of an evaluator that asks with a prompt: another prompt may give other verdicts.
pub(crate) fn version(prompt: &Prompt) -> String {
    format!("prompt {}", &prompt.digest()[..12])
}

fn bundled(name: &str, text: &str) -> Prompt {
    Prompt::new(name, text).expect("a test renders every bundled prompt")
}
