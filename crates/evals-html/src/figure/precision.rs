//! Interpolated precision at eleven levels of recall.

use evals_metrics::as_f64;

use crate::scale::Scale;
use crate::scene::{Fill, Ink, Mark, Point, Scene, Stroke};

use super::frame::{Frame, LABEL, MARGIN, TITLE_HEIGHT, legend, plain, scene, symbol, title};
use super::{Heading, Width};

const PLOT: f64 = 190.0;
const LEVELS: usize = 11;

/// Precision at recall 0, 0.1 … 1, interpolated: the highest precision at this recall or above, averaged over questions.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionCurve {
    /// The name of the series.
    pub name: String,
    /// The means at the eleven levels.
    pub means: [f64; LEVELS],
    /// The lower and upper ends of their intervals.
    pub band: Option<[(f64, f64); LEVELS]>,
}

/// A figure of precision against recall, one line for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallPrecision {
    /// Title and caption.
    pub heading: Heading,
    /// The series.
    pub curves: Vec<PrecisionCurve>,
}

impl RecallPrecision {
    /// Most curves whose bands are drawn.
    pub const BANDS: usize = 2;

    /// Draws the figure. Bands are left out where more than [`BANDS`](Self::BANDS) of them would cover each other.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let names: Vec<&str> = self.curves.iter().map(|it| it.name.as_str()).collect();
        let top = MARGIN + TITLE_HEIGHT;
        let top = top + legend(&mut marks, &names, top, width) + LABEL + 6.0;
        let frame = Frame::plot(top, PLOT, width);
        let recall = Scale::linear(0.0..=1.0, frame.left, frame.right);
        let precision = Scale::linear(0.0..=1.0, frame.bottom, frame.top);
        frame.vertical_axis(
            &mut marks,
            &precision.ticks(5),
            plain,
            "Interpolated precision",
        );
        frame.horizontal_axis(&mut marks, &recall.ticks(5), plain, "Recall");
        let point = |level: usize, value: f64| {
            Point::new(recall.position(level_of(level)), precision.position(value))
        };
        if self.curves.len() <= Self::BANDS {
            for (series, curve) in self.curves.iter().enumerate() {
                marks.extend(curve.band.map(|band| {
                    let upper = band.iter().enumerate().map(|(it, ends)| point(it, ends.1));
                    let lower = band.iter().enumerate().map(|(it, ends)| point(it, ends.0));
                    Mark::Area {
                        corners: upper.chain(lower.rev()).collect(),
                        fill: Fill {
                            ink: Ink::Series(series),
                            opacity: 0.18,
                        },
                    }
                }));
            }
        }
        for (series, curve) in self.curves.iter().enumerate() {
            let means = curve.means.iter().enumerate();
            let points: Vec<Point> = means.map(|(level, mean)| point(level, *mean)).collect();
            marks.push(Mark::Path {
                points: points.clone(),
                stroke: Stroke::solid(Ink::Series(series), 1.3),
            });
            marks.extend(points.into_iter().map(|at| symbol(at, series)));
        }
        scene(&self.heading, width, frame.end(), self.description(), marks)
    }

    fn description(&self) -> String {
        let curves = self.curves.iter().map(|curve| {
            let levels = curve.means.iter().enumerate();
            let levels = levels.map(|(it, mean)| format!("{:.1}: {mean:.4}", level_of(it)));
            let levels = levels.collect::<Vec<_>>().join(", ");
            format!("{}, precision at each recall: {levels}.", curve.name)
        });
        curves.collect::<Vec<_>>().join(" ")
    }
}

fn level_of(position: usize) -> f64 {
    as_f64(position) / 10.0
}
