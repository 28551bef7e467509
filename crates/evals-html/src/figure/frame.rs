//! The parts that figures share: the title, the plot area with its axes, and the legend.

use evals::Unit;

use super::{Heading, Width};
use crate::scale::{Scale, Tick};
use crate::scene::{Anchor, Ink, Mark, Point, Scene, Shape, Stroke, Text, Weight, text_width};

/// The size of text in points: titles, labels, and the numbers of axes.
pub(super) const TITLE: f64 = 9.5;
pub(super) const LABEL: f64 = 8.0;
pub(super) const TICK: f64 = 7.5;
/// The space around a figure in points.
pub(super) const MARGIN: f64 = 8.0;
/// The height that the title takes in points.
pub(super) const TITLE_HEIGHT: f64 = 20.0;

/// The space for the numbers of a vertical axis in points.
const NUMBERS: f64 = 40.0;
const HAIRLINE: f64 = 0.6;
const LEGEND_LINE: f64 = 13.0;

/// The area of a plot in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// A plot that is `height` points high below `top`, with room on its left for the numbers of the vertical axis.
    pub(super) fn plot(top: f64, height: f64, width: Width) -> Self {
        Self {
            left: MARGIN + NUMBERS,
            top,
            right: width.points() - MARGIN - 12.0,
            bottom: top + height,
        }
    }

    /// A plot whose vertical axis has a name, below the title of the figure.
    pub(super) fn named_plot(height: f64, width: Width) -> Self {
        Self::plot(MARGIN + TITLE_HEIGHT + LABEL + 6.0, height, width)
    }

    /// Where a figure ends whose horizontal axis has a name.
    pub(super) fn end(self) -> f64 {
        self.bottom + TICK + LABEL + 12.0
    }

    /// Draws a grid line, a number for each tick of the horizontal axis, and its name.
    pub(super) fn horizontal_axis(
        self,
        marks: &mut Vec<Mark>,
        ticks: &[Tick],
        print: impl Fn(&Tick) -> String,
        name: &str,
    ) {
        marks.extend(graduations(ticks, print, Anchor::Middle, |x| {
            let ends = [Point::new(x, self.top), Point::new(x, self.bottom)];
            (ends, Point::new(x, self.bottom + TICK + 3.0))
        }));
        marks.push(self.base_line());
        let middle = f64::midpoint(self.left, self.right);
        let at = Point::new(middle, self.bottom + TICK + LABEL + 6.0);
        marks.extend(axis_name(name, at, Anchor::Middle));
    }

    /// Draws a grid line and a number for each tick of the vertical axis, and its name above it.
    pub(super) fn vertical_axis(
        self,
        marks: &mut Vec<Mark>,
        ticks: &[Tick],
        print: impl Fn(&Tick) -> String,
        name: &str,
    ) {
        marks.extend(graduations(ticks, print, Anchor::End, |y| {
            let ends = [Point::new(self.left, y), Point::new(self.right, y)];
            (ends, Point::new(self.left - 4.0, y + TICK * 0.35))
        }));
        let at = Point::new(self.left, self.top - 5.0);
        marks.extend(axis_name(name, at, Anchor::Start));
    }

    fn base_line(self) -> Mark {
        Mark::Line {
            from: Point::new(self.left, self.bottom),
            to: Point::new(self.right, self.bottom),
            stroke: Stroke::solid(Ink::Muted, HAIRLINE),
        }
    }
}

/// A grid line with its number for each tick. `place` gives the ends of the line and the place of the number for a position on the axis.
fn graduations(
    ticks: &[Tick],
    print: impl Fn(&Tick) -> String,
    anchor: Anchor,
    place: impl Fn(f64) -> ([Point; 2], Point),
) -> impl Iterator<Item = Mark> {
    ticks.iter().flat_map(move |tick| {
        let ([from, to], at) = place(tick.position);
        let line = Mark::Line {
            from,
            to,
            stroke: Stroke::solid(Ink::Grid, HAIRLINE),
        };
        let number = Text::new(at, print(tick), TICK).ink(Ink::Muted);
        [line, number.anchored(anchor).into()]
    })
}

/// The name of an axis, if it has one.
fn axis_name(name: &str, at: Point, anchor: Anchor) -> Option<Mark> {
    let text = || Text::new(at, name, LABEL).anchored(anchor).into();
    (!name.is_empty()).then(text)
}

/// Which measures share an axis. Recorded metrics may be of any size and share none.
pub(super) fn axis_kind(unit: Unit) -> Option<bool> {
    match unit {
        Unit::Score | Unit::PassRate | Unit::Share => Some(true),
        Unit::Seconds => Some(false),
        Unit::Metric => None,
    }
}

/// How the numbers of an axis of this unit are printed.
pub(super) fn numbers(unit: Unit) -> fn(&Tick) -> String {
    match unit {
        Unit::Seconds => seconds,
        Unit::Score | Unit::PassRate | Unit::Share | Unit::Metric => plain,
    }
}

/// A tick's number with the decimals of its axis.
pub(super) fn plain(tick: &Tick) -> String {
    format!("{:.*}", tick.decimals, tick.value).replace('-', "−")
}

