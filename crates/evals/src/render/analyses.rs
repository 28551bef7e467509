//! Analyses as tables and lines.

use std::iter;

use evals_messages::quantity;
use evals_messages::visible::single_line;
use serde_json::Value;

use super::glyphs::Glyphs;
use super::grid::{Align, Grid};
use crate::{Analysis, LinePlotCurve, PrecisionRecallCurve, number};

/// A formatted analysis.
pub(super) struct ShownAnalysis {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) body: Body,
}

/// The content below the title.
pub(super) enum Body {
    Table(Grid),
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
            let value = glyphs.shown(*value, number::metric);
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
    let mut grid = empty(iter::once("Expected".to_owned()).chain(labels()));
    for (label, counts) in labels().zip(matrix) {
        grid.push(iter::once(label).chain(counts.iter().map(u64::to_string)));
    }
    Body::Table(grid)
}

/// A table without rows, whose first column names what the others are about.
fn empty(heads: impl Iterator<Item = String>) -> Grid {
    let aligns = iter::once(Align::Left).chain(iter::repeat(Align::Right));
    Grid::new(heads.zip(aligns))
}

/// A line for each curve of precision by recall.
fn areas(curves: &[PrecisionRecallCurve], glyphs: &Glyphs) -> Body {
    let lines = curves.iter().map(|curve| {
        let area = glyphs.shown(curve.auc, number::score);
        let name = single_line(&curve.name);
        format!("{name}: area under the curve {area}")
    });
    Body::Lines(lines.collect())
}

/// A line for each curve of a plot.
fn line_plot(x_label: &str, y_label: &str, curves: &[LinePlotCurve]) -> Body {
    let axes = format!("{} over {}", single_line(y_label), single_line(x_label));
    let lines = curves.iter().map(|curve| {
        let points = quantity::of(curve.points.len(), "point");
        format!("{}: {axes}, {points}", single_line(&curve.name))
    });
    Body::Lines(lines.collect())
}

fn table(columns: &[String], rows: &[Vec<Value>], glyphs: &Glyphs) -> Body {
    let mut grid = empty(columns.iter().map(|head| single_line(head)));
    for row in rows {
        let cells = row.iter().map(|value| cell(value, glyphs));
        // A row from elsewhere may be longer or shorter than the head.
        let cells = cells.chain(iter::repeat_with(String::new));
        grid.push(cells.take(columns.len()));
    }
    Body::Table(grid)
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
