//! Estimates the calls of judges, for `run` and `rejudge`.

use anyhow::Result;
use evals_models::{ModelIdentity, Tokenizer};
use evals_rag::estimate::{Calls, Estimate, Side, Workload};
use evals_rag::judging::Judged;
use evals_rag::prices::Prices;
use evals_rag::rag_judges::{JudgeCalls, JudgedWork};

use super::calls::{line, side};
use super::judging::{Judging, JudgingPlan};

/// The calls of one judge for one purpose.
#[derive(Debug, Clone)]
pub(crate) struct JudgeRow {
    /// `judging`, `refusals` or `judges`.
    pub(crate) what: &'static str,
    pub(crate) model: ModelIdentity,
    pub(crate) calls: Calls,
}

impl JudgeRow {
    /// The row as a line of an estimate.
    pub(crate) fn line(&self, prices: &Prices) -> String {
        let calls = line(&self.calls, prices.of(&self.model));
        format!("{:<10} {}: {calls}\n", self.what, self.model)
    }

    /// The cost of rows in USD; `None` if any price or limit is unknown.
    pub(crate) fn cost(rows: &[Self], prices: &Prices) -> Option<f64> {
        let paid = rows.iter().filter(|row| row.calls.calls > 0);
        let costs = paid.map(|row| row.calls.cost(&prices.of(&row.model)));
        costs.sum()
    }
}

/// The size of each call that compares an answer with its reference; `None` if no chat model judges.
pub(crate) fn judging(
    judging: &Judging,
    plan: &JudgingPlan,
    tokenizer: &dyn Tokenizer,
) -> Result<Option<Side>> {
    let Some(chat) = &judging.chat else {
        return Ok(None);
    };
    let request = chat.request(Judged {
        question: "",
        reference: "",
        answerable: true,
        answer: "",
        refused: false,
        repeat: 1,
    })?;
    Ok(Some(side(
        &request,
        plan.judge.settings.max_tokens,
        tokenizer,
    )))
}

/// The calls of every judge: for comparisons with references, for refusals, and for the further judges.
pub(crate) fn judge_rows(
    judging: &Judging,
    plan: &JudgingPlan,
    workload: &Workload,
    tokenizer: &dyn Tokenizer,
) -> Vec<JudgeRow> {
    let estimate = Estimate::of(workload);
    let first = judging.judge.identity();
    let others = judging.further.iter().flat_map(|further| &further.others);
    let models = std::iter::once(first).chain(others.map(|model| model.identity()));
    let models: Vec<&ModelIdentity> = models.collect();
    let row = |what, model: &ModelIdentity, calls| JudgeRow {
        what,
        model: model.clone(),
        calls,
    };
    let repeats = u64::from(plan.further.repeats.get());
    let compared = estimate.judging.times(repeats);
    let mut rows: Vec<JudgeRow> = models
        .iter()
        .map(|model| row("judging", model, compared))
        .collect();
    let refusals = refusals(judging, workload, &estimate);
    if refusals.calls > 0 {
        rows.push(row("refusals", first, refusals));
    }
    let further = further(plan, workload, tokenizer);
    for (place, model) in models.iter().enumerate() {
        let calls = further.of_judge(place == 0, repeats);
        if calls.calls > 0 {
            rows.push(row("judges", model, calls));
        }
    }
    rows
}

/// The calls of the further judges for one vote.
fn further(plan: &JudgingPlan, workload: &Workload, tokenizer: &dyn Tokenizer) -> JudgeCalls {
    let mean = |tokens: u64, of: u64| tokens.div_ceil(of.max(1));
    let passages = workload.passages.saturating_mul(workload.passage_tokens);
    let passages = workload
        .context_tokens
        .map_or(passages, |most| passages.min(most));
    let work = JudgedWork {
        with_reference: workload.judged.saturating_mul(workload.repeats),
        cases: workload.questions.saturating_mul(workload.repeats),
        question_tokens: mean(workload.question_tokens, workload.questions),
        reference_tokens: mean(workload.reference_tokens, workload.judged),
        passage_tokens: passages,
        context_tokens: plan.further.context_tokens.get() as u64,
        max_tokens: plan.judge.settings.max_tokens.map(|most| most.get().into()),
    };
    let count = |text: &str| tokenizer.count(text) as u64;
    let further = &plan.further;
    JudgeCalls::of(
        &further.measures,
        further.rubrics.len(),
        &plan.prompts.judges,
        &work,
        &count,
    )
}

/// The calls that ask the judge whether an answer refuses: one for each answer, about as long as a call for a verdict.
fn refusals(judging: &Judging, workload: &Workload, estimate: &Estimate) -> Calls {
    if judging.refusals.is_none() || workload.judged == 0 {
        return Calls::NONE;
    }
    let share = |tokens: u64| {
        let per_call = tokens.div_ceil(estimate.judging.calls.max(1));
        per_call.saturating_mul(workload.questions.saturating_mul(workload.repeats))
    };
    Calls {
        calls: workload.questions.saturating_mul(workload.repeats),
        input_tokens: share(estimate.judging.input_tokens),
        output_tokens: estimate.judging.output_tokens.map(share),
    }
}
