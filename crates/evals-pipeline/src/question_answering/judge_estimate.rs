//! Estimates the calls of judges, for `run` and `rejudge`.

use anyhow::Result;
use evals_models::{ModelIdentity, Tokenizer};
use evals_rag::Question;
use evals_rag::estimate::{CallSize, Calls, Estimate, Workload};
use evals_rag::judging::Judged;
use evals_rag::prices::Prices;
use evals_rag::qa::Reference;
use evals_rag::rag_judges::{
    CallRange, JudgeCalls, JudgeLimits, JudgedCase, LastTurns, NuggetBank, TextSize,
};

use super::calls::{Total, range_line, side};
use super::judging::{Judging, JudgingPlan};

/// The calls of one judge for one purpose, or of the model that plays users.
#[derive(Debug, Clone)]
pub(crate) struct JudgeRow {
    /// `judging`, `refusals`, `judges`, `pairs` or `user`.
    pub(crate) what: &'static str,
    pub(crate) model: ModelIdentity,
    pub(crate) calls: CallRange,
}

impl JudgeRow {
    /// The row as a line of an estimate.
    pub(crate) fn line(&self, prices: &Prices) -> String {
        let calls = range_line(&self.calls, &self.model, prices.of(&self.model));
        format!("{:<10} {}: {calls}\n", self.what, self.model)
    }

    /// Whether a judge may be asked at all.
    pub(crate) fn any_calls(rows: &[Self]) -> bool {
        rows.iter().any(|row| row.calls.most.calls > 0)
    }

    /// The cost of the most calls of rows.
    pub(crate) fn total(rows: &[Self], prices: &Prices) -> Total {
        let mut total = Total::default();
        for row in rows {
            total.add(&row.calls.most, &prices.of(&row.model));
        }
        total
    }

    /// What the ranges of `rows` assume, as lines below an estimate; empty if there is none.
    pub(crate) fn assumptions(rows: &[Self]) -> &'static str {
        if rows.iter().all(|row| row.calls.fewest == row.calls.most) {
            return "";
        }
        "The fewest calls of judges assume that every request holds its texts, that no answer refuses, and that it makes a claim.\n\
         The most assume 100 claims for each text, and requests and replies at their limits.\n"
    }
}

/// The questions with a text that answers are compared with, and the tokens of these texts.
pub(crate) fn references(questions: &[Question], count: &dyn Fn(&str) -> u64) -> (u64, u64) {
    let tokens = questions.iter().filter_map(|question| {
        let accepted = question.accepted.iter().map(|text| count(text));
        Some(count(Reference::of_question(question).ok()?) + accepted.sum::<u64>())
    });
    tokens.fold((0, 0), |(number, sum), tokens| (number + 1, sum + tokens))
}

/// The facts about the cases of a run before it starts: one for each question.
///
/// An answer is taken to be as long as its reference, and at most as long as a reply of the answerer. An agent shows at most as many passages
/// as all its steps find. The history of a question has at most the last `turns` turns. In the conversation of a simulated user, a message is
/// taken to be as long as the goal, and an answer as long as the reference.
pub(crate) fn foreseen(
    questions: &[Question],
    workload: &Workload,
    turns: usize,
    count: &dyn Fn(&str) -> u64,
) -> Vec<JudgedCase> {
    let found = workload.passages.saturating_mul(workload.passage_tokens);
    let most = workload.context_tokens.unwrap_or(found);
    let steps = workload.agent_steps.unwrap_or(1);
    let texts = TextSize::about(found.min(most), most.saturating_mul(steps));
    // A target's passages are not known, but it is to return some.
    let number = workload.passages.saturating_mul(steps).max(1);
    let written = workload.answering.and_then(|side| side.max_tokens);
    let last_turns = LastTurns::of(questions.iter().map(|question| &question.metadata));
    let case = |question: &Question| {
        let reference = question.answer.as_deref();
        let reference = reference.map(|text| TextSize::of(text, count));
        let tokens = reference.map_or(0, |text| text.tokens);
        let asked = TextSize::of(&question.in_conversation(turns), count);
        let simulated = question.user.as_ref().map_or(TextSize::default(), |_| {
            let turn = asked.tokens.saturating_add(tokens);
            TextSize::about(turn, turn.saturating_mul(turns as u64))
        });
        let told = question.user.is_some() || !question.last_turns(turns).is_empty();
        let answer = question.answer.as_deref();
        let nuggets = NuggetBank::of(&question.nuggets, answer, &question.evidence);
        JudgedCase {
            answerable: question.answerable,
            question: asked.plus(simulated),
            reference,
            nuggets: nuggets.map(|bank| bank.size(count)),
            ends_conversation: told && last_turns.ends(&question.metadata),
            answer: Some(TextSize::about(tokens, written.unwrap_or(tokens))),
            refused: false,
            cited_sentences: JudgedCase::MOST_SENTENCES,
            passages: Some((number, texts)),
        }
    };
    questions.iter().map(case).collect()
}

