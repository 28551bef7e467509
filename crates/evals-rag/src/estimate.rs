//! Estimates the calls, tokens and cost of a run before it starts.

use evals_models::Usage;
use serde::{Deserialize, Serialize};

use crate::prices::Price;

/// The known facts of a run before it starts. Token counts are estimates, because they come from a tokenizer other than the
/// models' own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// The number of questions.
    pub questions: u64,
    /// How often each is asked.
    pub repeats: u64,
    /// Tokens of all questions together.
    pub question_tokens: u64,
    /// Questions with a reference; only these are judged.
    pub judged: u64,
    /// Tokens of all references together.
    pub reference_tokens: u64,
    /// Passages for each answer.
    pub passages: u64,
    /// Tokens of one passage, on average, rounded up.
    pub passage_tokens: u64,
    /// The limit for the tokens of one answer's passages, where a budget sets one.
    pub context_tokens: Option<u64>,
    /// The calls of an answerer that searches by itself: the most that it may make for one answer. `None` for one call.
    pub agent_steps: Option<u64>,
    /// The answering model; `None` if it is not a chat model and makes no calls.
    pub answering: Option<CallSize>,
    /// The judging model; `None` if it is not a chat model.
    pub judging: Option<CallSize>,
}

/// The size of each call of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSize {
    /// Tokens of the prompt template alone.
    pub prompt_tokens: u64,
    /// The limit for the tokens of a reply; `None` if the model sets no limit.
    pub max_tokens: Option<u64>,
}

/// The estimated calls of a run, with answering and judging listed separately.
///
/// The estimate assumes that an answer is as long as its reference. It ignores repaired verdicts, doubled budgets and cached
/// replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// The answerer's calls.
    pub answering: Calls,
    /// The judge's calls.
    pub judging: Calls,
}

/// Calls of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// The number of calls.
    pub calls: u64,
    /// Expected number of tokens read.
    pub input_tokens: u64,
    /// The most tokens written; `None` if a reply has no limit.
    pub output_tokens: Option<u64>,
}

impl Estimate {
    /// Estimates the calls of `workload`. Counts beyond 64 bits become the largest value.
    pub fn of(workload: &Workload) -> Self {
        let passages = workload.passages.saturating_mul(workload.passage_tokens);
        let context = workload
            .context_tokens
            .map_or(passages, |most| passages.min(most));
        let asked = workload.questions.saturating_mul(context);
        let answering = workload.answering.map(|side| {
            // Each further call of an agent reads the results of all searches before it again.
            let steps = workload.agent_steps.unwrap_or(1);
            let results = workload
                .agent_steps
                .map_or(1, |steps| steps.saturating_mul(steps.saturating_sub(1)) / 2);
            let content = workload
                .question_tokens
                .saturating_mul(steps)
                .saturating_add(asked.saturating_mul(results));
            let calls = workload.questions.saturating_mul(steps);
            side.calls(calls, content, workload.repeats)
        });
        let judging = workload.judging.map(|side| {
            let texts = workload.reference_tokens.saturating_mul(2);
            let content = workload.question_tokens.saturating_add(texts);
            side.calls(workload.judged, content, workload.repeats)
        });
        Self {
            answering: answering.unwrap_or(Calls::NONE),
            judging: judging.unwrap_or(Calls::NONE),
        }
    }
}

impl Calls {
    /// No call at all.
    pub const NONE: Self = Self {
        calls: 0,
        input_tokens: 0,
        output_tokens: Some(0),
    };

    /// The calls of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let written = self.output_tokens.zip(other.output_tokens);
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: written.map(|(one, other)| one.saturating_add(other)),
        }
    }

    /// The same calls, made this often.
    #[must_use]
    pub fn times(&self, times: u64) -> Self {
        let times = |count: u64| count.saturating_mul(times);
        Self {
            calls: times(self.calls),
            input_tokens: times(self.input_tokens),
            output_tokens: self.output_tokens.map(times),
        }
    }

    /// The maximum cost of the calls in USD, for the expected input. `None` if a price or the limit of a reply is unknown.
    pub fn cost(&self, price: &Price) -> Option<f64> {
        price.cost(Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens?,
            estimated: true,
        })
    }
}

