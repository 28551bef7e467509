//! Recording from deep within a task, without a scope at hand.

use std::sync::Arc;

use evals::{Case, Experiment, Outcome, TaskError, TaskScope};

use crate::fakes::{Scripted, Words, numbered};

/// Knows nothing of scopes.
async fn search(query: &str) {
    evals::set_attribute("query", query);
    tokio::task::yield_now().await;
    evals::add_metric("searches", 1.0);
}

#[tokio::test]
async fn code_within_a_task_records_into_its_own_case() {
    let task = |case: Arc<Case<Words>>, scope: TaskScope| async move {
        search(&case.input).await;
        search(&case.input).await;
        // Another tokio task has no scope unless it is given one.
        tokio::spawn(search("lost")).await.unwrap();
        let elsewhere = tokio::spawn(async move { scope.within(search("elsewhere")).await });
        elsewhere.await.unwrap();
        evals::set_attribute("case", case.id.to_string());
        Ok::<_, TaskError>(case.input.clone())
    };
    let outside = Scripted::new("outside", |_| {
        evals::add_metric("searches", 100.0);
        let none = evals::current_scope().is_none();
        Ok(vec![Outcome::assertion("outside", none)])
    });
    let report = Experiment::new(numbered(8).evaluator(outside), task);
    let report = report.run().await;
    for case in &report.cases {
        assert_eq!(case.metrics.get("searches"), Some(&3.0));
        assert_eq!(case.attributes["case"], case.id.as_str());
        assert_eq!(case.attributes["query"], "elsewhere");
        assert_eq!(case.outcomes[0].value, evals::Value::Assertion(true));
    }
}

#[tokio::test]
async fn outside_a_task_nothing_happens() {
    assert!(evals::current_scope().is_none());
    search("nobody").await;
}