/// The size of each call that compares an answer with its reference; `None` if no chat model judges.
pub(crate) fn judging(
    judging: &Judging,
    plan: &JudgingPlan,
    tokenizer: &dyn Tokenizer,
) -> Result<Option<CallSize>> {
    let Some(chat) = &judging.chat else {
        return Ok(None);
    };
    let request = chat.request(Judged {
        question: "",
        reference: "",
        accepted: &[],
        answerable: true,
        answer: "",
        refused: false,
        repeat: 1,
    })?;
    Ok(Some(side(
        &request,
        plan.judge.settings.max_tokens(),
        tokenizer,
    )))
}

/// The calls of every judge about `cases`: for comparisons with references, for refusals, and for the further judges.
pub(crate) fn judge_rows(
    judging: &Judging,
    plan: &JudgingPlan,
    workload: &Workload,
    cases: &[JudgedCase],
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
    let compared = CallRange::exactly(estimate.judging.times(repeats));
    let mut rows: Vec<JudgeRow> = models
        .iter()
        .map(|model| row("judging", model, compared))
        .collect();
    let refusals = refusals(judging, workload, cases, &estimate);
    if refusals.calls > 0 {
        rows.push(row("refusals", first, CallRange::exactly(refusals)));
    }
    let further = further(plan, cases, tokenizer).times(workload.repeats);
    for (place, model) in models.iter().enumerate() {
        let calls = further.of_judge(place == 0, repeats);
        if calls.most.calls > 0 {
            rows.push(row("judges", model, calls));
        }
    }
    rows
}

/// The calls of the further judges for one vote.
fn further(plan: &JudgingPlan, cases: &[JudgedCase], tokenizer: &dyn Tokenizer) -> JudgeCalls {
    let limits = JudgeLimits {
        context_tokens: plan.further.context_tokens.get() as u64,
        max_tokens: plan
            .judge
            .settings
            .max_tokens()
            .map(|most| most.get().into()),
    };
    let count = |text: &str| tokenizer.count(text) as u64;
    let further = &plan.further;
    let rubrics = further.rubrics.iter().map(|planned| planned.sees_reference);
    let rubrics: Vec<bool> = rubrics.collect();
    let templates = &plan.prompts.judges;
    JudgeCalls::of(
        &further.measures,
        &rubrics,
        templates,
        cases,
        limits,
        &count,
    )
}

/// The calls that ask the judge whether an answer refuses: one for each answer that is not known to, about as long as a call for a verdict.
fn refusals(
    judging: &Judging,
    workload: &Workload,
    cases: &[JudgedCase],
    estimate: &Estimate,
) -> Calls {
    if judging.refusals.is_none() || workload.judged == 0 {
        return Calls::NONE;
    }
    let asked = cases.iter().filter(|it| it.answer.is_some() && !it.refused);
    let calls = (asked.count() as u64).saturating_mul(workload.repeats);
    let share = |tokens: u64| {
        let per_call = tokens.div_ceil(estimate.judging.calls.max(1));
        per_call.saturating_mul(calls)
    };
    Calls {
        calls,
        input_tokens: share(estimate.judging.input_tokens),
        output_tokens: estimate.judging.output_tokens.map(share),
    }
}
