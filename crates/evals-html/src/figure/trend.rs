//! One measure over several runs.

use evals::Unit;
use evals_metrics::as_f64;

use crate::scale::Scale;
use crate::scene::{Anchor, Fill, Ink, Mark, Point, Scene, Stroke, Text};

use super::frame::{Frame, TICK, numbers, plain, reach, scene, spanning, symbol, title};
use super::{Heading, Width};

const PLOT: f64 = 150.0;
/// The least distance of two labels below the axis, in points.
const LABEL_DISTANCE: f64 = 46.0;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendPoint {
    /// Its label below the axis, such as a date.
    pub label: String,
    /// The measure, or why there is none, such as `undefined: no case has a reference`. The drawing shows the words before the colon or
    /// semicolon.
    pub value: Result<f64, String>,
    /// The lower and upper end of its interval.
    pub interval: Option<(f64, f64)>,
    /// The settings that changed since the run before; empty where none did.
    pub changed: String,
    /// Why the line is broken before this run, such as `other data`; empty where it is not.
    pub broken: String,
}

/// A figure of one measure over runs, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Title and caption.
    pub heading: Heading,
    /// The name of the measure.
    pub measure: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The runs.
    pub points: Vec<TrendPoint>,
}

impl Trend {
    /// Draws the figure.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let frame = Frame::named_plot(PLOT, width);
        let ends = self.points.iter();
        let ends = ends.flat_map(|it| reach(&it.value, it.interval));
        let values = spanning(ends, 5, frame.bottom, frame.top);
        let print = numbers(self.unit);
        frame.vertical_axis(&mut marks, &values.ticks(5), print, &self.measure);
        frame.horizontal_axis(&mut marks, &[], plain, "");
        let runs = Scale::linear(
            -0.3..=as_f64(self.points.len().saturating_sub(1)) + 0.3,
            frame.left,
            frame.right,
        );
        self.draw_lines(&mut marks, &runs, &values);
        let mut labelled_to = f64::NEG_INFINITY;
        for (position, point) in self.points.iter().enumerate() {
            let x = runs.position(as_f64(position));
            point.draw(&mut marks, x, &values, frame);
            if x - labelled_to >= LABEL_DISTANCE {
                let at = Point::new(x, frame.bottom + TICK + 3.0);
                let text = Text::new(at, point.label.as_str(), TICK).ink(Ink::Muted);
                marks.push(text.anchored(Anchor::Middle).into());
                labelled_to = x;
            }
        }
        let height = frame.bottom + TICK + 10.0;
        scene(&self.heading, width, height, self.description(), marks)
    }

    /// A line through neighbours that are not broken apart and have values.
    fn draw_lines(&self, marks: &mut Vec<Mark>, runs: &Scale, values: &Scale) {
        for (position, pair) in self.points.windows(2).enumerate() {
            let [before, after] = pair else { continue };
            let (Ok(first), Ok(second)) = (&before.value, &after.value) else {
                continue;
            };
            if !after.broken.is_empty() {
                continue;
            }
            let x = |position: usize| runs.position(as_f64(position));
            marks.push(Mark::Line {
                from: Point::new(x(position), values.position(*first)),
                to: Point::new(x(position + 1), values.position(*second)),
                stroke: Stroke::solid(Ink::Series(0), 1.3),
            });
        }
    }

    fn description(&self) -> String {
        let points = self.points.iter().map(|point| {
            let value = match &point.value {
                Ok(value) => self.unit.print(*value),
                Err(reason) => reason.clone(),
            };
            let unless_empty = |before: &str, text: &str| match text {
                "" => String::new(),
                text => format!("{before}{text}"),
            };
            let broken = unless_empty(", ", &point.broken);
            let changed = unless_empty(", changed: ", &point.changed);
            let label = match point.label.as_str() {
                "" => "a run",
                label => label,
            };
            format!("{label}: {value}{broken}{changed}.")
        });
        format!(
            "{} by run. {}",
            self.measure,
            points.collect::<Vec<_>>().join(" ")
        )
    }
}

impl TrendPoint {
    fn draw(&self, marks: &mut Vec<Mark>, x: f64, values: &Scale, frame: Frame) {
        if !self.broken.is_empty() {
            marks.push(Mark::Rectangle {
                corner: Point::new(x - 2.5, frame.top),
                width: 5.0,
                height: frame.bottom - frame.top,
                fill: Fill {
                    ink: Ink::Muted,
                    opacity: 0.18,
                },
            });
        }
        if !self.changed.is_empty() {
            marks.push(Mark::Line {
                from: Point::new(x, frame.top),
                to: Point::new(x, frame.bottom),
                stroke: Stroke::solid(Ink::Muted, 0.8).dashed(2.0, 2.0),
            });
        }
        let mut drawn = Vec::new();
        if let Some((low, high)) = self.interval {
            drawn.push(Mark::Line {
                from: Point::new(x, values.position(low)),
                to: Point::new(x, values.position(high)),
                stroke: Stroke::solid(Ink::Series(0), 1.1),
            });
        }
        match &self.value {
            Ok(value) => drawn.push(symbol(Point::new(x, values.position(*value)), 0)),
            Err(reason) => {
                let at = Point::new(x, frame.bottom - 4.0);
                let word = reason.split([':', ';']).next().unwrap_or_default();
                drawn.push(Text::new(at, word, TICK).ink(Ink::Muted).upward().into());
            }
        }
        let title = (!self.changed.is_empty()).then(|| format!("changed: {}", self.changed));
        marks.push(Mark::Group {
            title,
            link: None,
            marks: drawn,
        });
    }
}
