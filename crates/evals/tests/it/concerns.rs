//! Declared outcomes: failures count only for the measures that apply to their cases.

use std::sync::Arc;

use evals::{
    Accuracy, Case, Concern, Context, Dataset, EvaluatorError, Experiment, Missed, Outcome, Report,
    Summary, TaskError, TaskScope, ValueKind,
};
use evals_metrics::Bootstrap;

use crate::fakes::{Scripted, Words, dataset};

/// Recognises dishes on the menu, and knows that the question is only about vegan ones.
fn vegan(fails_on: &'static [&'static str]) -> Scripted {
    let about = |case: &Case<Words>| case.id.as_str().starts_with("vegan");
    Scripted::new("diet", move |context: &Context<'_, Words>| {
        if fails_on.contains(&context.case.id.as_str()) {
            return Err(EvaluatorError::new("unreadable"));
        }
        Ok(vec![if about(context.case) {
            Outcome::assertion("recognised", true)
        } else {
            Outcome::undefined("recognised", "not vegan")
        }])
    })
    .about(move |case| {
        let concerns = about(case).then(|| Concern::assertion("recognised"));
        Some(concerns.into_iter().collect())
    })
}

/// Runs a task that fails for the cases whose id ends with `!`.
async fn run(dataset: Dataset<Words>) -> Report<Words> {
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move {
        if case.id.as_str().ends_with('!') {
            return Err(TaskError::new("gone"));
        }
        Ok(case.input.clone())
    };
    Experiment::new(dataset, task).run().await
}

fn summary(report: &Report<Words>) -> Summary {
    report.summary(&Bootstrap::default())
}

fn only(summary: &Summary) -> &Accuracy {
    let [(_, accuracy)] = &summary.accuracy[..] else {
        panic!("{:?}", summary.accuracy);
    };
    accuracy
}

fn shares(accuracy: &Accuracy) -> [Option<f64>; 3] {
    [accuracy.worst, accuracy.best, accuracy.coverage]
}

#[tokio::test]
async fn failures_in_cases_that_a_measure_does_not_apply_to_do_not_count() {
    let ids = [
        "vegan 1", "vegan 2", "vegan 3!", "vegan 4", "roast 1", "roast 2!", "roast 3",
    ];
    let report = run(dataset(ids).evaluator(vegan(&["vegan 4", "roast 3"]))).await;
    let summary = summary(&report);
    let accuracy = only(&summary);
    assert_eq!(shares(accuracy), [Some(0.5), Some(1.0), Some(0.5)]);
    assert_eq!((accuracy.cases, accuracy.undefined), (4, 1));
    assert_eq!((accuracy.judge_failures, accuracy.task_failures), (1, 1));
    assert!(summary.scores.is_empty(), "{:?}", summary.scores);
    // The other failures are still in the report.
    assert_eq!((summary.failed, summary.evaluator_failures), (2, 2));
}

#[tokio::test]
async fn failures_of_undeclared_evaluators_count_everywhere() {
    let undeclared = Scripted::new("diet", |context: &Context<'_, Words>| {
        Ok(vec![match context.case.id.as_str() {
            "vegan" => Outcome::assertion("recognised", true),
            _ => Outcome::undefined("recognised", "not vegan"),
        }])
    });
    let broken = undeclared.clone().about(|_| panic!("no idea"));
    for evaluator in [undeclared, broken] {
        let report = run(dataset(["vegan", "roast", "roast!"]).evaluator(evaluator)).await;
        assert_eq!(report.cases[2].missed, []);
        let summary = summary(&report);
        assert_eq!((only(&summary).cases, only(&summary).task_failures), (2, 1));
    }
}

