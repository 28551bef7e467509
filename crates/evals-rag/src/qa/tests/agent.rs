//! The task of an agent, and how far it came.

use std::collections::BTreeMap;

use evals_models::{ChatReply, ToolCall};

use super::*;
use crate::answering::AgentAnswerer;
use crate::{Retrieved, SearchError, Searcher};

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
    let task = agent_task(Arc::new(FoundPassages(found)), agent, settings);
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

/// Searches as [`FoundPassages`] does, and takes as long as told.
#[derive(Debug)]
struct Slow(FoundPassages, Duration);

#[async_trait::async_trait]
impl Searcher for Slow {
    fn profile(&self) -> &str {
        self.0.profile()
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        std::thread::sleep(self.1);
        self.0.search(question, k).await
    }
}

#[tokio::test]
async fn the_time_of_an_agents_case_has_no_wait_for_a_turn_beside_batches() {
    // With batches all cases run at once, and the direct calls of their agents wait for each other.
    let (wait, search) = (Duration::from_millis(300), Duration::from_millis(100));
    for replies in [
        vec![searching("one"), said("Paris [2].")],
        // The second reply answers nothing.
        vec![searching("one"), said("")],
    ] {
        let model = Late(Scripted::new(replies), wait, false);
        let agent = AgentAnswerer::new(Arc::new(model), Refusals::default());
        let searcher = Slow(FoundPassages(passages()), search);
        let task = agent_task(Arc::new(searcher), agent, batched());
        let dataset = dataset("demo", [question("q", true)]).unwrap();
        let began = std::time::Instant::now();
        let report = Experiment::new(dataset, task).run().await;
        let (whole, counted) = (began.elapsed(), report.cases[0].duration);
        let calls = Duration::from_millis(2);
        assert!(
            counted + 2 * wait <= whole + calls,
            "{counted:?} of {whole:?}"
        );
        assert!(counted >= search + calls, "{counted:?} has the search");
    }
}

#[tokio::test]
async fn an_answer_from_given_passages_has_no_breakdown() {
    let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![Arc::new(Breakdown)];
    let report = run(&Scripted::new([said("Paris [2].")]), true, evaluators).await;
    assert!(report.cases[0].outcomes.is_empty());
    assert!(report.cases[0].evaluator_failures.is_empty());
}
