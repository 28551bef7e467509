//! Analyses as tables and lines.

use evals_messages::visible::single_line;
use serde_json::Value;

use super::glyphs::Glyphs;
use crate::{Analysis, LinePlotCurve, PrecisionRecallCurve, number};

/// A formatted analysis.
pub(super) struct ShownAnalysis {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) body: Body,
}

/// The content below the title.
pub(super) enum Body {
    /// The heads of the columns, and rows of as many cells.
    Table {
        heads: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    Lines(Vec<String>),
}

/// Prepares an analysis for printing. Curves are shown by their areas or ends: only a file has their points.
pub(super) fn shown(analysis: &Analysis, glyphs: &Glyphs) -> ShownAnalysis {
    let (title, description, body) = match analysis {
        Analysis::ConfusionMatrix {
            title,
            description,
            class_labels,
            matrix,
        } => {
            let body = confusion_matrix(class_labels, matrix, glyphs);
            (title, description, body)
        }
        Analysis::PrecisionRecall {
            title,
            description,
            curves,
        } => (title, description, areas(curves, glyphs)),
        Analysis::Scalar {
            title,
            description,
            value,
            unit,
        } => {
            let value = defined(*value, glyphs, number::metric);
            let unit = unit.as_ref().map(|unit| format!(" {}", single_line(unit)));
            let line = format!("{value}{}", unit.unwrap_or_default());
            (title, description, Body::Lines(vec![line]))
        }
        Analysis::Table {
            title,
            description,
            columns,
            rows,
        } => (title, description, table(columns, rows, glyphs)),
        Analysis::LinePlot {
            title,
            description,
            x_label,
            y_label,
            curves,
            ..
        } => (title, description, line_plot(x_label, y_label, curves)),
    };
    ShownAnalysis {
        title: single_line(title),
        description: description.as_deref().map(single_line),
        body,
    }
}

/// A row for each expected class; the columns are the predicted ones. Undefined without any class.
fn confusion_matrix(labels: &[String], matrix: &[Vec<u64>], glyphs: &Glyphs) -> Body {
    if labels.is_empty() {
        return Body::Lines(vec![glyphs.undefined.to_owned()]);
    }
    let labels = || labels.iter().map(|label| single_line(label));
    let heads = std::iter::once("Expected".to_owned()).chain(labels());
    let rows = labels().zip(matrix).map(|(label, counts)| {
        let counts = counts.iter().map(u64::to_string);
        std::iter::once(label).chain(counts).collect()
    });
    Body::Table {
        heads: heads.collect(),
        rows: rows.collect(),
    }
}

/// A line for each curve of precision by recall.
fn areas(curves: &[PrecisionRecallCurve], glyphs: &Glyphs) -> Body {
    let lines = curves.iter().map(|curve| {
        let area = defined(curve.auc, glyphs, number::score);
        let name = single_line(&curve.name);
        format!("{name}: area under the curve {area}")
    });
    Body::Lines(lines.collect())
}

/// A line for each curve of a plot.
fn line_plot(x_label: &str, y_label: &str, curves: &[LinePlotCurve]) -> Body {
    let axes = format!("{} over {}", single_line(y_label), single_line(x_label));
    let lines = curves.iter().map(|curve| {
        let points = match curve.points.len() {
            1 => "1 point".to_owned(),
            count => format!("{count} points"),
        };
        format!("{}: {axes}, {points}", single_line(&curve.name))
    });
    Body::Lines(lines.collect())
}

fn table(columns: &[String], rows: &[Vec<Value>], glyphs: &Glyphs) -> Body {
    let cells = |row: &Vec<Value>| {
        let mut cells: Vec<String> = row.iter().map(|value| cell(value, glyphs)).collect();
        // A row from elsewhere may be longer or shorter than the head.
        cells.resize(columns.len(), String::new());
        cells
    };
    Body::Table {
        heads: columns.iter().map(|head| single_line(head)).collect(),
        rows: rows.iter().map(cells).collect(),
    }
}

fn cell(value: &Value, glyphs: &Glyphs) -> String {
    match value {
        Value::Null => glyphs.undefined.to_owned(),
        Value::String(text) => single_line(text),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map(number::metric).unwrap_or_default()
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            single_line(&value.to_string())
        }
    }
}

fn defined(value: Option<f64>, glyphs: &Glyphs, print: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| glyphs.undefined.to_owned(), print)
}
