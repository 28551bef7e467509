//! Tests of which measures a failure counts for.

use evals::{Accuracy, Summary, TaskError, TaskScope};
use evals_metrics::Bootstrap;

use super::*;
use crate::answering::Answered;
use crate::judging::OverlapJudge;

/// Runs `questions` through a task that refuses, or fails where the id ends with `!`.
async fn of_questions(
    questions: impl IntoIterator<Item = Question>,
    text: &'static str,
    evaluators: Vec<Arc<dyn Evaluator<Qa>>>,
) -> Summary {
    let task = move |case: Arc<Case<Qa>>, _: TaskScope| async move {
        if case.id.as_str().ends_with('!') {
            return Err(TaskError::new("gone"));
        }
        let answered = Answered {
            text: text.to_owned(),
            refused: Refusals::default().refuses(text),
            finish: Finish::Stop,
            calls: Vec::new(),
        };
        Ok(Answer::new(answered, passages(), Ranking::default()))
    };
    let dataset = dataset("demo", questions).unwrap();
    let experiment = Experiment::new(dataset.with_evaluators(evaluators), task);
    let report = experiment.concurrency(NonZeroUsize::MIN).run().await;
    report.summary(&Bootstrap::default())
}

fn accuracy<'s>(summary: &'s Summary, name: &str) -> &'s Accuracy {
    let mut named = summary.accuracy.iter();
    let (_, accuracy) = named.find(|(title, _)| title == name).unwrap();
    accuracy
}

#[tokio::test]
async fn refusal_recall_counts_only_unanswerable_questions() {
    // 4 of 20 questions are unanswerable. The judge fails for 2 of these and for 5 of the others.
    let questions = (0..20).map(|number| question(&format!("q{number:02}"), number >= 4));
    let verdict = || said(r#"{"reason": "declines", "pass": true}"#);
    let unreadable = || [said("?"), said("?")];
    let replies = [verdict(), verdict()].into_iter();
    let replies = replies.chain((0..7).flat_map(|_| unreadable()));
    let judge = Scripted::new(replies.chain((0..11).map(|_| verdict())));
    let refusal = Refusal::new().judge(RefusalJudge::new(judge), RagJudges::CONTEXT_TOKENS);
    let summary = of_questions(questions, "Who knows.", vec![Arc::new(refusal)]).await;

    let recall = accuracy(&summary, Refusal::RECALL);
    let shares = [
        recall.worst,
        recall.scored.value,
        recall.best,
        recall.coverage,
    ];
    assert_eq!(shares, [0.5, 1.0, 1.0, 0.5].map(Some));
    assert_eq!(
        (recall.cases, recall.judge_failures, recall.undefined),
        (4, 2, 16)
    );
    let precision = accuracy(&summary, Refusal::PRECISION);
    assert_eq!(
        (precision.passed, precision.failed, precision.undefined),
        (2, 11, 7)
    );
    assert!(precision.is_complete());
    assert_eq!(precision.scored.excluded["not known whether it refuses"], 7);
    assert_eq!(summary.evaluator_failures, 7);
}

#[tokio::test]
async fn a_failed_task_counts_for_the_measures_of_its_question() {
    let unanswerable = question("b!", false);
    let mut without_reference = question("c!", true);
    without_reference.answer = None;
    let mut with_number = question("d!", true);
    with_number.answer = Some("in 1889".to_owned());
    let questions = [
        question("a!", true),
        unanswerable,
        without_reference,
        with_number,
    ];
    let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![
        Arc::new(Equivalence::new(Arc::new(OverlapJudge::default()))),
        Arc::new(CiteRate),
        Arc::new(Refusal::new()),
        Arc::new(ExactMatch),
        Arc::new(TokenF1),
        Arc::new(NumberMatch),
    ];
    let summary = of_questions(questions, "Paris", evaluators).await;
    let failures: Vec<_> = summary
        .accuracy
        .iter()
        .map(|(name, accuracy)| (name.as_str(), accuracy.task_failures, accuracy.worst))
        .collect();
    assert_eq!(
        failures,
        [
            ("equivalent", 3, Some(0.0)),
            ("cited", 3, Some(0.0)),
            ("refusal recall", 1, Some(0.0)),
            ("exact match", 2, Some(0.0)),
            ("number match", 1, Some(0.0)),
        ]
    );
    assert_eq!(summary.scores[0].0, "token F1");
    assert_eq!(summary.scores[0].1.excluded["task failed"], 2);
}

#[tokio::test]
async fn a_judge_that_always_fails_gives_the_widest_bounds() {
    let judge = Scripted::new([said("?"), said("!")]);
    let report = run(&Scripted::new([said("Paris")]), true, equivalence(&judge)).await;
    let summary = report.summary(&Bootstrap::default());
    let accuracy = accuracy(&summary, "equivalent");
    let shares = [accuracy.worst, accuracy.best, accuracy.coverage];
    assert_eq!(shares, [0.0, 1.0, 0.0].map(Some));
    assert_eq!((accuracy.scored.value, accuracy.judge_failures), (None, 1));
    assert!(summary.scores.is_empty());
}
