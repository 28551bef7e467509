//! Estimates the calls of judging stored answers, without asking a judge.

use std::fmt::Write as _;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::Tokenizer as _;
use evals_rag::estimate::Workload;
use evals_rag::qa::Reference;

use super::against::Against;
use super::stored::Stored;
use crate::choices;
use crate::models::ConfiguredModel;
use crate::question_answering::{
    JudgeRow, Judging, JudgingPlan, judge_rows, judging as judging_side,
};
use crate::settings::Resolved;
use crate::spending::dollars;

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
    let answers = answered().count() as u64;
    let references =
        || answered().filter_map(|(case, _)| Reference::for_judge(case.expected.as_ref()).ok());
    let passages = answered().flat_map(|(_, answer)| &answer.passages);
    let passages: u64 = passages.map(|passage| count(&passage.text)).sum();
    let workload = Workload {
        questions: answers,
        repeats: 1,
        question_tokens: answered().map(|(case, _)| count(&case.input)).sum(),
        judged: references().count() as u64,
        reference_tokens: references().map(count).sum(),
        passages: 1,
        passage_tokens: passages.div_ceil(answers.max(1)),
        context_tokens: None,
        agent_steps: None,
        answering: None,
        judging: judging_side(judging, plan, &*tokenizer)?,
    };
    let prices = choices::prices(resolved);
    let mut rows = judge_rows(judging, plan, &workload, &*tokenizer);
    if let Some(against) = against {
        let calls = against.calls(stored, plan, &count);
        let judges = plan.judges().map(ConfiguredModel::identity);
        rows.extend(judges.map(|model| JudgeRow {
            what: "pairs",
            model,
            calls,
        }));
    }
    let mut text = format!("{}\n", quantity::of(answers, "answer"));
    for row in &rows {
        text.push_str(&row.line(&prices));
    }
    if rows.iter().any(|row| row.calls.calls > 0) {
        let total = match JudgeRow::cost(&rows, &prices) {
            Some(total) => format!("at most {}", dollars(Some(total))),
            None => "cost unknown (a price or a `max_tokens` is missing)".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<10} {total}", "total");
    }
    text.push_str(
        "\nToken counts are approximate, because the embedded tokenizer counts them. Cached replies cost nothing.\n\
         The estimate excludes retries and repaired verdicts.\n",
    );
    Ok(text)
}
