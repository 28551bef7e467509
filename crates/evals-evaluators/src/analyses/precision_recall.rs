//! `PrecisionRecallEvaluator`: precision against recall over all thresholds, and the area below.

use evals::{Analysis, PrecisionRecallCurve, PrecisionRecallPoint};
use evals_metrics::as_f64;

use super::curve::{Curve, CurveInputs, area};

/// `PrecisionRecallEvaluator`.
pub(super) const PRECISION_RECALL: Curve = Curve {
    name: "PrecisionRecallEvaluator",
    description: "Draws precision against recall over all thresholds of a score, and computes the area below the curve.",
    title: "Precision-Recall Curve",
    analyses,
};

/// Without a positive case there is no recall, and so no curve. pydantic-evals counts it as 0.
fn analyses(drawing: &CurveInputs<'_>) -> Vec<Analysis> {
    let points = points(drawing);
    let (curves, auc) = if points.is_empty() {
        (Vec::new(), None)
    } else {
        let line: Vec<(f64, f64)> = points
            .iter()
            .map(|point| (point.recall, point.precision))
            .collect();
        let auc = area(&line);
        let curve = PrecisionRecallCurve {
            name: drawing.experiment.to_owned(),
            points: drawing.drawn(&points),
            auc: Some(auc),
        };
        (vec![curve], Some(auc))
    };
    let description = if points.is_empty() {
        drawing.columns.undefined(&drawing.cases)
    } else {
        drawing.left_out()
    };
    vec![
        Analysis::PrecisionRecall {
            title: drawing.title.to_owned(),
            description: description.clone(),
            curves,
        },
        drawing.auc(auc, description),
    ]
}

/// All points: one before the first case counts as positive, then one for each distinct score. None without a positive case.
fn points(drawing: &CurveInputs<'_>) -> Vec<PrecisionRecallPoint> {
    let all = as_f64(drawing.cases.positives);
    let counts = drawing.cases.counts();
    let Some((highest, ..)) = counts.first().filter(|_| all > 0.0) else {
        return Vec::new();
    };
    let start = PrecisionRecallPoint {
        threshold: *highest,
        precision: 1.0,
        recall: 0.0,
    };
    let rest = counts.iter().map(|(threshold, positives, negatives)| {
        let found = as_f64(*positives);
        PrecisionRecallPoint {
            threshold: *threshold,
            precision: found / as_f64(positives + negatives),
            recall: found / all,
        }
    });
    std::iter::once(start).chain(rest).collect()
}
