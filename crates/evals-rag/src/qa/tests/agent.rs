//! The task of an agent, and how far it came.

use std::collections::BTreeMap;

use evals_models::{ChatReply, ToolCall};

use super::*;
use crate::answering::AgentAnswerer;

fn searching(query: &str) -> ChatReply {
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "search".to_owned(),
        arguments: serde_json::json!({"query": query}).to_string(),
    };
    ChatReply {
        tool_calls: vec![call],
        ..said("")
    }
}

async fn agent<const N: usize>(
    replies: [ChatReply; N],
    found: Vec<Passage>,
    answerable: bool,
) -> Report<Qa> {
    let agent = AgentAnswerer::new(Scripted::new(replies), Refusals::default());
    let settings = Settings::new(NonZeroUsize::new(3).unwrap());
    let task = agent_task(Arc::new(Found(found)), agent, settings);
    let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![Arc::new(Breakdown)];
    let dataset = dataset("demo", [question("q", answerable)]).unwrap();
    Experiment::new(dataset.with_evaluators(evaluators), task)
        .run()
        .await
}

fn breakdown(report: &Report<Qa>) -> String {
    let outcome = &report.cases[0].outcomes[0];
    match &outcome.value {
        Value::Label(label) => label.clone(),
        _ => format!("{outcome:?}"),
    }
}

#[tokio::test]
async fn an_agents_searches_become_the_case() {
    let replies = [searching("one"), searching("two"), said("Paris [2].")];
    let report = agent(replies, passages(), true).await;
    let case = &report.cases[0];
    let answer = case.result.output().unwrap();
    assert_eq!(answer.searches.as_deref().unwrap(), ["one", "two"]);
    assert_eq!(answer.citations, ["b"]);
    assert_eq!(answer.passages, passages()[..3]);
    assert_eq!(answer.ranking.len(), 3);
    assert_eq!(answer.ranking.iter().next().unwrap().id, "a");
    let expected = BTreeMap::from(
        [
            ("context passages", 3.0),
            ("searches", 2.0),
            ("input tokens", 300.0),
            ("output tokens", 30.0),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    );
    assert_eq!(case.metrics, expected);
    assert_eq!(case.spans.as_ref().unwrap().roots.len(), 5);
    let read: Answer = serde_json::from_str(&serde_json::to_string(answer).unwrap()).unwrap();
    assert_eq!(read, *answer);
}

#[tokio::test]
async fn the_breakdown_tells_how_far_an_agent_came() {
    let only_rome = vec![passage("a", "Rome.")];
    let cases = [
        (
            agent([said("Paris.")], passages(), true).await,
            "never searched",
        ),
        (
            agent([searching("x"), said("Rome [1].")], only_rome, true).await,
            "not found",
        ),
        (
            agent([searching("x"), said("Rome [1].")], passages(), true).await,
            "not used",
        ),
        (
            agent([searching("x"), said("Paris [2].")], passages(), true).await,
            "used",
        ),
    ];
    for (report, expected) in cases {
        assert_eq!(breakdown(&report), expected);
    }
    let report = agent([said("Paris.")], passages(), false).await;
    assert!(
        breakdown(&report).contains("unanswerable"),
        "{}",
        breakdown(&report)
    );
}

#[tokio::test]
async fn an_answer_from_given_passages_has_no_breakdown() {
    let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![Arc::new(Breakdown)];
    let report = run(&Scripted::new([said("Paris [2].")]), true, evaluators).await;
    assert!(report.cases[0].outcomes.is_empty());
    assert!(report.cases[0].evaluator_failures.is_empty());
}
