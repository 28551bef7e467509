//! The names of promptfoo's checks.

/// The checks that an evaluator of ours judges, as `__expected` writes them.
pub(super) const UNDERSTOOD: [&str; 15] = [
    "equals",
    "contains",
    "icontains",
    "contains-all",
    "icontains-all",
    "contains-any",
    "icontains-any",
    "starts-with",
    "ends-with",
    "regex",
    "is-json",
    "contains-json",
    "latency",
    "llm-rubric",
    "grade",
];

/// What promptfoo calls its checks beside those, so that a check is not taken for the text that is expected.
const NOT_UNDERSTOOD: &str = "agent-rubric answer-relevance assert-set bleu character-count classifier contains-html contains-sql contains-xml \
    context-faithfulness context-recall context-relevance conversation-relevance cost eval factuality file \
    finish-reason fn g-eval gleu guardrails human is-html is-refusal is-sql is-valid-function-call \
    is-valid-openai-function-call is-valid-openai-tools-call is-xml javascript levenshtein max-score meteor \
    model-graded-closedqa model-graded-factuality moderation perplexity perplexity-score pi python rouge-l rouge-n \
    rouge-s ruby search-rubric select-best similar skill-used tool-call-f1 trace-error-spans trace-span-count \
    trace-span-duration trajectory webhook word-count";

/// Whether an evaluator of ours judges as the check does.
pub(super) fn is_understood(kind: &str) -> bool {
    UNDERSTOOD.contains(&kind)
}

/// Whether promptfoo has a check of this name.
pub(super) fn is_known(kind: &str) -> bool {
    is_understood(kind) || NOT_UNDERSTOOD.split(' ').any(|known| known == kind)
}

/// What comes nearest to a check in dataset files, and why it is not the same.
pub(super) fn nearest_evaluator(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "eval" | "file" | "fn" | "javascript" | "python" | "ruby" | "webhook" => {
            "`Exec` of dataset files asks a command in any language"
        }
        "levenshtein" => {
            "`Levenshtein` of dataset files scores from 0 to 1 and does not count letters"
        }
        "rouge-l" | "rouge-n" | "rouge-s" => {
            "`RougeL` of dataset files scores longest common subsequences and has no threshold"
        }
        "g-eval" => "`GEval` of dataset files grades by steps that you write",
        "is-refusal" => "`Refusal` of dataset files compares refusals with what can be answered",
        _ => return None,
    })
}