impl CallSize {
    /// `content`: tokens that fill the prompts of all calls of one repetition.
    fn calls(self, calls: u64, content: u64, repeats: u64) -> Calls {
        let prompts = calls.saturating_mul(self.prompt_tokens);
        let calls = calls.saturating_mul(repeats);
        Calls {
            calls,
            input_tokens: prompts.saturating_add(content).saturating_mul(repeats),
            output_tokens: self.max_tokens.map(|most| most.saturating_mul(calls)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 questions of 20 tokens, 8 of them with references of 15, each asked twice.
    fn workload() -> Workload {
        Workload {
            questions: 10,
            repeats: 2,
            question_tokens: 200,
            judged: 8,
            reference_tokens: 120,
            passages: 5,
            passage_tokens: 100,
            context_tokens: None,
            agent_steps: None,
            answering: Some(CallSize {
                prompt_tokens: 80,
                max_tokens: Some(300),
            }),
            judging: Some(CallSize {
                prompt_tokens: 150,
                max_tokens: None,
            }),
        }
    }

    #[test]
    fn calls_and_tokens_include_all_repetitions() {
        let estimate = Estimate::of(&workload());
        let answering = Calls {
            calls: 20,
            // Twice: 10 prompts of 80, 200 for the questions, 10 contexts of 500.
            input_tokens: 2 * (800 + 200 + 5_000),
            output_tokens: Some(6_000),
        };
        assert_eq!(estimate.answering, answering);
        let judging = Calls {
            calls: 16,
            // Twice: 8 prompts of 150, 200 for the questions, 120 for references, as much for answers.
            input_tokens: 2 * (1_200 + 200 + 240),
            output_tokens: None,
        };
        assert_eq!(estimate.judging, judging);
    }

    #[test]
    fn a_budget_limits_the_context() {
        let limited = Workload {
            context_tokens: Some(300),
            ..workload()
        };
        let limited = Estimate::of(&limited).answering.input_tokens;
        assert_eq!(limited, 2 * (800 + 200 + 3_000));
        let roomy = Workload {
            context_tokens: Some(9_000),
            ..workload()
        };
        assert_eq!(Estimate::of(&roomy), Estimate::of(&workload()));
    }

    #[test]
    fn embedded_models_make_no_calls() {
        let embedded = Workload {
            answering: None,
            judging: None,
            ..workload()
        };
        let estimate = Estimate::of(&embedded);
        assert_eq!(estimate.answering, Calls::NONE);
        assert_eq!(estimate.judging.cost(&Price::default()), Some(0.0));
    }

    #[test]
    fn cost_needs_prices_and_limits() {
        let price = Price {
            input: Some(1.0),
            output: Some(2.0),
        };
        let estimate = Estimate::of(&workload());
        assert_eq!(estimate.answering.cost(&price), Some(0.024));
        assert_eq!(estimate.answering.cost(&Price::default()), None);
        assert_eq!(estimate.judging.cost(&price), None);
    }

    #[test]
    fn an_agent_reads_earlier_results_again_in_each_step() {
        let agent = Workload {
            agent_steps: Some(3),
            repeats: 1,
            ..workload()
        };
        let answering = Estimate::of(&agent).answering;
        // 10 questions in 3 calls of 80 tokens around 20 for the question; contexts of 500 in the second call, 1000 in the third.
        assert_eq!(answering.calls, 30);
        assert_eq!(answering.input_tokens, 30 * (80 + 20) + 10 * (500 + 1000));
        assert_eq!(answering.output_tokens, Some(30 * 300));
    }
}
