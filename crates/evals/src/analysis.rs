//! Analyses: results of a whole experiment, such as a confusion matrix.

use std::fmt::Debug;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Domain, EvaluatorError, EvaluatorSpec, Report};

/// A result of a whole experiment, for people to look at.
///
/// In JSON each has the fields of its kind and a tag: `{"type": "scalar", "title": …, "value": …}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Analysis {
    /// How often each expected class was predicted as which class.
    ConfusionMatrix {
        /// Its title.
        title: String,
        /// An explanation for readers of the report.
        description: Option<String>,
        /// The classes of rows and columns.
        class_labels: Vec<String>,
        /// Counts: a row for each expected class, a column for each predicted one.
        matrix: Vec<Vec<u64>>,
    },
    /// Precision against recall over all thresholds.
    PrecisionRecall {
        /// Its title.
        title: String,
        /// An explanation for readers of the report.
        description: Option<String>,
        /// One curve for each experiment.
        curves: Vec<PrecisionRecallCurve>,
    },
    /// One number; `None` if it is undefined, and the description says why.
    Scalar {
        /// Its title.
        title: String,
        /// An explanation for readers of the report.
        description: Option<String>,
        /// The number.
        #[serde(serialize_with = "crate::json::finite::serialize_option")]
        value: Option<f64>,
        /// Its unit.
        unit: Option<String>,
    },
    /// Rows of cells.
    Table {
        /// Its title.
        title: String,
        /// An explanation for readers of the report.
        description: Option<String>,
        /// The heads of the columns.
        columns: Vec<String>,
        /// One cell for each column: text, number, boolean or null.
        rows: Vec<Vec<serde_json::Value>>,
    },
    /// Curves over a common axis.
    LinePlot {
        /// Its title.
        title: String,
        /// An explanation for readers of the report.
        description: Option<String>,
        /// The label of the horizontal axis.
        x_label: String,
        /// The label of the vertical axis.
        y_label: String,
        /// The ends of the horizontal axis.
        x_range: Option<[f64; 2]>,
        /// The ends of the vertical axis.
        y_range: Option<[f64; 2]>,
        /// The curves.
        curves: Vec<LinePlotCurve>,
    },
}

/// A curve of precision against recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionRecallCurve {
    /// Names the curve.
    pub name: String,
    /// Its points, from the highest threshold to the lowest.
    pub points: Vec<PrecisionRecallPoint>,
    /// The area under the curve.
    pub auc: Option<f64>,
}

/// Precision and recall if every case with at least this score counts as positive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionRecallPoint {
    /// The lowest score that counts as positive.
    pub threshold: f64,
    /// The share of positive cases among those counted as positive.
    pub precision: f64,
    /// The share of positive cases that are counted as positive.
    pub recall: f64,
}

/// A curve of a line plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinePlotCurve {
    /// Names the curve.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<LinePlotPoint>,
    /// `solid` or `dashed`.
    #[serde(default)]
    pub style: LineStyle,
    /// Whether the curve is a step function, and where its steps are.
    #[serde(default)]
    pub step: Option<LineStep>,
}

/// A point of a line plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinePlotPoint {
    /// Its place on the horizontal axis.
    pub x: f64,
    /// Its place on the vertical axis.
    pub y: f64,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineStyle {
    /// Without gaps.
    #[default]
    Solid,
    /// With gaps.
    Dashed,
}

/// Where a step function steps between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineStep {
    /// At the left point.
    Start,
    /// Half-way.
    Middle,
    /// At the right point.
    End,
}

/// Judges a finished experiment as a whole.
///
/// One that fails or panics becomes a failure in the report; the others are unaffected.
#[async_trait]
pub trait ReportEvaluator<D: Domain>: Debug + Send + Sync {
    /// Names the evaluator in reports.
    fn name(&self) -> &str;

    /// The evaluator as a dataset file would write it, defaults left out; `None`, the default, for one that no file can name.
    fn spec(&self) -> Option<EvaluatorSpec> {
        None
    }

    /// Analyses the finished cases. The report has no analyses yet. The report of a run that ended early holds the cases that
    /// were finished.
    async fn evaluate(&self, report: &Report<D>) -> Result<Vec<Analysis>, EvaluatorError>;
}
