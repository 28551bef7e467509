//! Calls of models: their tokens and times, and how a case's report records them.

use std::time::Duration;

use evals::{CaseReport, Domain, TaskScope};
use evals_models::{ChatReply, Usage};

use crate::conversation::TURNS_JUDGED;

/// One call for an answer or a verdict, useful or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Tokens read and written; `None` for models that count none, such as the embedded ones.
    pub usage: Option<Usage>,
    /// The duration of the call, without queueing and failed attempts. For a stored reply, that of the original call.
    pub service_time: Duration,
    /// Whether the reply came from a store, at no cost.
    pub cached: bool,
    /// Whether the reply came in a batch, so that the call has no duration.
    pub batched: bool,
    /// Whether the judge signed the verdict of this reply with the nonce of its request; `None` if no verdict was read from it.
    pub verdict_is_signed: Option<bool>,
}

impl From<&ChatReply> for Call {
    fn from(reply: &ChatReply) -> Self {
        Self {
            usage: Some(reply.usage),
            service_time: reply.served.service_time,
            cached: reply.served.cached,
            batched: reply.served.batched,
            verdict_is_signed: None,
        }
    }
}

/// The attribute of a case that says whether its verdict, or one of several, was signed or unsigned.
fn of_verdict(is_signed: bool) -> &'static str {
    if is_signed {
        "judge verdict signed"
    } else {
        "judge verdict unsigned"
    }
}

/// How many of the cases with a verdict of a chat judge have one that the judge did not sign: `(unsigned, all)`.
pub fn unsigned_verdicts<D: Domain>(cases: &[CaseReport<D>]) -> (usize, usize) {
    let has = |case: &CaseReport<D>, is_signed| case.attributes.contains_key(of_verdict(is_signed));
    let unsigned = cases.iter().filter(|case| has(case, false)).count();
    let signed = cases.iter();
    let signed = signed.filter(|case| has(case, true) && !has(case, false));
    (unsigned, unsigned + signed.count())
}

/// The purpose of a call, which decides the names in a case's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The answerer: stage `generate`, metrics `input tokens` and `output tokens`.
    Answerer,
    /// The judge of equivalence: stage `judge`, metrics `judge input tokens` and `judge output tokens`.
    Judge,
    /// The judge of refusals: stage `judge refusal`, the same metrics as [`Purpose::Judge`].
    RefusalJudge,
    /// The reranker: stage `rerank`, metrics `rerank input tokens` and `rerank output tokens`.
    Reranker,
    /// The model that rewrites questions: stage `rewrite`, metrics `rewrite input tokens` and `rewrite output tokens`.
    Rewriter,
    /// The model that plays the user: stage `user`, metrics `user input tokens` and `user output tokens`.
    User,
}

impl Purpose {
    const ALL: [Self; 6] = [
        Self::Answerer,
        Self::Judge,
        Self::RefusalJudge,
        Self::Reranker,
        Self::Rewriter,
        Self::User,
    ];

    /// Whether the call asks a judge.
    pub fn is_judging(self) -> bool {
        match self {
            Self::Judge | Self::RefusalJudge => true,
            Self::Answerer | Self::Reranker | Self::Rewriter | Self::User => false,
        }
    }

    /// The purpose of the calls that a stage times; `None` if it times no calls.
    pub fn of_stage(stage: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.stage() == stage)
    }

    /// The purpose of the calls whose tokens a metric counts; both judges share one metric. `None` if it counts no tokens of
    /// calls.
    pub fn of_metric(metric: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|it| [it.input_tokens(), it.output_tokens()].contains(&metric))
    }

    /// The purpose of the calls that an attribute is about: whose tokens it marks as estimated, whose verdict as signed or unsigned, or who
    /// did not read all turns.
    pub fn of_attribute(attribute: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        let is_of_verdict =
            attribute == TURNS_JUDGED || [true, false].map(of_verdict).contains(&attribute);
        all.find(|it| it.estimated() == attribute)
            .or_else(|| is_of_verdict.then_some(Self::Judge))
    }

    /// The stage that times the calls.
    pub fn stage(self) -> &'static str {
        match self {
            Self::Answerer => "generate",
            Self::Judge => "judge",
            Self::RefusalJudge => "judge refusal",
            Self::Reranker => "rerank",
            Self::Rewriter => "rewrite",
            Self::User => "user",
        }
    }

    /// The metric that counts tokens read.
    pub fn input_tokens(self) -> &'static str {
        match self {
            Self::Answerer => "input tokens",
            Self::Judge | Self::RefusalJudge => "judge input tokens",
            Self::Reranker => "rerank input tokens",
            Self::Rewriter => "rewrite input tokens",
            Self::User => "user input tokens",
        }
    }

    /// The metric that counts tokens written.
    pub fn output_tokens(self) -> &'static str {
        match self {
            Self::Answerer => "output tokens",
            Self::Judge | Self::RefusalJudge => "judge output tokens",
            Self::Reranker => "rerank output tokens",
            Self::Rewriter => "rewrite output tokens",
            Self::User => "user output tokens",
        }
    }

    /// The attribute that is true if any token count is estimated.
    pub fn estimated(self) -> &'static str {
        match self {
            Self::Answerer => "tokens estimated",
            Self::Judge | Self::RefusalJudge => "judge tokens estimated",
            Self::Reranker => "rerank tokens estimated",
            Self::Rewriter => "rewrite tokens estimated",
            Self::User => "user tokens estimated",
        }
    }
}

