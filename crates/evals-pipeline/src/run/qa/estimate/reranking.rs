//! Estimates the calls, tokens and cost of reranking without asking a reranker.

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::{ModelIdentity, Usage};
use evals_rag::estimate::{Calls, Workload};
use evals_rag::prices::Price;

use crate::question_answering::calls::{Total, line, side};
use crate::run::plan::answers::QaPlan;
use crate::run::preparation::Run;
use crate::run_models::reranker::{Asking, Reranking};
use crate::spending::dollars;

/// The work of a reranker for all questions of a run.
pub(super) enum RerankingWork {
    /// Pairs that a model in this process scores.
    InProcess { pairs: u64 },
    /// Requests to a server with pairs of question and passage, and the tokens of all pairs.
    Requests {
        requests: u64,
        pairs: u64,
        tokens: u64,
    },
    /// Calls of a chat model.
    Calls(Calls),
}

impl RerankingWork {
    /// Each question is reranked once for each reranking profile and repetition.
    pub(super) fn of(
        run: Run<'_>,
        qa: &QaPlan,
        reranking: &Reranking,
        workload: &Workload,
    ) -> Result<Self> {
        let documents = run.prepared.ready.statistics.documents;
        let texts = reranking.candidates.get().min(documents);
        let times = workload.repeats.saturating_mul(profiles(run, qa));
        let asked = workload.questions.saturating_mul(times);
        let pairs = asked.saturating_mul(texts as u64);
        let question = workload.question_tokens.div_ceil(workload.questions.max(1));
        let pair = question.saturating_add(workload.passage_tokens);
        Ok(match &reranking.asking {
            Asking::InProcess => Self::InProcess { pairs },
            Asking::Requests(most) => Self::Requests {
                requests: asked.saturating_mul(texts.div_ceil(most.get()) as u64),
                pairs,
                tokens: pairs.saturating_mul(pair),
            },
            Asking::Pointwise(reranker) => {
                let request = reranker.request("", "", 1)?;
                let each = Each {
                    calls: texts as u64,
                    passages: texts as u64,
                };
                Self::Calls(each.calls(run, &request, asked, question, workload))
            }
            Asking::Listwise(reranker) => {
                let request = reranker.request("", &[], 1)?;
                let shown = reranker.calls(texts);
                let each = Each {
                    calls: shown.len() as u64,
                    passages: shown.iter().sum::<usize>() as u64,
                };
                Self::Calls(each.calls(run, &request, asked, question, workload))
            }
        })
    }

    /// Whether reranking may cost money.
    pub(super) fn is_paid(&self) -> bool {
        match self {
            Self::InProcess { .. } => false,
            Self::Requests { requests, .. } => *requests > 0,
            Self::Calls(calls) => calls.calls > 0,
        }
    }

    /// Adds the highest cost of the work.
    pub(super) fn add_to(&self, total: &mut Total, price: Price) {
        match self {
            Self::InProcess { .. } | Self::Requests { requests: 0, .. } => {}
            Self::Requests { tokens, .. } => total.add_cost(reading(price, *tokens)),
            Self::Calls(calls) => total.add(calls, &price),
        }
    }

    /// Describes the work in one line.
    pub(super) fn line(&self, model: &ModelIdentity, price: Price) -> String {
        match self {
            Self::InProcess { pairs } => {
                let pairs = quantity::of(*pairs, "pair");
                format!("{pairs} scored in this process, no LLM")
            }
            Self::Requests {
                requests,
                pairs,
                tokens,
            } => format!(
                "{} with {}, about {tokens} input tokens, {}",
                quantity::of(*requests, "request"),
                quantity::of(*pairs, "pair"),
                dollars(reading(price, *tokens))
            ),
            Self::Calls(calls) => line(calls, model, price),
        }
    }
}

/// The cost of reading tokens, in USD.
fn reading(price: Price, tokens: u64) -> Option<f64> {
    price.cost(Usage {
        input_tokens: tokens,
        output_tokens: 0,
        estimated: true,
    })
}

/// The calls of a chat model for one question.
struct Each {
    calls: u64,
    /// Passages in all calls together.
    passages: u64,
}

impl Each {
    fn calls(
        &self,
        run: Run<'_>,
        request: &evals_models::ChatRequest,
        asked: u64,
        question: u64,
        workload: &Workload,
    ) -> Calls {
        let model = run.plan.resolved.settings.reranking.model.as_ref();
        let max_tokens = model.and_then(|model| model.chat()?.max_tokens());
        let tokenizer = StaticEmbedder::static_minilm().tokenizer();
        let side = side(request, max_tokens, &*tokenizer);
        let calls = asked.saturating_mul(self.calls);
        let fixed = calls.saturating_mul(side.prompt_tokens.saturating_add(question));
        let passages = asked.saturating_mul(self.passages);
        let passages = passages.saturating_mul(workload.passage_tokens);
        Calls {
            calls,
            input_tokens: fixed.saturating_add(passages),
            output_tokens: side.max_tokens.map(|most| most.saturating_mul(calls)),
        }
    }
}

/// The number of profiles that rerank. Both benchmarks share the calls of a profile.
fn profiles(run: Run<'_>, qa: &QaPlan) -> u64 {
    let mut profiles: Vec<_> = if run.plan.retrieval {
        run.plan.profiles.clone()
    } else {
        Vec::new()
    };
    if !profiles.contains(&qa.profile) {
        profiles.push(qa.profile);
    }
    profiles.iter().filter(|profile| profile.rerank).count() as u64
}
