//! Corrected pass rates against the code of the papers.

use evals_metrics::{
    Confusion, Interval, IntervalMethod, JudgeLabels, LabelledValue, VerdictCounts,
    double_sampling, prediction_powered, rogan_gladen,
};
use serde_json::Value;

use crate::golden_rows::{assert_close, number, numbers, rows};

/// Written by `golden/calibration.py`.
const GOLDEN: &str = include_str!("../golden/calibration.jsonl");

fn counts<const N: usize>(value: &Value) -> [usize; N] {
    let counts: Vec<usize> = serde_json::from_value(value.clone()).unwrap();
    counts.try_into().unwrap()
}

fn confusion(value: &Value) -> Confusion {
    let [true_passes, false_passes, false_fails, true_fails] = counts(value);
    Confusion {
        true_passes,
        false_passes,
        false_fails,
        true_fails,
    }
}

fn verdicts(value: &Value) -> VerdictCounts {
    let [passes, fails] = counts(value);
    VerdictCounts { passes, fails }
}

#[track_caller]
fn assert_estimate(value: f64, interval: Interval, row: &Value) {
    assert_close(value, number(&row["value"]), row);
    assert_close(interval.low, number(&row["interval"][0]), row);
    assert_close(interval.high, number(&row["interval"][1]), row);
}

#[test]
fn rogan_gladen_of_random_labels_equals_the_papers_code() {
    for row in rows(GOLDEN, "rogan-gladen") {
        let labels = JudgeLabels::Random(confusion(&row["labels"]));
        let found = rogan_gladen(&labels, verdicts(&row["run"]), number(&row["level"])).unwrap();
        assert_eq!(found.interval.method, IntervalMethod::RoganGladen);
        assert_estimate(found.value, found.interval, &row);
    }
}

#[test]
fn rogan_gladen_of_labels_by_verdict_is_the_delta_method() {
    for row in rows(GOLDEN, "by-verdict") {
        let labels = JudgeLabels::ByVerdict {
            labels: confusion(&row["labels"]),
            drawn_from: verdicts(&row["drawn_from"]),
        };
        let found = rogan_gladen(&labels, verdicts(&row["run"]), number(&row["level"])).unwrap();
        assert_estimate(found.value, found.interval, &row);
    }
}

#[test]
fn double_sampling_propagates_wilsons_intervals() {
    for row in rows(GOLDEN, "double-sampling") {
        let labels = confusion(&row["labels"]);
        let found = double_sampling(&labels, verdicts(&row["run"]), number(&row["level"])).unwrap();
        assert_eq!(found.interval.method, IntervalMethod::PropagatedWilson);
        assert_estimate(found.value, found.interval, &row);
    }
}

#[test]
fn prediction_powered_inference_equals_ppi_python() {
    for row in rows(GOLDEN, "prediction-powered") {
        let (labels, predictions) = (numbers(&row["labels"]), numbers(&row["predictions"]));
        let weights = match &row["weights"] {
            Value::Null => vec![1.0; labels.len()],
            weights => numbers(weights),
        };
        let triples = labels.into_iter().zip(predictions).zip(weights);
        let labelled: Vec<LabelledValue> = triples
            .map(|((label, prediction), weight)| LabelledValue {
                label,
                prediction,
                weight,
            })
            .collect();
        let level = number(&row["level"]);
        let found = prediction_powered(&labelled, &numbers(&row["unlabelled"]), level).unwrap();
        assert_estimate(found.value, found.interval, &row);
    }
}
