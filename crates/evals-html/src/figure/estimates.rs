//! Means with their intervals: dots, or bars from zero.

use evals::Unit;
use evals_metrics::as_f64;

use crate::scale::Scale;
use crate::scene::{Anchor, Fill, Ink, Mark, Point, Scene, Text};

use super::frame::{
    Frame, LABEL, MARGIN, TICK, TITLE_HEIGHT, axis_kind, cut, numbers, reach, scene, spanning,
    symbol, title, whisker, widest,
};
use super::{Heading, Width};

const ROW: f64 = 15.0;
const PANEL_TITLE: f64 = 16.0;
const AXIS: f64 = TICK + 10.0;
const PANEL_GAP: f64 = 10.0;
/// The largest share of a panel's width that its labels take.
const LABELS: f64 = 0.4;

/// One mean with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Its label, such as the name of a search profile.
    pub label: String,
    /// The mean, or the reason why it is undefined.
    pub value: Result<f64, String>,
    /// The lower and upper end of its interval.
    pub interval: Option<(f64, f64)>,
    /// The series it belongs to, which decides its colour and symbol.
    pub series: usize,
}

/// The means of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The name of the measure.
    pub name: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Its means, from top to bottom.
    pub estimates: Vec<Estimate>,
}

/// How a mean is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As a dot on an axis that spans the intervals.
    #[default]
    Dots,
    /// As a bar from zero.
    Bars,
}

/// A figure of means with their intervals, one panel for each measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimates {
    /// Title and caption.
    pub heading: Heading,
    /// One for each measure. Two of them stand beside each other where the figure is as wide as a page.
    pub panels: Vec<Panel>,
    /// How means are drawn.
    pub style: Style,
}

impl Estimates {
    /// Draws the figure.
    pub fn draw(&self, width: Width) -> Scene {
        // An odd number of panels would leave a hole.
        let columns = match width {
            Width::Page if self.panels.len().is_multiple_of(2) => 2,
            Width::Column | Width::Screen | Width::Page => 1,
        };
        let count = as_f64(columns);
        let panel_width = (width.points() - 2.0 * MARGIN - (count - 1.0) * PANEL_GAP * 2.0) / count;
        let mut marks = vec![title(&self.heading, width)];
        let mut top = MARGIN + TITLE_HEIGHT;
        let texts = TextColumns::of(&self.panels, panel_width);
        for row in self.panels.chunks(columns) {
            let mut left = MARGIN;
            let height = row.iter().map(Panel::height).fold(0.0, f64::max);
            for panel in row {
                let ends = self.ends(panel.unit, panel);
                let corner = Point::new(left, top);
                panel.draw(&mut marks, self.style, corner, panel_width, texts, &ends);
                left += panel_width + PANEL_GAP * 2.0;
            }
            top += height + PANEL_GAP;
        }
        scene(&self.heading, width, top, self.description(), marks)
    }

    /// The values that the axis of a panel spans: those of all panels of its kind, so that readers can compare them.
    fn ends(&self, unit: Unit, own: &Panel) -> Vec<f64> {
        let kind = axis_kind(unit);
        let panels = self.panels.iter().filter(|panel| match kind {
            Some(kind) => axis_kind(panel.unit) == Some(kind),
            None => std::ptr::eq(*panel, own),
        });
        panels.flat_map(Panel::ends).collect()
    }

    fn description(&self) -> String {
        let panels = self.panels.iter().map(|panel| {
            let estimates = panel.estimates.iter().map(|it| it.sentence(panel.unit));
            format!(
                "{}: {}.",
                panel.name,
                estimates.collect::<Vec<_>>().join("; ")
            )
        });
        panels.collect::<Vec<_>>().join(" ")
    }
}

impl Estimate {
    /// The estimate in words, such as `hybrid 0.7739, 0.7340 to 0.8110`.
    fn sentence(&self, unit: Unit) -> String {
        let value = match (&self.value, self.interval) {
            (Ok(value), Some((low, high))) => {
                let [value, low, high] = [*value, low, high].map(|it| unit.print(it));
                format!("{value}, {low} to {high}")
            }
            (Ok(value), None) => unit.print(*value),
            (Err(reason), _) => format!("undefined, {reason}"),
        };
        format!("{} {value}", self.label)
    }
}

