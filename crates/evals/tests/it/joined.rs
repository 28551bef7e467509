//! Parts of a run, joined to the report of the whole.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals::{
    Analysis, Dataset, EvaluatorError, Experiment, Outcome, Report, ReportEvaluator, ReportPart,
    TaskError,
};

use crate::fakes::{Scripted, Words, case};

/// The title of the analysis lists the cases in their order.
#[derive(Debug)]
struct Order;

#[async_trait]
impl ReportEvaluator<Words> for Order {
    fn name(&self) -> &'static str {
        "Order"
    }

    async fn evaluate(&self, report: &Report<Words>) -> Result<Vec<Analysis>, EvaluatorError> {
        let ids: Vec<String> = report.cases.iter().map(|case| case.label(2)).collect();
        Ok(vec![Analysis::Scalar {
            title: ids.join(" "),
            description: None,
            value: None,
            unit: None,
        }])
    }
}

/// The cases of `a` to `e` at these places. Only the case `b` adds an evaluator, whose outcome the whole run calls `check_2`.
async fn run_of(places: &[usize]) -> Report<Words> {
    let cases = places.iter().map(|&place| {
        let id = ["a", "b", "c", "d", "e"][place];
        if id == "b" {
            let own = Scripted::constant("own", Outcome::score("check", 0.5));
            return case(id).evaluator(own);
        }
        case(id)
    });
    let check = Scripted::new("check", |context| match context.case.id.as_str() {
        // The dataset's evaluator returns nothing for the case that has its own.
        "b" => Ok(Vec::new()),
        _ => Ok(vec![Outcome::assertion("check", context.repeat == 1)]),
    });
    let dataset = Dataset::new("words", cases).unwrap();
    let dataset = dataset.evaluator(check).report_evaluator(Order);
    let experiment = Experiment::new(dataset, |case, _| async move {
        match case.id.as_str() {
            "d" => Err(TaskError::new("refused")),
            _ => Ok(case.input.clone()),
        }
    });
    experiment.repeat(NonZeroU32::new(2).unwrap()).run().await
}

fn untimed(mut report: Report<Words>) -> String {
    report.duration = Duration::ZERO;
    for case in &mut report.cases {
        case.duration = Duration::ZERO;
        case.timings.clear();
    }
    serde_json::to_string_pretty(&report).unwrap()
}

#[tokio::test]
async fn parts_in_any_order_give_the_report_of_the_whole() {
    let whole = untimed(run_of(&[0, 1, 2, 3, 4]).await);
    assert!(whole.contains("check_2"), "{whole}");
    for parts in [
        vec![vec![0, 2], vec![1, 3, 4]],
        vec![vec![3], vec![4, 1], vec![2, 0]],
    ] {
        let mut run = Vec::new();
        for places in parts {
            let report = run_of(&places).await;
            run.push(ReportPart { report, places });
        }
        let mut joined = Report::joined(run).unwrap();
        assert!(
            joined.analyses.is_empty(),
            "those of a part hold for the part alone"
        );
        joined.analyse(&[Arc::new(Order) as _]).await;
        assert_eq!(untimed(joined), whole);
    }
}

#[tokio::test]
async fn times_and_missing_cases_add_up() {
    let part = |report: Report<Words>, place| ReportPart {
        report,
        places: vec![place],
    };
    let [mut one, mut other] = [run_of(&[0]).await, run_of(&[1]).await];
    one.duration = Duration::from_secs(3);
    other.duration = Duration::from_secs(4);
    other.not_run = 2;
    other.interrupted = true;
    let joined = Report::joined([part(one, 0), part(other, 1)]).unwrap();
    assert_eq!(joined.duration, Duration::from_secs(7));
    assert!(joined.interrupted && joined.not_run == 2);
    assert!(Report::<Words>::joined([]).is_none());
}
