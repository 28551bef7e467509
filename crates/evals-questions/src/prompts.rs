//! The prompts that questions are written and checked with.

use evals_rag::prompt_set;

prompt_set! {
    /// The prompts that questions are written and checked with. All have the values `nonce` and `shape`; passages have `number`, `title`
    /// and `text`.
    QuestionPrompts {
        /// Checks that a question is clear alone, and answers it without documents. Values: `question`.
        alone: "question-alone.md.jinja",
        /// Answers a user's question. Values: `question`, `passages`.
        answer: "question-answer.md.jinja",
        /// Checks that the evidence alone answers. Values: `question`, `answer`, `quotes`.
        evidence: "question-evidence.md.jinja",
        /// Looks for further passages that answer. Values: `question`, `answer` (null for an unanswerable one), `passages`.
        others: "question-others.md.jinja",
        /// Sends a reply back. Values: `complaint`.
        repair: "question-repair.md.jinja",
        /// Writes a question. Values: `kind`, `asker`, `passages`.
        write: "question-write.md.jinja",
    }
}