/// The widths of labels and of numbers in points, the same in every panel.
#[derive(Clone, Copy, Debug)]
struct TextColumns {
    label: f64,
    value: f64,
}

impl TextColumns {
    fn of(panels: &[Panel], width: f64) -> Self {
        let estimates = panels.iter().flat_map(|panel| &panel.estimates);
        let labels = estimates.map(|it| it.label.as_str());
        let printed = panels.iter().flat_map(|panel| {
            let estimates = panel.estimates.iter();
            estimates.map(|it| panel.printed(it))
        });
        let printed: Vec<String> = printed.collect();
        Self {
            label: widest(labels, LABEL).min(width * LABELS),
            value: widest(printed.iter().map(String::as_str), LABEL),
        }
    }
}

impl Panel {
    fn height(&self) -> f64 {
        let rows = self.estimates.iter().map(|_| ROW).sum::<f64>();
        PANEL_TITLE + rows + AXIS
    }

    fn draw(
        &self,
        marks: &mut Vec<Mark>,
        style: Style,
        Point { x: left, y: top }: Point,
        width: f64,
        texts: TextColumns,
        ends: &[f64],
    ) {
        let at = Point::new(left, top + LABEL);
        marks.push(Text::new(at, self.name.as_str(), LABEL).bold().into());
        let rows = self.estimates.iter().map(|_| ROW).sum::<f64>();
        let frame = Frame {
            left: left + texts.label + 8.0,
            top: top + PANEL_TITLE,
            right: left + width - texts.value - 8.0,
            bottom: top + PANEL_TITLE + rows,
        };
        let zero = (style == Style::Bars).then_some(0.0);
        let ends = ends.iter().copied().chain(zero);
        let scale = spanning(ends, 4, frame.left, frame.right);
        let print = numbers(self.unit);
        frame.horizontal_axis(marks, &scale.ticks(4), print, "");
        let mut y = frame.top + ROW / 2.0;
        for estimate in &self.estimates {
            let base = y + LABEL * 0.35;
            let label = cut(&estimate.label, texts.label);
            marks.push(Text::new(Point::new(left, base), label, LABEL).into());
            estimate.draw(marks, style, &scale, y);
            let at = Point::new(left + width, base);
            let text = Text::new(at, self.printed(estimate), LABEL).anchored(Anchor::End);
            let ink = if estimate.value.is_ok() {
                Ink::Text
            } else {
                Ink::Muted
            };
            marks.push(text.ink(ink).into());
            y += ROW;
        }
    }

    fn printed(&self, estimate: &Estimate) -> String {
        match &estimate.value {
            Ok(value) => self.unit.print(*value),
            Err(_) => "undefined".to_owned(),
        }
    }

    /// Its numbers and the ends of their intervals.
    fn ends(&self) -> impl Iterator<Item = f64> {
        let estimates = self.estimates.iter();
        estimates.flat_map(|estimate| reach(&estimate.value, estimate.interval))
    }
}

impl Estimate {
    fn draw(&self, marks: &mut Vec<Mark>, style: Style, scale: &Scale, y: f64) {
        let Ok(value) = self.value else {
            return;
        };
        let x = scale.position(value);
        let ink = Ink::Series(self.series);
        let whisker_ink = match style {
            Style::Dots => ink,
            Style::Bars => {
                let zero = scale.position(0.0);
                marks.push(Mark::Rectangle {
                    corner: Point::new(zero.min(x), y - ROW * 0.34),
                    width: (x - zero).abs(),
                    height: ROW * 0.68,
                    fill: Fill::opaque(ink),
                });
                Ink::Text
            }
        };
        if let Some((low, high)) = self.interval {
            marks.extend(whisker(
                scale.position(low),
                scale.position(high),
                y,
                whisker_ink,
            ));
        }
        if style == Style::Dots {
            marks.push(symbol(Point::new(x, y), self.series));
        }
    }
}