/// A tick's number as a share of a hundred.
pub(super) fn percent(tick: &Tick) -> String {
    format!(
        "{:.*} %",
        tick.decimals.saturating_sub(2),
        tick.value * 100.0
    )
}

/// A tick's duration in seconds, in the unit that suits it.
fn seconds(tick: &Tick) -> String {
    let size = tick.value.abs();
    let (value, unit) = if size == 0.0 {
        return "0".to_owned();
    } else if size < 0.999e-3 {
        (tick.value * 1e6, "µs")
    } else if size < 0.999 {
        (tick.value * 1e3, "ms")
    } else {
        (tick.value, "s")
    };
    let rounded = format!("{value:.3}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    format!("{short} {unit}").replace('-', "−")
}

/// The title of a figure, shortened where it is wider than the figure.
pub(super) fn title(heading: &Heading, width: Width) -> Mark {
    let at = Point::new(MARGIN, MARGIN + TITLE);
    let shown = shortened(
        &heading.title,
        width.points() - 2.0 * MARGIN,
        TITLE,
        Weight::Bold,
    );
    Text::new(at, shown, TITLE).bold().into()
}

/// A finished figure.
pub(super) fn scene(
    heading: &Heading,
    width: Width,
    height: f64,
    description: String,
    marks: Vec<Mark>,
) -> Scene {
    Scene {
        width: width.points(),
        height,
        title: heading.title.clone(),
        description,
        caption: heading.caption.clone(),
        marks,
    }
}

/// Draws the names of the series with their symbols, in lines from `top` on, and returns the height they take. A single series
/// needs no legend.
pub(super) fn legend(marks: &mut Vec<Mark>, names: &[&str], top: f64, width: Width) -> f64 {
    if names.len() < 2 {
        return 0.0;
    }
    let mut x = MARGIN;
    let mut y = top + LABEL;
    for (series, name) in names.iter().enumerate() {
        let taken = 12.0 + text_width(name, LABEL, Weight::Regular) + 14.0;
        if x > MARGIN && x + taken > width.points() - MARGIN {
            x = MARGIN;
            y += LEGEND_LINE;
        }
        marks.push(symbol(Point::new(x + 4.0, y - LABEL * 0.35), series));
        marks.push(Text::new(Point::new(x + 12.0, y), *name, LABEL).into());
        x += taken;
    }
    y + 5.0 - top
}

/// The symbol of a series.
pub(super) fn symbol(at: Point, series: usize) -> Mark {
    Mark::Symbol {
        at,
        shape: Shape::of_series(series),
        radius: 3.0,
        ink: Ink::Series(series),
        is_open: false,
    }
}

/// A horizontal line with an end at each side, for an interval.
pub(super) fn whisker(low: f64, high: f64, y: f64, ink: Ink) -> Vec<Mark> {
    let stroke = Stroke::solid(ink, 1.2);
    let end = |x: f64| Mark::Line {
        from: Point::new(x, y - 2.5),
        to: Point::new(x, y + 2.5),
        stroke,
    };
    let line = Mark::Line {
        from: Point::new(low, y),
        to: Point::new(high, y),
        stroke,
    };
    vec![line, end(low), end(high)]
}

/// A label cut to a width in points.
pub(super) fn cut(text: &str, width: f64) -> String {
    shortened(text, width, LABEL, Weight::Regular)
}

/// The widest of some texts in points.
pub(super) fn widest<'t>(texts: impl IntoIterator<Item = &'t str>, size: f64) -> f64 {
    texts
        .into_iter()
        .map(|text| text_width(text, size, Weight::Regular))
        .fold(0.0, f64::max)
}

/// What an axis has to span for a value, if there is one, and its interval.
pub(super) fn reach(
    value: &Result<f64, String>,
    interval: Option<(f64, f64)>,
) -> impl Iterator<Item = f64> {
    let ends = interval.map(|(low, high)| [low, high]);
    value.iter().copied().chain(ends.into_iter().flatten())
}

/// An axis for values that may lie anywhere: from the least to the greatest, with ticks at both ends.
pub(super) fn spanning(
    values: impl IntoIterator<Item = f64>,
    ticks: usize,
    from: f64,
    to: f64,
) -> Scale {
    let (low, high) = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
        .unwrap_or((0.0, 1.0));
    Scale::rounded(low..=high, ticks, from, to)
}

/// Shortens a text of this size and weight to a width in points; an ellipsis stands for its end.
fn shortened(text: &str, width: f64, size: f64, weight: Weight) -> String {
    let fits = |text: &str| text_width(text, size, weight) <= width;
    if fits(text) {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let text: String = kept.iter().chain(&['…']).collect();
        if fits(&text) {
            return text;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_with_an_ellipsis() {
        let cut = |text: &str, width| shortened(text, width, 8.0, Weight::Regular);
        assert_eq!(cut("hybrid", 100.0), "hybrid");
        let short = cut("sentence-transformers/all-MiniLM-L6-v2", 60.0);
        assert!(
            short.ends_with('…') && short.starts_with("sentence"),
            "{short}"
        );
        assert!(text_width(&short, 8.0, Weight::Regular) <= 60.0);
        assert_eq!(cut("wide", 0.0), "…");
    }
}
