//! `ROCAUCEvaluator`: the true against the false positive rate over all thresholds, and the area below.

use evals::{Analysis, LinePlotCurve, LinePlotPoint, LineStyle};
use evals_metrics::as_f64;

use super::curve::{Curve, CurveInputs, area};

/// `ROCAUCEvaluator`.
pub(super) const ROC_AUC: Curve = Curve {
    name: "ROCAUCEvaluator",
    description: "Draws the true positive rate against the false positive rate over all thresholds of a score, and computes the area below the curve.",
    title: "ROC Curve",
    analyses,
};

fn analyses(drawing: &CurveInputs<'_>) -> Vec<Analysis> {
    let undefined = drawing.columns.undefined(&drawing.cases);
    let (curves, auc) = if undefined.is_some() {
        (Vec::new(), None)
    } else {
        let points = points(drawing);
        let auc = area(&points);
        (curves(drawing, &points, auc), Some(auc))
    };
    let description = undefined.or_else(|| drawing.left_out());
    vec![
        Analysis::LinePlot {
            title: drawing.title.to_owned(),
            description: description.clone(),
            x_label: "False Positive Rate".to_owned(),
            y_label: "True Positive Rate".to_owned(),
            x_range: Some([0.0, 1.0]),
            y_range: Some([0.0, 1.0]),
            curves,
        },
        drawing.auc(auc, description),
    ]
}

/// All points: the origin, then one for each distinct score.
fn points(drawing: &CurveInputs<'_>) -> Vec<(f64, f64)> {
    let (positives, negatives) = (
        as_f64(drawing.cases.positives),
        as_f64(drawing.cases.negatives),
    );
    let counts = drawing.cases.counts().into_iter();
    let rates =
        counts.map(|(_, hits, misses)| (as_f64(misses) / negatives, as_f64(hits) / positives));
    std::iter::once((0.0, 0.0)).chain(rates).collect()
}

/// The curve, and the diagonal of a score that knows nothing.
fn curves(drawing: &CurveInputs<'_>, points: &[(f64, f64)], auc: f64) -> Vec<LinePlotCurve> {
    let line = |points: Vec<(f64, f64)>| {
        let points = points.into_iter();
        points.map(|(x, y)| LinePlotPoint { x, y }).collect()
    };
    vec![
        LinePlotCurve {
            name: format!("{} (AUC: {auc:.3})", drawing.experiment),
            points: line(drawing.drawn(points)),
            style: LineStyle::Solid,
            step: None,
        },
        LinePlotCurve {
            name: "Random".to_owned(),
            points: line(vec![(0.0, 0.0), (1.0, 1.0)]),
            style: LineStyle::Dashed,
            step: None,
        },
    ]
}
