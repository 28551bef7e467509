//! The figure `precision`: interpolated precision at eleven levels of recall.

use std::collections::BTreeSet;

use evals::Report;
use evals_html::figure::{PrecisionCurve, RecallPrecision};
use evals_html::page::PageFigure;
use evals_metrics::{Bootstrap, Mean, mean_interpolated_precision};

use super::caption;
use super::domain::HasFigures;
use super::place::FigurePlace;

/// The interpolated precision of a run.
#[derive(Debug)]
pub(super) struct Curve {
    /// The means at the eleven levels of recall.
    means: [Mean; 11],
    /// How many documents its longest ranking holds.
    depth: usize,
}

/// The curve of a report. `None` if the benchmark does not rank, or if no case has a value.
///
/// The precision of a case is the mean over its repetitions that have a value.
pub(super) fn curve<D: HasFigures>(report: &Report<D>, bootstrap: &Bootstrap) -> Option<Curve> {
    let mut cases = Vec::new();
    for repetitions in report.cases.chunk_by(|left, right| left.id == right.id) {
        let precisions = repetitions.iter().filter_map(D::precision);
        let (defined, undefined): (Vec<_>, Vec<_>) = precisions.partition(Result::is_ok);
        let defined: Vec<[f64; 11]> = defined.into_iter().flatten().collect();
        if defined.is_empty() {
            cases.extend(undefined.into_iter().next());
        } else {
            cases.push(Ok(mean(&defined)));
        }
    }
    let means = mean_interpolated_precision(&cases, bootstrap);
    let depth = report.cases.iter().map(D::ranked).max().unwrap_or(0);
    means[0].value.is_some().then_some(Curve { means, depth })
}

#[expect(clippy::cast_precision_loss, reason = "repetitions are few")]
fn mean(precisions: &[[f64; 11]]) -> [f64; 11] {
    std::array::from_fn(|level| {
        let sum: f64 = precisions.iter().map(|precision| precision[level]).sum();
        sum / precisions.len() as f64
    })
}

pub(super) fn of_report<D: HasFigures>(
    subject: &str,
    report: &Report<D>,
    bootstrap: &Bootstrap,
    place: FigurePlace<'_>,
) -> Option<PageFigure> {
    let curve = curve(report, bootstrap)?;
    let name = caption::subject(report);
    figure(subject, &[(name.as_str(), &curve)], place)
}

/// The curves of several runs, each under its name.
pub(super) fn figure(
    subject: &str,
    curves: &[(&str, &Curve)],
    place: FigurePlace<'_>,
) -> Option<PageFigure> {
    let drawn: Vec<PrecisionCurve> = curves
        .iter()
        .filter_map(|(name, curve)| drawn(name, curve))
        .collect();
    if drawn.is_empty() || drawn.iter().all(is_flat) {
        return None;
    }
    let first = || curves.iter().map(|(_, curve)| &curve.means[0]);
    let depths: BTreeSet<usize> = curves.iter().map(|(_, curve)| curve.depth).collect();
    let depths: Vec<String> = depths.iter().map(ToString::to_string).collect();
    let is_banded =
        drawn.len() <= RecallPrecision::BANDS && drawn.iter().any(|it| it.band.is_some());
    let means = curves.iter().flat_map(|(_, curve)| &curve.means);
    let bands = caption::methods(means.filter_map(|mean| mean.interval));
    let bands = bands.filter(|_| is_banded);
    let bands = bands.map(|it| format!("Bands are pointwise {it}."));
    let sentences = [
        caption::sizes(first()),
        "The highest precision at this recall or above, averaged over questions, as trec_eval's iprec_at_recall. A recall that a \
         ranking does not reach counts as 0. Lines join the points for reading; there are no values between them."
            .to_owned(),
        format!("Rankings hold at most {} documents.", depths.join(" or ")),
        bands.unwrap_or_default(),
        caption::excluded(first()),
    ];
    let figure = RecallPrecision {
        heading: caption::heading(caption::titled("Precision and recall", subject), sentences),
        curves: drawn,
    };
    Some(PageFigure {
        name: super::PRECISION.to_owned(),
        scene: figure.draw(place.width()),
    })
}

fn drawn(name: &str, curve: &Curve) -> Option<PrecisionCurve> {
    let means = &curve.means;
    let values: Vec<f64> = means.iter().filter_map(|mean| mean.value).collect();
    let bands = means.iter().zip(&values).map(|(mean, value)| {
        let interval = mean.interval;
        interval.map_or((*value, *value), |interval| (interval.low, interval.high))
    });
    let bands: Vec<(f64, f64)> = bands.collect();
    let has_band = means.iter().any(|mean| mean.interval.is_some());
    Some(PrecisionCurve {
        name: name.to_owned(),
        means: values.try_into().ok()?,
        band: bands.try_into().ok().filter(|_| has_band),
    })
}

/// Whether the curve is a horizontal line: with one relevant document for each question it always is, and says what the mean
/// reciprocal rank says.
fn is_flat(curve: &PrecisionCurve) -> bool {
    curve
        .means
        .iter()
        .all(|mean| (mean - curve.means[0]).abs() < 1e-12)
}
