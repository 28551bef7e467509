//! Estimates the calls of judging stored answers, without asking a judge.

use std::fmt::Write as _;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::Tokenizer as _;
use evals_rag::estimate::Workload;
use evals_rag::qa::Reference;
use evals_rag::rag_judges::{CallRange, JudgedCase, LastTurns};
use evals_rag::said_before;
use evals_settings::Resolved;

use super::against::Against;
use super::stored::Stored;
use crate::batches;
use crate::choices;
use crate::question_answering::{
    JudgeRow, Judging, JudgingPlan, judge_rows, judging as judging_side,
};

/// Renders the estimate for the answers of `stored`. All repetitions count, each with its own passages.
pub(super) fn text(
    stored: &Stored,
    judging: &Judging,
    plan: &JudgingPlan,
    against: Option<&Against>,
    resolved: &Resolved,
) -> Result<String> {
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    let count = |text: &str| tokenizer.count(text) as u64;
    let answered = || stored.answered();
    let cases = judged_cases(stored, &count);
    let given = || {
        let reports = answered().map(|(case, _)| case);
        let given = reports.zip(&cases).filter(|(_, it)| it.answer.is_some());
        given.map(|(case, _)| case)
    };
    let references =
        || given().filter_map(|case| Reference::for_judge(case.expected.as_ref()).ok());
    let workload = Workload {
        questions: cases.len() as u64,
        repeats: 1,
        question_tokens: cases.iter().map(|case| case.question.tokens).sum(),
        judged: references().count() as u64,
        reference_tokens: references().map(count).sum(),
        passages: 0,
        passage_tokens: 0,
        context_tokens: None,
        agent_steps: None,
        answering: None,
        judging: judging_side(judging, plan, &*tokenizer)?,
    };
    let prices = choices::prices(resolved);
    let mut rows = judge_rows(judging, plan, &workload, &cases, &*tokenizer);
    rows.extend(against.iter().flat_map(|against| {
        let calls = CallRange::exactly(against.calls(stored, plan, &count));
        plan.judges().map(move |judge| JudgeRow {
            what: "pairs",
            model: judge.identity(),
            calls,
        })
    }));
    let mut text = format!("{}\n", quantity::of(cases.len(), "answer"));
    text.extend(rows.iter().map(|row| row.line(&prices)));
    if JudgeRow::any_calls(&rows) {
        let total = JudgeRow::total(&rows, &prices);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<10} {total}", "total");
    }
    text.push_str(
        "\nToken counts are approximate, because the embedded tokenizer counts them. Cached replies cost nothing.\n\
         The estimate excludes retries and repaired verdicts.\n",
    );
    text.push_str(JudgeRow::assumptions(&rows));
    text.push_str(&batches::note(resolved));
    Ok(text)
}

/// The facts on which the number of calls about each answer depends.
fn judged_cases(stored: &Stored, count: &dyn Fn(&str) -> u64) -> Vec<JudgedCase> {
    let last_turns = LastTurns::of(stored.answered().map(|(case, _)| &case.metadata.0));
    let cases = stored.answered().map(|(case, answer)| {
        let said = said_before(&case.attributes);
        let ends = said.is_some() && last_turns.ends(&case.metadata.0);
        let asked = said.unwrap_or_default() + &case.input;
        JudgedCase::of((&asked, ends), case.expected.as_ref(), answer, count)
    });
    cases.collect()
}
