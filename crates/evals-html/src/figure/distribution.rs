//! The share of samples up to each value: an empirical distribution, as of latencies.

use evals::Unit;
use evals_metrics::quantile;

use crate::scale::Scale;
use crate::scene::{Ink, Mark, Point, Scene, Stroke, Text};

use super::frame::{
    Frame, LABEL, MARGIN, TITLE_HEIGHT, legend, numbers, percent, scene, symbol, title,
};
use super::{Heading, Width};

const PLOT: f64 = 150.0;

/// The samples of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The name of the series, such as a stage.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
}

/// A figure of the share of samples up to each value, one line for each series.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Title and caption.
    pub heading: Heading,
    /// The name of the horizontal axis.
    pub axis: String,
    /// The unit of the values. Seconds have a logarithmic axis.
    pub unit: Unit,
    /// The series; those without samples are named in the legend only.
    pub series: Vec<Samples>,
}

impl Distribution {
    /// Draws the figure.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let names: Vec<String> = self.series.iter().map(Samples::legend).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let top = MARGIN + TITLE_HEIGHT;
        let top = top + legend(&mut marks, &names, top, width) + 6.0;
        let frame = Frame::plot(top, PLOT, width);
        let shares = Scale::linear(0.0..=1.0, frame.bottom, frame.top);
        frame.vertical_axis(&mut marks, &shares.ticks(5), percent, "");
        if let Some(scale) = self.scale(frame) {
            let print = numbers(self.unit);
            frame.horizontal_axis(&mut marks, &scale.ticks(5), print, &self.axis);
            for (number, series) in self.series.iter().enumerate() {
                series.draw(&mut marks, number, &scale, &shares);
            }
        } else {
            let at = Point::new(frame.left + 8.0, f64::midpoint(frame.top, frame.bottom));
            marks.push(Text::new(at, "no samples", LABEL).ink(Ink::Muted).into());
        }
        scene(&self.heading, width, frame.end(), self.description(), marks)
    }

    fn scale(&self, frame: Frame) -> Option<Scale> {
        let values = || {
            let all = self.series.iter().flat_map(|it| it.values.iter().copied());
            all.filter(|value| value.is_finite())
        };
        let high = values().reduce(f64::max)?;
        if self.unit != Unit::Seconds {
            let low = values().reduce(f64::min)?;
            return Some(Scale::rounded(low..=high, 5, frame.left, frame.right));
        }
        // A duration of zero, of a clock too coarse, stands at the left edge.
        let positive = values().filter(|value| *value > 0.0);
        let low = positive.reduce(f64::min).unwrap_or(1e-6);
        Some(Scale::logarithmic(
            low..=high.max(low),
            frame.left,
            frame.right,
        ))
    }

    fn description(&self) -> String {
        let series = self.series.iter().map(|samples| {
            let sorted = samples.sorted();
            match (quantile(&sorted, 0.5), quantile(&sorted, 0.95)) {
                (Some(half), Some(most)) => format!(
                    "{}: p50 {}, p95 {}.",
                    samples.legend(),
                    self.unit.print(half),
                    self.unit.print(most)
                ),
                _ => format!("{}: no samples.", samples.name),
            }
        });
        series.collect::<Vec<_>>().join(" ")
    }
}

impl Samples {
    fn legend(&self) -> String {
        format!("{} (n = {})", self.name, self.values.len())
    }

    fn sorted(&self) -> Vec<f64> {
        let finite = self.values.iter().copied().filter(|it| it.is_finite());
        let mut sorted: Vec<f64> = finite.collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// A step line: at each sample the share rises.
    fn draw(&self, marks: &mut Vec<Mark>, series: usize, scale: &Scale, shares: &Scale) {
        let sorted = self.sorted();
        let Ok(count) = u32::try_from(sorted.len()) else {
            return;
        };
        if count == 0 {
            return;
        }
        let mut points: Vec<Point> = Vec::new();
        let mut seen = 0;
        let mut y = shares.position(0.0);
        for equal in sorted.chunk_by(|left, right| left.total_cmp(right).is_eq()) {
            let x = scale.position(equal[0].max(scale.low()));
            points.push(Point::new(x, y));
            seen += u32::try_from(equal.len()).unwrap_or(0);
            y = shares.position(f64::from(seen) / f64::from(count));
            points.push(Point::new(x, y));
        }
        marks.push(Mark::Path {
            points: thinned(points),
            stroke: Stroke::solid(Ink::Series(series), 1.4),
        });
        // A symbol at the median tells the lines apart without colour.
        if let Some(median) = quantile(&sorted, 0.5) {
            let x = scale.position(median.max(scale.low()));
            marks.push(symbol(Point::new(x, shares.position(0.5)), series));
        }
    }
}

/// Leaves out points that nobody could see: those within a tenth of a point of the one before. The last one stays.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let last = points.last().copied();
    let mut kept: Vec<Point> = Vec::with_capacity(points.len().min(4096));
    for point in points {
        let is_new = kept.last().is_none_or(|before: &Point| {
            (before.x - point.x).abs() > 0.1 || (before.y - point.y).abs() > 0.1
        });
        if is_new {
            kept.push(point);
        }
    }
    if let Some(last) = last.filter(|last| kept.last() != Some(last)) {
        kept.push(last);
    }
    kept
}