/// Why a case with an answer from a batch is untimed.
const ANSWERED_IN_BATCH: &str = "answered in a batch";

/// Records calls in a case's report.
///
/// Tokens of stored replies count too: a report states the size of the work, no matter what a store already held. A call in a batch has
/// no timing, and a case whose answer came in one is [untimed](TaskScope::untimed).
pub fn record(calls: &[Call], role: Purpose, scope: &TaskScope) {
    for call in calls {
        if call.batched {
            // The wait for the batch is not the model's time, which the server does not tell.
            if role == Purpose::Answerer {
                scope.untimed(ANSWERED_IN_BATCH);
            }
        } else if call.cached {
            scope.cached_timing(role.stage(), call.service_time);
        } else {
            scope.timing(role.stage(), call.service_time);
        }
        if let Some(usage) = call.usage {
            record_usage(usage, role, scope);
        }
        if let Some(is_signed) = call.verdict_is_signed {
            scope.attribute(of_verdict(is_signed), true);
        }
    }
}

/// Adds tokens to the counts in a case's report.
pub(crate) fn record_usage(usage: Usage, role: Purpose, scope: &TaskScope) {
    scope.add_metric(role.input_tokens(), number(usage.input_tokens));
    scope.add_metric(role.output_tokens(), number(usage.output_tokens));
    if usage.estimated {
        scope.attribute(role.estimated(), true);
    }
}

/// Whether a count is left out of JSON.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Converts a count for a report; anything beyond 64 bits becomes the largest value.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to 2^53, which no count of a run reaches"
)]
pub(crate) fn number(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_a_batch_counts_its_tokens_and_has_no_time() {
        let reply = |batched: bool| Call {
            usage: Some(Usage {
                input_tokens: 5,
                output_tokens: 2,
                estimated: false,
            }),
            service_time: Duration::from_secs(u64::from(!batched)),
            cached: true,
            batched,
            verdict_is_signed: (!batched).then_some(true),
        };
        let scope = TaskScope::default();
        record(&[reply(true), reply(false)], Purpose::Judge, &scope);
        let recording = scope.take();
        assert_eq!(recording.timings.len(), 1);
        assert_eq!(recording.timings[0].duration, Duration::from_secs(1));
        assert_eq!(recording.metrics.get("judge input tokens"), Some(&10.0));
        let attributes: Vec<&String> = recording.attributes.keys().collect();
        assert_eq!(attributes, ["judge verdict signed"]);
        record(&[reply(true)], Purpose::Answerer, &scope);
        let recording = scope.take();
        assert!(recording.timings.is_empty());
        assert_eq!(recording.attributes["untimed"], "answered in a batch");
    }

    #[test]
    fn purposes_are_found_only_by_whole_names() {
        for purpose in Purpose::ALL {
            assert_eq!(Purpose::of_stage(purpose.stage()), Some(purpose));
            for metric in [purpose.input_tokens(), purpose.output_tokens()] {
                let found = Purpose::of_metric(metric).unwrap();
                assert_eq!(found.is_judging(), purpose.is_judging(), "{metric}");
            }
            let found = Purpose::of_attribute(purpose.estimated()).unwrap();
            assert_eq!(found.is_judging(), purpose.is_judging());
        }
        let turns = Purpose::of_attribute(TURNS_JUDGED);
        assert!(turns.is_some_and(Purpose::is_judging));
        for other in [
            "judgement lookup",
            "judges",
            "judge-llama",
            "judge tokens",
            "",
        ] {
            assert_eq!(Purpose::of_stage(other), None, "{other}");
            assert_eq!(Purpose::of_metric(other), None, "{other}");
            assert_eq!(Purpose::of_attribute(other), None, "{other}");
        }
    }
}
