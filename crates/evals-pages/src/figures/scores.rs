//! The figures `scores`: how often the values of a score occur.

use std::collections::BTreeSet;

use evals::{Domain, Report, Summary};
use evals_html::figure::Histogram;
use evals_html::page::{ColumnKind, PageFigure};

use super::caption::{self, counted};
use super::place::FigurePlace;

/// Most scores that get a figure.
const MOST: usize = 3;

/// One figure for each of the first scores that take more than two values; the mean says all about the others.
pub(super) fn figures<D: Domain>(
    subject: &str,
    report: &Report<D>,
    summary: &Summary,
    place: FigurePlace<'_>,
) -> Vec<PageFigure> {
    let values = report.score_values();
    let mut figures = Vec::new();
    for (name, mean) in &summary.scores {
        let Some(values) = values.get(name) else {
            continue;
        };
        let defined: Vec<f64> = values.values().filter_map(|it| it.ok()).collect();
        let distinct: BTreeSet<u64> = defined.iter().map(|value| value.to_bits()).collect();
        if distinct.len() <= 2 {
            continue;
        }
        let undefined = values.len() - defined.len();
        let sentences = [
            format!("n = {}.", counted(defined.len(), "case")),
            caption::repeats(summary.repeat),
            caption::excluded(std::iter::once(mean)),
        ];
        let figure = Histogram {
            heading: caption::heading(
                caption::titled(&format!("{name} of each case"), subject),
                sentences,
            ),
            axis: name.clone(),
            span: (0.0, 1.0),
            values: defined,
            undefined,
            link: place.filter(name, ColumnKind::Number),
        };
        figures.push(PageFigure {
            name: if figures.is_empty() {
                "scores".to_owned()
            } else {
                format!("scores-{}", figures.len() + 1)
            },
            scene: figure.draw(place.width()),
        });
        if figures.len() == MOST {
            break;
        }
    }
    figures
}
