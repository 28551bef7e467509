//! How many calls judges make, before anybody asks them.

use super::judge_limits::{CallRange, JudgeLimits};
use super::judged_case::{JudgedCase, TextSize};
use super::measure::JudgedMeasure;
use super::templates::JudgeTemplates;
use crate::Prompt;

/// The calls of a panel's judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeCalls {
    /// Lists of claims, which the first judge makes once for each case.
    pub lists: CallRange,
    /// Verdicts, which each judge gives once for each of its repeats.
    pub verdicts: CallRange,
}

/// The measures that split the answer into claims.
const CLAIMS_OF_ANSWERS: [JudgedMeasure; 3] = [
    JudgedMeasure::Faithfulness,
    JudgedMeasure::AnswerRelevance,
    JudgedMeasure::FactualCorrectness,
];

/// The measures that split the reference answer into claims.
const CLAIMS_OF_REFERENCES: [JudgedMeasure; 2] = [
    JudgedMeasure::ContextRecall,
    JudgedMeasure::FactualCorrectness,
];

impl JudgeCalls {
    /// Estimates the calls for `measures` and for rubrics about `cases`, for one vote. For each rubric, `rubrics` has whether its judges see
    /// the reference. `count` counts the tokens of a text.
    ///
    /// The fewest calls assume that no answer refuses unless it is known to, that it cites a passage, and that every text makes a claim.
    /// The most calls assume that the titles of passages are short beside a request, and, without `max_tokens`, that the claims of a text
    /// take no more room than the text, or fit into one request. Neither counts replies that are repaired, or asked for again with a
    /// doubled budget.
    pub fn of(
        measures: &[JudgedMeasure],
        rubrics: &[bool],
        templates: &JudgeTemplates,
        cases: &[JudgedCase],
        limits: JudgeLimits,
        count: &dyn Fn(&str) -> u64,
    ) -> Self {
        let tokens = |prompt: &Prompt| count(prompt.text());
        let sum = |prompt: &Prompt, requests: &mut dyn Iterator<Item = CallRange>| {
            let all = requests.fold(CallRange::NONE, |all, it| all.plus(&it));
            limits.whole(tokens(prompt), all)
        };
        let listed = |case: &JudgedCase, wanted: &[JudgedMeasure], texts: &[Option<TextSize>]| {
            let mut asked = measures.iter().filter(|it| wanted.contains(it));
            if !asked.any(|measure| case.is_judged(*measure)) {
                return CallRange::NONE;
            }
            let texts = texts.iter().copied().flatten();
            let text = texts.fold(TextSize::default(), TextSize::plus);
            CallRange::showing(1, text.tokens, text.most_tokens)
        };
        let claims = |case: &JudgedCase| {
            let question = Some(case.question);
            let answer = listed(case, &CLAIMS_OF_ANSWERS, &[question, case.answer]);
            answer.plus(&listed(
                case,
                &CLAIMS_OF_REFERENCES,
                &[question, case.reference],
            ))
        };
        let points = |case: &JudgedCase| {
            let wanted = [JudgedMeasure::Completeness];
            listed(case, &wanted, &[Some(case.question)])
        };
        let lists = sum(&templates.claims, &mut cases.iter().map(claims));
        let lists = lists.plus(&sum(&templates.points, &mut cases.iter().map(points)));
        let nuggets = |case: &JudgedCase| {
            let text = case.nuggets.filter(|nuggets| nuggets.given.is_none());
            text.map_or(CallRange::NONE, |nuggets| {
                let texts = [Some(case.question), Some(nuggets.text)];
                listed(case, &[JudgedMeasure::Nuggets], &texts)
            })
        };
        let lists = lists.plus(&sum(&templates.nuggets, &mut cases.iter().map(nuggets)));
        let mut verdicts = CallRange::NONE;
        for measure in measures {
            let requests = cases.iter().map(|case| limits.verdicts(*measure, case));
            if let Some(prompt) = templates.of(*measure).last() {
                verdicts = verdicts.plus(&sum(prompt, &mut requests.clone()));
            }
        }
        for sees_reference in rubrics {
            let graded = cases.iter().filter_map(|case| case.graded(*sees_reference));
            let mut graded = graded.map(|it| CallRange::showing(1, it.tokens, it.most_tokens));
            verdicts = verdicts.plus(&sum(&templates.levels, &mut graded));
        }
        Self { lists, verdicts }
    }

    /// The same calls, made this often.
    #[must_use]
    pub fn times(&self, times: u64) -> Self {
        Self {
            lists: self.lists.times(times),
            verdicts: self.verdicts.times(times),
        }
    }

