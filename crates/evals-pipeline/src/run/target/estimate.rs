//! Estimates the calls of a run of a target without asking it.

use std::fmt::Write as _;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::Tokenizer;
use evals_rag::Question;
use evals_rag::estimate::{CallSize, Calls, Workload};
use evals_rag::rag_judges::CallRange;
use evals_rag::targets::{Conversations, History};

use super::TargetRun;
use crate::batches;
use crate::choices;
use crate::question_answering::calls::{ASSUMED, of_requests};
use crate::question_answering::{JudgeRow, foreseen, judge_rows, judging, references};
use crate::run_models::user::USER;

const TEXT: &str = "a string takes any text";

/// What to know about every estimate.
const EXCLUDED: &str = "
Token counts are approximate, because the embedded tokenizer counts them. Cached replies cost nothing.
The estimate excludes retries and repaired verdicts.
";
const SIMULATED: &str = "Requests, calls and tokens of the user are the most that `conversations.turns` allows, if no answer of the target is longer than a message may be.\n";
const WITHOUT_PASSAGES: &str = "It excludes the passages that the target will return and that judges read; many of them mean further calls.\n";

/// Renders the estimate of a run that has `resumed` replies already.
pub(super) fn text(run: TargetRun<'_>, resumed: usize) -> Result<String> {
    let TargetRun {
        arguments,
        plan,
        prepared,
        ..
    } = run;
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    let count = |text: &str| tokenizer.count(text) as u64;
    let questions = &prepared.questions;
    let judges = prepared.qa.as_ref().zip(plan.qa.as_ref());
    let judging =
        judges.map(|(models, judging_plan)| judging(&models.judging, judging_plan, &*tokenizer));
    let workload = workload(
        questions,
        arguments.control.repeat.get(),
        judging.transpose()?.flatten(),
        &count,
    );
    let asked = workload.questions.saturating_mul(workload.repeats);
    let mut text = format!("{}\n", quantity::of(asked, "question"));
    let identity = prepared.target.identity();
    let turns = plan.resolved.settings.conversations.turns.get();
    let user = playing(run, turns as u64, &*tokenizer)?;
    text.push_str(&asking(run, asked, resumed));
    let prices = choices::prices(&plan.resolved);
    let mut rows = Vec::new();
    if let Some((models, judging_plan)) = judges {
        let cases = foreseen(questions, &workload, turns, &count);
        let judging = &models.judging;
        rows = judge_rows(judging, judging_plan, &workload, &cases, &*tokenizer);
    }
    let assumptions = JudgeRow::assumptions(&rows);
    rows.extend(user);
    text.extend(rows.iter().map(|row| row.line(&prices)));
    if JudgeRow::any_calls(&rows) {
        let total = JudgeRow::total(&rows, &prices);
        let target = if identity.is_file() || !total.is_known() {
            ""
        } else {
            " and what the target costs"
        };
        writeln!(text, "{:<10} {total}{target}", "total").expect(TEXT);
    }
    text.push_str(EXCLUDED);
    if prepared.user.is_some() {
        text.push_str(SIMULATED);
    }
    text.push_str(assumptions);
    text.push_str(&batches::note(&plan.resolved));
    let further = plan.qa.as_ref().map(|judging| &judging.further.measures);
    if further.is_some_and(|measures| measures.iter().any(|it| it.needs_passages())) {
        text.push_str(WITHOUT_PASSAGES);
    }
    Ok(text)
}

/// What the run asks of its judges. The target answers at a cost that nobody knows.
fn workload(
    questions: &[Question],
    repeat: u32,
    judging: Option<CallSize>,
    count: &dyn Fn(&str) -> u64,
) -> Workload {
    let (judged, reference_tokens) = references(questions, count);
    Workload {
        questions: questions.len() as u64,
        repeats: u64::from(repeat),
        question_tokens: questions.iter().map(|question| count(&question.text)).sum(),
        judged,
        reference_tokens,
        passages: 0,
        passage_tokens: 0,
        context_tokens: None,
        agent_steps: None,
        answering: None,
        judging,
    }
}

/// The most calls of the model that plays users: one before each of their turns, except before a given first message.
fn playing(run: TargetRun<'_>, turns: u64, tokenizer: &dyn Tokenizer) -> Result<Option<JudgeRow>> {
    let Some((prompted, users)) = &run.prepared.user else {
        return Ok(None);
    };
    let calls = of_requests(users.requests(turns), prompted.max_tokens, tokenizer)?;
    // A call reads the message and the answer of each turn before it.
    let message = prompted
        .max_tokens
        .map_or(ASSUMED, |most| most.get().into());
    let turns_read = turns.saturating_mul(turns - 1) / 2;
    let said = turns_read.saturating_mul(2 * message);
    let said = said.saturating_mul(run.prepared.questions.len() as u64);
    let calls = Calls {
        input_tokens: calls.input_tokens.saturating_add(said),
        ..calls
    };
    let calls = calls.times(run.arguments.control.repeat.get().into());
    Ok(Some(JudgeRow {
        what: USER,
        model: prompted.model.identity().clone(),
        calls: CallRange::exactly(calls),
    }))
}

/// Says how many requests the target gets for `asked` questions. Empty for a file of answers, which costs nothing to read.
fn asking(run: TargetRun<'_>, asked: u64, resumed: usize) -> String {
    let TargetRun { plan, prepared, .. } = run;
    let target = prepared.target.identity();
    if target.is_file() {
        return String::new();
    }
    let repeats = u64::from(run.arguments.control.repeat.get());
    let (most, requests) = match plan.history {
        History::Gold => ("", asked),
        History::Live => {
            let before = Conversations::asked_before(&prepared.questions);
            ("", asked + before * repeats)
        }
        History::Simulated => {
            let turns = plan.resolved.settings.conversations.turns.get() as u64;
            ("at most ", asked.saturating_mul(turns))
        }
    };
    let recorded = match resumed {
        0 => String::new(),
        resumed => format!(", {resumed} of them recorded already"),
    };
    let requests = quantity::of(requests, "request");
    format!(
        "{:<10} {target}: {most}{requests}{recorded}, cost unknown\n",
        "asking"
    )
}
