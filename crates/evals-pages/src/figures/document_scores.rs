//! The figure `document-scores`: the scores of a target for relevant and for other documents.

use evals::{Report, Unit};
use evals_html::figure::{Distribution, Samples};
use evals_html::page::PageFigure;

use super::caption;
use super::domain::HasFigures;
use super::place::FigurePlace;

pub(super) fn figure<D: HasFigures>(
    subject: &str,
    report: &Report<D>,
    place: FigurePlace<'_>,
) -> Option<PageFigure> {
    let scores = D::document_scores(report)?;
    if scores.relevant.is_empty() || scores.other.is_empty() {
        return None;
    }
    let series = [
        ("relevant documents", scores.relevant),
        ("other documents", scores.other),
    ];
    let series = series.map(|(name, values)| Samples {
        name: name.to_owned(),
        values,
    });
    let sentences = [
        "Each line is the share of documents that the target gave at most this score; its symbol marks the median. Only documents of \
         questions with a relevant one count."
            .to_owned(),
    ];
    let figure = Distribution {
        heading: caption::heading(caption::titled("Scores of documents", subject), sentences),
        axis: "Score".to_owned(),
        unit: Unit::Score,
        series: series.into(),
    };
    Some(PageFigure {
        name: super::DOCUMENT_SCORES.to_owned(),
        scene: figure.draw(place.width()),
    })
}
