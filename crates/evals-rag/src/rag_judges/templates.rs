//! The prompts of the decomposed judges.

use super::measure::JudgedMeasure;
use crate::Prompt;
use crate::prompt::bundled;

/// The prompts of the decomposed judges. The default ones are part of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeTemplates {
    /// Lists the claims of a text. Values: `question`, `text`, `nonce`.
    pub claims: Prompt,
    /// Checks claims against passages, or against one text in place of a passage. Values: `passages` (each with `number`, `title`,
    /// `text`), `items` (each with `number`, `text`), `shape`, `nonce`.
    pub support: Prompt,
    /// Decides which statements of an answer help. Values: `question`, `items`, `shape`, `nonce`.
    pub relevance: Prompt,
    /// Decides which passages help to give the reference answer. Values: `question`, `reference`, `items` (each with `number`,
    /// `title`, `text`), `shape`, `nonce`.
    pub usefulness: Prompt,
    /// Lists the points that a question asks for. Values: `text` (the question), `nonce`.
    pub points: Prompt,
    /// Decides which points an answer covers. Values: `question`, `answer`, `items`, `shape`, `nonce`.
    pub coverage: Prompt,
    /// Lists the facts of a good answer. Values: `question`, `text` (the reference answer, or the evidence), `most`, `nonce`.
    pub nuggets: Prompt,
    /// Decides which facts an answer has. Values: `question`, `answer`, `items`, `shape`, `nonce`.
    pub nugget_support: Prompt,
    /// Checks sentences against the passages that they cite. Values: `passages`, `items` (each with `number`, `text`, `cites`),
    /// `shape`, `nonce`.
    pub citations: Prompt,
    /// Grades an answer by a criterion with levels. Values: `question`, `answer`, `reference` if the judge sees it, `criterion`,
    /// `levels` (each with `number`, `description`), `nonce`.
    pub levels: Prompt,
    /// Compares two answers. Values: `question`, `first`, `second`, `reference` if there is one, `nonce`.
    pub pair: Prompt,
}

impl Default for JudgeTemplates {
    fn default() -> Self {
        Self {
            claims: bundled!("judge-claims.md.jinja"),
            support: bundled!("judge-support.md.jinja"),
            relevance: bundled!("judge-relevance.md.jinja"),
            usefulness: bundled!("judge-usefulness.md.jinja"),
            points: bundled!("judge-points.md.jinja"),
            coverage: bundled!("judge-coverage.md.jinja"),
            nuggets: bundled!("judge-nuggets.md.jinja"),
            nugget_support: bundled!("judge-nugget-support.md.jinja"),
            citations: bundled!("judge-citations.md.jinja"),
            levels: bundled!("judge-levels.md.jinja"),
            pair: bundled!("judge-pair.md.jinja"),
        }
    }
}

impl JudgeTemplates {
    /// All prompts, in alphabetical order of their names.
    pub fn all(&self) -> [&Prompt; 11] {
        let Self {
            claims,
            support,
            relevance,
            usefulness,
            points,
            coverage,
            nuggets,
            nugget_support,
            citations,
            levels,
            pair,
        } = self;
        [
            citations,
            claims,
            coverage,
            levels,
            nugget_support,
            nuggets,
            pair,
            points,
            relevance,
            support,
            usefulness,
        ]
    }

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
        }
    }

    /// The same prompts, each replaced by what `replace` returns.
    ///
    /// # Errors
    ///
    /// The first error of `replace`.
    pub fn try_map<E>(
        self,
        mut replace: impl FnMut(Prompt) -> Result<Prompt, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            claims: replace(self.claims)?,
            support: replace(self.support)?,
            relevance: replace(self.relevance)?,
            usefulness: replace(self.usefulness)?,
            points: replace(self.points)?,
            coverage: replace(self.coverage)?,
            nuggets: replace(self.nuggets)?,
            nugget_support: replace(self.nugget_support)?,
            citations: replace(self.citations)?,
            levels: replace(self.levels)?,
            pair: replace(self.pair)?,
        })
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
