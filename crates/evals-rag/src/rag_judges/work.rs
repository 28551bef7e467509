//! How many calls judges make, before anybody asks them.

use super::measure::JudgedMeasure;
use super::templates::JudgeTemplates;
use crate::Prompt;
use crate::estimate::Calls;

/// A claim for about so many tokens of a text. English sentences have 20 to 25.
const TOKENS_PER_CLAIM: u64 = 20;

/// The known facts about the cases that judges would judge. Token counts are estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedWork {
    /// Cases with a reference, repeats included.
    pub with_reference: u64,
    /// All cases, repeats included.
    pub cases: u64,
    /// Tokens of one question, on average.
    pub question_tokens: u64,
    /// Tokens of one reference, on average; an answer counts as long as a reference.
    pub reference_tokens: u64,
    /// Tokens of the passages of one case.
    pub passage_tokens: u64,
    /// The most tokens of passages in one request.
    pub context_tokens: u64,
    /// The limit for the tokens of a reply; `None` if the model sets no limit.
    pub max_tokens: Option<u64>,
}

/// The calls of a panel's judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeCalls {
    /// Lists of claims, which the first judge makes once for each case.
    pub lists: Calls,
    /// Verdicts, which each judge gives once for each of its repeats.
    pub verdicts: Calls,
}

/// Adds calls up.
struct Sum<'a> {
    calls: Calls,
    work: &'a JudgedWork,
    count: &'a dyn Fn(&str) -> u64,
}

impl Sum<'_> {
    fn add(&mut self, calls: u64, prompt: &Prompt, tokens: u64) {
        let read = (self.count)(prompt.text()).saturating_add(tokens);
        self.calls.calls = self.calls.calls.saturating_add(calls);
        self.calls.input_tokens = self
            .calls
            .input_tokens
            .saturating_add(calls.saturating_mul(read));
        let written = self.work.max_tokens.map(|most| most.saturating_mul(calls));
        let sum = self.calls.output_tokens.zip(written);
        self.calls.output_tokens = sum.map(|(sum, written)| sum.saturating_add(written));
    }
}

impl JudgeCalls {
    /// Estimates the calls for `measures` and for `rubrics` rubrics, for one vote. `count` counts the tokens of a text. Repaired replies
    /// and doubled budgets do not count.
    pub fn of(
        measures: &[JudgedMeasure],
        rubrics: usize,
        templates: &JudgeTemplates,
        work: &JudgedWork,
        count: &dyn Fn(&str) -> u64,
    ) -> Self {
        let new = || Sum {
            calls: Calls::NONE,
            work,
            count,
        };
        let (mut lists, mut verdicts) = (new(), new());
        let asks = |wanted: &[JudgedMeasure]| wanted.iter().any(|it| measures.contains(it));
        let (question, text) = (work.question_tokens, work.reference_tokens);
        if asks(&[JudgedMeasure::Faithfulness, JudgedMeasure::AnswerRelevance]) {
            lists.add(work.cases, &templates.claims, question + text);
        } else if asks(&[JudgedMeasure::FactualCorrectness]) {
            lists.add(work.with_reference, &templates.claims, question + text);
        }
        if asks(&[
            JudgedMeasure::ContextRecall,
            JudgedMeasure::FactualCorrectness,
        ]) {
            lists.add(work.with_reference, &templates.claims, question + text);
        }
        if asks(&[JudgedMeasure::Completeness]) {
            lists.add(work.cases, &templates.points, question);
        }
        let requests = work
            .passage_tokens
            .div_ceil(work.context_tokens.max(1))
            .max(1);
        let shown = work.passage_tokens.div_ceil(requests);
        for measure in measures {
            match measure {
                JudgedMeasure::Faithfulness => {
                    verdicts.add(work.cases * requests, &templates.support, shown + text);
                }
                JudgedMeasure::ContextRecall => {
                    verdicts.add(
                        work.with_reference * requests,
                        &templates.support,
                        shown + text,
                    );
                }
                JudgedMeasure::AnswerRelevance => {
                    verdicts.add(work.cases, &templates.relevance, question + text);
                }
                JudgedMeasure::ContextPrecision => {
                    let tokens = shown + question + text;
                    verdicts.add(
                        work.with_reference * requests,
                        &templates.usefulness,
                        tokens,
                    );
                }
                JudgedMeasure::FactualCorrectness => {
                    verdicts.add(work.with_reference * 2, &templates.support, text * 2);
                }
                JudgedMeasure::Completeness => {
                    let points = question.div_ceil(TOKENS_PER_CLAIM).max(1) * TOKENS_PER_CLAIM;
                    verdicts.add(work.cases, &templates.coverage, question + text + points);
                }
                JudgedMeasure::CitationSupport => {
                    verdicts.add(work.cases * requests, &templates.citations, shown + text);
                }
            }
        }
        let rubrics = u64::try_from(rubrics).unwrap_or(u64::MAX);
        verdicts.add(
            work.cases.saturating_mul(rubrics),
            &templates.levels,
            question + text * 2,
        );
        Self {
            lists: lists.calls,
            verdicts: verdicts.calls,
        }
    }

    /// The calls of one judge: those of all its repeats, and the lists if it is the `first` of its panel.
    pub fn of_judge(&self, first: bool, repeats: u64) -> Calls {
        let verdicts = self.verdicts.times(repeats);
        if first {
            verdicts.plus(&self.lists)
        } else {
            verdicts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: JudgedWork = JudgedWork {
        with_reference: 8,
        cases: 10,
        question_tokens: 10,
        reference_tokens: 30,
        passage_tokens: 1000,
        context_tokens: 400,
        max_tokens: Some(500),
    };

    fn calls(measures: &[JudgedMeasure], rubrics: usize) -> (u64, u64) {
        let templates = JudgeTemplates::default();
        let calls = JudgeCalls::of(measures, rubrics, &templates, &WORK, &|_| 100);
        (calls.lists.calls, calls.verdicts.calls)
    }

    #[test]
    fn claims_are_listed_once_for_all_judges() {
        use JudgedMeasure::{
            AnswerRelevance, CitationSupport, Completeness, ContextPrecision, ContextRecall,
            FactualCorrectness, Faithfulness,
        };
        // 1000 tokens of passages take three requests of 400.
        assert_eq!(calls(&[Faithfulness], 0), (10, 30));
        assert_eq!(calls(&[Faithfulness, AnswerRelevance], 0), (10, 40));
        assert_eq!(calls(&[ContextRecall], 0), (8, 24));
        assert_eq!(calls(&[FactualCorrectness], 0), (16, 16));
        assert_eq!(calls(&[ContextPrecision], 0), (0, 24));
        assert_eq!(calls(&[Completeness], 0), (10, 10));
        assert_eq!(calls(&[CitationSupport], 2), (0, 50));
        assert_eq!(calls(&JudgedMeasure::ALL, 0), (28, 144));
        assert_eq!(calls(&[], 0), (0, 0));
    }

    #[test]
    fn the_first_judge_lists_and_every_judge_decides_in_each_repeat() {
        let templates = JudgeTemplates::default();
        let measures = [JudgedMeasure::AnswerRelevance];
        let calls = JudgeCalls::of(&measures, 0, &templates, &WORK, &|_| 100);
        let first = calls.of_judge(true, 3);
        // A list and three verdicts for each case, each with 100 tokens of prompt, 10 of question and 30 of claims.
        assert_eq!((first.calls, first.input_tokens), (40, 40 * 140));
        assert_eq!(first.output_tokens, Some(40 * 500));
        assert_eq!(calls.of_judge(false, 3).calls, 30);
    }
}
