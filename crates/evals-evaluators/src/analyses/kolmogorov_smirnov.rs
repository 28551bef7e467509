//! `KolmogorovSmirnovEvaluator`: how far apart the scores of positive and negative cases are.

use evals::{Analysis, LinePlotCurve, LinePlotPoint, LineStep, LineStyle};
use evals_metrics::as_f64;

use super::curve::{Curve, CurveInputs};

/// `KolmogorovSmirnovEvaluator`.
pub(super) const KOLMOGOROV_SMIRNOV: Curve = Curve {
    name: "KolmogorovSmirnovEvaluator",
    description: "Draws the distributions of a score over positive and negative cases, and computes their largest distance.",
    title: "KS Plot",
    analyses,
};

fn analyses(drawing: &CurveInputs<'_>) -> Vec<Analysis> {
    let undefined = drawing.columns.undefined(&drawing.cases);
    let (curves, statistic) = if undefined.is_some() {
        (Vec::new(), None)
    } else {
        let (curves, statistic) = distributions(drawing);
        (curves, Some(statistic))
    };
    let description = undefined.or_else(|| drawing.left_out());
    vec![
        Analysis::LinePlot {
            title: drawing.title.to_owned(),
            description: description.clone(),
            x_label: "Score".to_owned(),
            y_label: "Cumulative Probability".to_owned(),
            x_range: None,
            y_range: Some([0.0, 1.0]),
            curves,
        },
        Analysis::Scalar {
            title: "KS Statistic".to_owned(),
            description,
            value: statistic,
            unit: None,
        },
    ]
}

/// The two distributions, which start at 0 at the lowest score, and their largest distance.
fn distributions(drawing: &CurveInputs<'_>) -> (Vec<LinePlotCurve>, f64) {
    let cases = &drawing.cases;
    let counts = cases.counts();
    let thresholds: Vec<f64> = counts.iter().rev().map(|(score, ..)| *score).collect();
    // The share of cases with at most this score, of those above the next higher score.
    let shares = |above: Vec<usize>, all: usize| {
        let shares = above
            .into_iter()
            .map(|above| as_f64(all - above) / as_f64(all));
        let points = thresholds.iter().zip(shares);
        let points = points.map(|(x, y)| LinePlotPoint { x: *x, y });
        let start = LinePlotPoint {
            x: thresholds[0],
            y: 0.0,
        };
        std::iter::once(start).chain(points).collect::<Vec<_>>()
    };
    // Counts of the cases strictly above each score, the lowest score first.
    let above = |count: fn(&(f64, usize, usize)) -> usize| {
        let higher = counts.iter().rev().skip(1).map(count);
        higher.chain([0]).collect::<Vec<_>>()
    };
    let positive = shares(above(|(_, positives, _)| *positives), cases.positives);
    let negative = shares(above(|(_, _, negatives)| *negatives), cases.negatives);
    let distances = positive.iter().zip(&negative);
    let statistic = distances.map(|(one, other)| (one.y - other.y).abs());
    let statistic = statistic.fold(0.0, f64::max);
    let curve = |name: &str, points: &[LinePlotPoint]| LinePlotCurve {
        name: name.to_owned(),
        points: drawing.drawn(points),
        style: LineStyle::Solid,
        step: Some(LineStep::End),
    };
    (
        vec![curve("Positive", &positive), curve("Negative", &negative)],
        statistic,
    )
}