    /// The calls of one judge: those of all its repeats, and the lists if it is the `first` of its panel.
    pub fn of_judge(&self, first: bool, repeats: u64) -> CallRange {
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
    use super::super::nuggets::NuggetsSize;
    use super::*;

    fn case() -> JudgedCase {
        JudgedCase {
            answerable: true,
            question: TextSize::about(10, 10),
            reference: Some(TextSize::about(30, 30)),
            nuggets: None,
            ends_conversation: false,
            answer: Some(TextSize::about(30, 200)),
            refused: false,
            cited_sentences: JudgedCase::MOST_SENTENCES,
            passages: Some((5, TextSize::about(1000, 1000))),
        }
    }

    /// Ten cases, two of them without a reference.
    fn cases(case: JudgedCase) -> Vec<JudgedCase> {
        let without = JudgedCase {
            reference: None,
            ..case
        };
        [vec![case; 8], vec![without; 2]].concat()
    }

    const LIMITS: JudgeLimits = JudgeLimits {
        context_tokens: 400,
        max_tokens: Some(500),
    };

    const ROOMY: JudgeLimits = JudgeLimits {
        context_tokens: 16_384,
        ..LIMITS
    };

    fn estimate(
        measures: &[JudgedMeasure],
        rubrics: &[bool],
        case: JudgedCase,
        limits: JudgeLimits,
    ) -> JudgeCalls {
        let templates = JudgeTemplates::default();
        let cases = cases(case);
        JudgeCalls::of(measures, rubrics, &templates, &cases, limits, &|_| 100)
    }

    fn fewest(measures: &[JudgedMeasure], rubrics: &[bool], case: JudgedCase) -> (u64, u64) {
        let calls = estimate(measures, rubrics, case, LIMITS);
        (calls.lists.fewest.calls, calls.verdicts.fewest.calls)
    }

    #[test]
    fn lists_are_shared_and_calls_without_reference_are_left_out() {
        assert_eq!(
            fewest(&[JudgedMeasure::Faithfulness], &[], case()),
            (10, 10)
        );
        let both = [JudgedMeasure::Faithfulness, JudgedMeasure::AnswerRelevance];
        assert_eq!(fewest(&both, &[], case()), (10, 20));
        let correctness = [JudgedMeasure::FactualCorrectness];
        assert_eq!(fewest(&correctness, &[], case()), (16, 16));
        // Claims of ten answers, claims of eight references, points of ten questions.
        assert_eq!(fewest(&JudgedMeasure::ALL, &[], case()).0, 28);
        assert_eq!(fewest(&[], &[false, true], case()), (0, 10 + 8));
    }

    #[test]
    fn nuggets_of_the_dataset_save_their_list() {
        let with = |given| JudgedCase {
            nuggets: Some(NuggetsSize {
                given,
                text: TextSize::about(30, 30),
            }),
            ..case()
        };
        let measures = [JudgedMeasure::Nuggets];
        assert_eq!(fewest(&measures, &[], with(None)), (10, 10));
        assert_eq!(fewest(&measures, &[], with(Some(3))), (0, 10));
        assert_eq!(fewest(&measures, &[], case()), (0, 0));
    }

    #[test]
    fn a_conversation_is_judged_once_and_refusals_too() {
        let last = JudgedCase {
            question: TextSize::about(80, 80),
            ends_conversation: true,
            refused: true,
            ..case()
        };
        let measures = [JudgedMeasure::Conversation];
        let calls = estimate(&measures, &[], last, LIMITS).verdicts.fewest;
        // 100 tokens of prompt, 80 of the question behind what was said, and 30 of answer.
        assert_eq!((calls.calls, calls.input_tokens), (10, 10 * 210));
        assert_eq!(fewest(&measures, &[], case()), (0, 0));
    }

    #[test]
    fn what_is_known_of_a_case_saves_its_calls() {
        let all = JudgedMeasure::ALL;
        let unanswerable = JudgedCase {
            answerable: false,
            ..case()
        };
        assert_eq!(fewest(&all, &[], unanswerable), (10, 10), "faithfulness");
        let refused = JudgedCase {
            refused: true,
            ..case()
        };
        // Precision and recall of the passages of eight cases.
        assert_eq!(fewest(&all, &[], refused), (8, 16));
        let without_passages = JudgedCase {
            passages: Some((0, TextSize::default())),
            ..case()
        };
        // Claims are listed, but only relevance, completeness and correctness ask about them.
        assert_eq!(fewest(&all, &[], without_passages), (28, 10 + 10 + 16));
        let uncited = JudgedCase {
            cited_sentences: 0,
            ..case()
        };
        assert_eq!(fewest(&[JudgedMeasure::CitationSupport], &[], uncited).1, 0);
    }

    #[test]
    fn repeats_multiply_verdicts_and_only_the_first_judge_lists_claims() {
        let measures = [JudgedMeasure::AnswerRelevance];
        let calls = estimate(&measures, &[], case(), LIMITS);
        let first = calls.of_judge(true, 3).fewest;
        // A list and three verdicts for each case, each with 100 tokens of prompt, 10 of question and 30 of claims.
        assert_eq!((first.calls, first.input_tokens), (40, 40 * 140));
        assert_eq!(first.output_tokens, Some(40 * 500));
        assert_eq!(calls.of_judge(false, 3).fewest.calls, 30);
    }

    #[test]
    fn the_most_calls_follow_from_the_limits_of_a_request() {
        let most = |measure, limits| {
            let calls = estimate(&[measure], &[], case(), limits);
            (calls.verdicts.most.calls, calls.verdicts.most.input_tokens)
        };
        // A hundred claims take three requests of 40. Their 500 · 8 bytes take at most 7 of 400 · 3 each, twice if they are cut.
        let batches = 3 + 2 * 7;
        let relevance = most(JudgedMeasure::AnswerRelevance, LIMITS);
        // Each request has the prompt and the question, and together they have the claims.
        assert_eq!(relevance, (10 * batches, 10 * (batches * 110 + 500)));
        // 1000 · 8 bytes of passages take at most 14 requests of 400 · 3, each with all claims.
        let faithfulness = most(JudgedMeasure::Faithfulness, LIMITS);
        let tokens = 14 * batches * 100 + batches * 1000 + 14 * 500;
        assert_eq!(faithfulness, (10 * 14 * batches, 10 * tokens));
        assert_eq!(most(JudgedMeasure::Faithfulness, ROOMY).0, 10 * 3);
        assert_eq!(most(JudgedMeasure::ContextPrecision, ROOMY).0, 8);
    }
}
