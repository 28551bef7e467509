//! The prompts of the decomposed judges.

use super::measure::JudgedMeasure;
use crate::{Prompt, prompt_set};

prompt_set! {
    /// The prompts of the decomposed judges. The default ones are part of the program.
    JudgeTemplates {
        /// Checks sentences against the passages that they cite. Values: `passages`, `items` (each with `number`, `text`, `cites`),
        /// `shape`, `nonce`.
        citations: "judge-citations.md.jinja",
        /// Lists the claims of a text. Values: `question`, `text`, `nonce`.
        claims: "judge-claims.md.jinja",
        /// Decides about a conversation. Values: `conversation` (what was said before the question), `question`, `answer`, `items`,
        /// `shape`, `nonce`.
        conversation: "judge-conversation.md.jinja",
        /// Decides which points an answer covers. Values: `question`, `answer`, `items`, `shape`, `nonce`.
        coverage: "judge-coverage.md.jinja",
        /// Grades an answer by a criterion with levels. Values: `question`, `answer`, `reference` if the judge sees it, `criterion`,
        /// `levels` (each with `number`, `description`), `nonce`.
        levels: "judge-levels.md.jinja",
        /// Decides which facts an answer has. Values: `question`, `answer`, `items`, `shape`, `nonce`.
        nugget_support: "judge-nugget-support.md.jinja",
        /// Lists the facts of a good answer. Values: `question`, `text` (the reference answer, or the evidence), `most`, `nonce`.
        nuggets: "judge-nuggets.md.jinja",
        /// Compares two answers. Values: `question`, `first`, `second`, `reference` if there is one, `nonce`.
        pair: "judge-pair.md.jinja",
        /// Lists the points that a question asks for. Values: `text` (the question), `nonce`.
        points: "judge-points.md.jinja",
        /// Decides which statements of an answer help. Values: `question`, `items`, `shape`, `nonce`.
        relevance: "judge-relevance.md.jinja",
        /// Checks claims against passages, or against one text in place of a passage. Values: `passages` (each with `number`, `title`,
        /// `text`), `items` (each with `number`, `text`), `shape`, `nonce`.
        support: "judge-support.md.jinja",
        /// Decides which passages help to give the reference answer. Values: `question`, `reference`, `items` (each with `number`,
        /// `title`, `text`), `shape`, `nonce`.
        usefulness: "judge-usefulness.md.jinja",
    }
}

impl JudgeTemplates {
    /// The prompts that a measure is asked with.
    pub fn of(&self, measure: JudgedMeasure) -> Vec<&Prompt> {
        match measure {
            JudgedMeasure::Faithfulness
            | JudgedMeasure::ContextRecall
            | JudgedMeasure::FactualCorrectness => vec![&self.claims, &self.support],
            JudgedMeasure::AnswerRelevance => vec![&self.claims, &self.relevance],
            JudgedMeasure::ContextPrecision => vec![&self.usefulness],
            JudgedMeasure::Completeness => vec![&self.points, &self.coverage],
            JudgedMeasure::CitationSupport => vec![&self.citations],
            JudgedMeasure::Nuggets => vec![&self.nuggets, &self.nugget_support],
            JudgedMeasure::Conversation => vec![&self.conversation],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn all_prompts_are_listed_by_their_names() {
        let templates = JudgeTemplates::default();
        let names: Vec<&str> = templates.all().into_iter().map(Prompt::name).collect();
        assert!(names.is_sorted(), "{names:?}");
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