#[tokio::test]
async fn a_measure_that_never_had_a_value_has_a_row_of_its_kind() {
    let dataset = dataset(["vegan 1", "vegan 2"])
        .evaluator(vegan(&["vegan 1", "vegan 2"]))
        .evaluator(Scripted::constant(
            "polite",
            Outcome::assertion("polite", true),
        ));
    let summary = summary(&run(dataset).await);
    let titles: Vec<_> = summary.accuracy.iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["recognised", "polite"]);
    let accuracy = &summary.accuracy[0].1;
    assert_eq!(accuracy.scored.value, None);
    assert_eq!(shares(accuracy), [Some(0.0), Some(1.0), Some(0.0)]);
    assert!(summary.scores.is_empty(), "{:?}", summary.scores);
    assert_eq!(summary.sources[0].1.evaluator, "diet");
}

#[tokio::test]
async fn a_run_of_failed_tasks_still_lists_its_measures() {
    let scored = Scripted::constant("f1", Outcome::score("f1", 1.0))
        .about(|_| Some(vec![Concern::score("f1"), Concern::label("tone")]));
    let report = run(dataset(["vegan 1!", "roast 1!"])
        .evaluator(vegan(&[]))
        .evaluator(scored))
    .await;
    let summary = summary(&report);
    assert_eq!(only(&summary).task_failures, 1);
    let (title, mean) = &summary.scores[0];
    assert_eq!((title.as_str(), mean.excluded["task failed"]), ("f1", 2));
    assert_eq!(summary.labels[0].1.excluded["task failed"], 2);
}

#[tokio::test]
async fn outcomes_beside_an_error_are_reported_with_it() {
    let half = Scripted::new("half", |_| {
        let known = [
            Outcome::score("words", 3.0),
            Outcome::undefined("style", "too short"),
        ];
        Err(EvaluatorError::new("no verdict").beside(known))
    });
    let whole = |name| {
        let outcomes = ["words", "style", "verdict"].map(|name| Outcome::score(name, 1.0));
        Scripted::new(name, move |_| Ok(outcomes.to_vec()))
    };
    let cases = ["a", "b"].map(|id| {
        let case = crate::fakes::case(id);
        if id == "a" {
            case.evaluator(half.clone())
        } else {
            case.evaluator(whole("half"))
        }
    });
    let report = run(Dataset::new("words", cases).unwrap()).await;
    assert_eq!(report.cases[0].evaluator_failures[0].message, "no verdict");
    let summary = summary(&report);
    let means: Vec<_> = summary
        .scores
        .iter()
        .map(|(name, mean)| {
            (
                name.as_str(),
                mean.n,
                mean.excluded.keys().map(String::as_str).collect(),
            )
        })
        .collect::<Vec<(_, _, Vec<_>)>>();
    assert_eq!(
        means,
        [
            ("words", 2, vec![]),
            ("style", 1, vec!["too short"]),
            ("verdict", 1, vec!["evaluator failed"]),
        ]
    );
}

#[tokio::test]
async fn missed_outcomes_are_stored_under_the_same_names() {
    let taken = Scripted::constant("other", Outcome::assertion("recognised", false));
    let dataset = || {
        dataset(["vegan 1", "vegan 2!"])
            .evaluator(taken.clone())
            .evaluator(vegan(&[]))
    };
    let report = run(dataset()).await;
    let missed = &report.cases[1].missed;
    let [
        Missed {
            evaluator,
            outcomes,
            ..
        },
    ] = &missed[..]
    else {
        panic!("{missed:?}");
    };
    assert_eq!(
        (evaluator.as_str(), outcomes[0].kind),
        ("diet", ValueKind::Assertion)
    );
    assert_eq!(outcomes[0].name, "recognised_2");
    assert_eq!(outcomes[0].given_name.as_deref(), Some("recognised"));
    assert_eq!(summary(&report).accuracy[1].1.task_failures, 1);

    let text = serde_json::to_string(&report).unwrap();
    let read: Report<Words> = serde_json::from_str(&text).unwrap();
    assert_eq!(summary(&read), summary(&report));
    // A later session that takes them over assigns new names.
    let again = Experiment::new(dataset(), |_: Arc<Case<Words>>, _| async {
        Err(TaskError::new("gone"))
    })
    .resume(read.cases)
    .run()
    .await;
    assert_eq!(again.cases[1].missed, *missed);
}
