//! Estimates the calls, tokens and cost of a run without asking a chat model.

mod reranking;

use std::fmt::Write as _;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::{ModelIdentity, Tokenizer};
use evals_rag::estimate::{CallSize, Calls, Estimate, Workload};
use evals_rag::{Queries, Searcher};

use self::reranking::RerankingWork;
use crate::batches;
use crate::choices;
use crate::question_answering::calls::{line, of_requests, side};
use crate::question_answering::{Answering, JudgeRow, foreseen, judge_rows, judging, references};
use crate::run::plan::answers::QaPlan;
use crate::run::preparation::{Prepared, QaModels, Run};

const TEXT: &str = "a string takes any text";

const EXCLUDED: &str = "\nToken counts are approximate, because the embedded tokenizer counts them. Cached replies cost nothing.\n\
                        The estimate excludes retries, repaired verdicts and embeddings.\n";

/// Questions that are searched to estimate the length of passages.
const SAMPLE: usize = 20;

/// Renders the estimate.
pub(super) async fn text(
    run: Run<'_>,
    qa: &QaPlan,
    models: &QaModels,
    searcher: &dyn Searcher,
) -> Result<String> {
    let Run { plan, prepared, .. } = run;
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    let count = |text: &str| tokenizer.count(text) as u64;
    let workload = workload(run, qa, models, searcher, &*tokenizer).await?;
    let estimate = Estimate::of(&workload);
    let turns = plan.resolved.settings.turns_read();
    let cases = foreseen(&prepared.questions, &workload, turns, &count);
    let rows = judge_rows(&models.judging, &qa.judging, &workload, &cases, &*tokenizer);
    let prices = choices::prices(&plan.resolved);
    let mut text = format!(
        "{}, {} of about {} each\n",
        quantity::of(workload.questions * workload.repeats, "question"),
        quantity::of(workload.passages, "passage"),
        quantity::of(workload.passage_tokens, "token")
    );
    let identities = &models.model_set.models;
    let mut total = JudgeRow::total(&rows, &prices);
    let answering = identities.get("answerer");
    let answering = answering.map(|model| ("answering", model, estimate.answering));
    let mut is_asked = JudgeRow::any_calls(&rows);
    let rewriting = rewriting(run, workload.repeats, &*tokenizer)?;
    for (what, model, calls) in answering.into_iter().chain(rewriting) {
        let price = prices.of(model);
        let line = line(&calls, model, price);
        writeln!(text, "{what:<10} {model}: {line}").expect(TEXT);
        total.add(&calls, &price);
        is_asked |= calls.calls > 0;
    }
    text.extend(rows.iter().map(|row| row.line(&prices)));
    let reranking = match &prepared.reranking {
        Some(reranking) if identities.contains_key("reranker") => {
            let work = RerankingWork::of(run, qa, reranking, &workload)?;
            let price = prices.of(reranking.identity());
            let reranker = reranking.identity();
            let line = work.line(reranker, price);
            writeln!(text, "{:<10} {reranker}: {line}", "reranking").expect(TEXT);
            work.add_to(&mut total, price);
            work.is_paid()
        }
        _ => false,
    };
    if reranking || is_asked {
        writeln!(text, "{:<10} {total}", "total").expect(TEXT);
    }
    text.push_str(EXCLUDED);
    text.push_str(JudgeRow::assumptions(&rows));
    text.push_str(&batches::note(&plan.resolved));
    Ok(text)
}

/// The model that rewrites questions and its calls: one for each question with earlier turns and repetition, which both benchmarks share.
fn rewriting<'r>(
    run: Run<'r>,
    repeats: u64,
    tokenizer: &dyn Tokenizer,
) -> Result<Option<(&'static str, &'r ModelIdentity, Calls)>> {
    let prepared = run.prepared;
    let (Some(rewriting), Queries::Rewritten(rewriter)) = (&prepared.rewriting, &prepared.queries)
    else {
        return Ok(None);
    };
    let requests = rewriter.requests().map(|request| Ok((1, request?)));
    let calls = of_requests(requests, rewriting.max_tokens, tokenizer)?;
    let model = rewriting.model.identity();
    Ok(Some(("rewriting", model, calls.times(repeats))))
}

/// What the run will ask of its models.
async fn workload(
    run: Run<'_>,
    qa: &QaPlan,
    models: &QaModels,
    searcher: &dyn Searcher,
    tokenizer: &dyn Tokenizer,
) -> Result<Workload> {
    let count = |text: &str| tokenizer.count(text) as u64;
    let questions = &run.prepared.questions;
    let (judged, reference_tokens) = references(questions, &count);
    let agent = models.answering.agent.as_ref();
    Ok(Workload {
        questions: questions.len() as u64,
        repeats: u64::from(run.arguments.control.repeat.get()),
        question_tokens: questions.iter().map(|question| count(&question.text)).sum(),
        judged,
        reference_tokens,
        passages: qa.passages.get() as u64,
        passage_tokens: passage_tokens(run.prepared, qa, searcher, tokenizer).await?,
        context_tokens: Some(qa.context_tokens.get() as u64),
        agent_steps: agent.map(|agent| u64::from(agent.steps().get())),
        answering: answering(&models.answering, qa, tokenizer)?,
        judging: judging(&models.judging, &qa.judging, tokenizer)?,
    })
}

/// The mean length of the passages of the first questions, rounded up.
async fn passage_tokens(
    prepared: &Prepared,
    qa: &QaPlan,
    searcher: &dyn Searcher,
    tokenizer: &dyn Tokenizer,
) -> Result<u64> {
    let (mut tokens, mut passages) = (0_u64, 0_u64);
    for question in prepared.questions.iter().take(SAMPLE) {
        let retrieved = searcher.search(&question.text, qa.passages.get()).await?;
        for passage in &retrieved.passages {
            let title = passage.title.as_deref().unwrap_or_default();
            tokens += (tokenizer.count(title) + tokenizer.count(&passage.text)) as u64;
            passages += 1;
        }
    }
    // Neighbours on either side are about as long as the passage.
    let chunks = qa.radius.map_or(1, |radius| {
        u64::from(radius.get()).saturating_mul(2).saturating_add(1)
    });
    Ok(tokens.div_ceil(passages.max(1)).saturating_mul(chunks))
}

fn answering(
    answering: &Answering,
    qa: &QaPlan,
    tokenizer: &dyn Tokenizer,
) -> Result<Option<CallSize>> {
    let Some(chat) = &answering.chat else {
        return Ok(None);
    };
    let request = match &answering.agent {
        Some(agent) => agent.request("", 1)?,
        None => chat.request("", &[], 1)?,
    };
    Ok(Some(side(
        &request,
        qa.answerer.settings.max_tokens(),
        tokenizer,
    )))
}
