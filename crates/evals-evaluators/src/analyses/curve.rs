//! The parts that the evaluators of curves share: their arguments, the points that are drawn, and the area below them.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Analysis, EvaluatorError, EvaluatorSpec, Report, ReportEvaluator};
use serde::Deserialize;
use serde_json::json;

use super::scored_cases::{CurveColumns, ScoredCases, parameters};
use crate::{Entry, Parameter, Signature, Untyped};

/// A kind of curve with its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// The default title.
    pub(super) title: &'static str,
    /// The analyses of cases: a plot and a number.
    pub(super) analyses: fn(&CurveInputs<'_>) -> Vec<Analysis>,
}

/// The inputs of a drawing.
pub(super) struct CurveInputs<'a> {
    /// The name of the experiment.
    pub(super) experiment: &'a str,
    pub(super) title: &'a str,
    pub(super) columns: &'a CurveColumns,
    pub(super) cases: ScoredCases,
    most_points: i64,
}

/// The evaluator of a kind of curve.
#[derive(Debug)]
struct CurveEvaluator {
    kind: Curve,
    spec: EvaluatorSpec,
    title: String,
    columns: CurveColumns,
    most_points: i64,
}

#[derive(Deserialize)]
struct CurveArguments {
    title: String,
    n_thresholds: i64,
}

/// The entry of a kind of curve.
pub(super) fn entry(kind: Curve) -> Entry {
    let shared = [
        Parameter::optional(
            "title",
            json!(kind.title),
            json!({"type": "string"}),
            "The title of the plot.",
        ),
        Parameter::optional(
            "n_thresholds",
            json!(100),
            json!({"type": "integer"}),
            "The most points that are drawn; 1 or less draws all. The number is computed from all points.",
        ),
    ];
    let signature = Signature::new(parameters().into_iter().chain(shared));
    let Curve {
        name, description, ..
    } = kind;
    Entry::report(name, description, signature, move |arguments, _| {
        let read: CurveArguments = arguments.read()?;
        Ok(Arc::new(CurveEvaluator {
            kind,
            spec: arguments.spec(),
            title: read.title,
            columns: CurveColumns::read(arguments)?,
            most_points: read.n_thresholds,
        }))
    })
}

impl CurveInputs<'_> {
    /// Evenly spaced ones of the points, the first and the last among them.
    pub(super) fn drawn<P: Copy>(&self, points: &[P]) -> Vec<P> {
        let most = usize::try_from(self.most_points).unwrap_or(0);
        if points.len() <= most || most <= 1 {
            return points.to_vec();
        }
        let last = points.len() - 1;
        // There are fewer places than points, so no place comes twice.
        let places = (0..most).map(|place| place * last / (most - 1));
        places.map(|place| points[place]).collect()
    }

    /// The area below the curve, as the number beside the plot.
    pub(super) fn auc(&self, area: Option<f64>, description: Option<String>) -> Analysis {
        Analysis::Scalar {
            title: format!("{} AUC", self.title),
            description,
            value: area,
            unit: None,
        }
    }

    /// How many cases were left out, as a description.
    pub(super) fn left_out(&self) -> Option<String> {
        self.columns.left_out(&self.cases)
    }
}

/// The area below a line through points, by trapezoids.
pub(super) fn area(points: &[(f64, f64)]) -> f64 {
    let sides = points.windows(2);
    sides
        .map(|side| (side[1].0 - side[0].0).abs() * (side[1].1 + side[0].1) / 2.0)
        .sum()
}

#[async_trait]
impl ReportEvaluator<Untyped> for CurveEvaluator {
    fn name(&self) -> &'static str {
        self.kind.name
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    async fn evaluate(&self, report: &Report<Untyped>) -> Result<Vec<Analysis>, EvaluatorError> {
        Ok((self.kind.analyses)(&CurveInputs {
            experiment: &report.name,
            title: &self.title,
            columns: &self.columns,
            cases: self.columns.of(report),
            most_points: self.most_points,
        }))
    }
}
