//! Paired changes with their intervals: a forest plot.

use evals::render::p_value;
use evals::{Unit, Verdict};

use crate::scale::Scale;
use crate::scene::{Anchor, Ink, Mark, Point, Scene, Shape, Stroke, Text};

use super::frame::{
    Frame, LABEL, MARGIN, TICK, TITLE_HEIGHT, axis_kind, cut, numbers, reach, scene, spanning,
    title, whisker, widest,
};
use super::{Heading, Width};

const ROW: f64 = 16.0;
const HEAD: f64 = 14.0;
const GAP: f64 = 12.0;

/// The change of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredChange {
    /// The name of the measure.
    pub measure: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The mean difference, second minus first, or the reason why there is none.
    pub difference: Result<f64, String>,
    /// The lower and upper end of its interval.
    pub interval: Option<(f64, f64)>,
    /// The corrected p value.
    pub p_value: Option<f64>,
    /// Whether the p value is corrected for several measures.
    pub is_corrected: bool,
    /// The verdict, which decides colour and symbol.
    pub verdict: Verdict,
}

/// A figure of the changes between two runs. Measures of different units have axes of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeFigure {
    /// Title and caption.
    pub heading: Heading,
    /// The changes, from top to bottom.
    pub changes: Vec<MeasuredChange>,
}

impl ChangeFigure {
    /// Draws the figure.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let mut top = MARGIN + TITLE_HEIGHT;
        let columns = TextColumns::of(&self.changes, width);
        for block in self.blocks() {
            top = draw_block(&mut marks, &block, top, columns, width) + GAP;
        }
        scene(&self.heading, width, top, self.description(), marks)
    }

    /// The changes of each axis: scores and rates share one, seconds have one, and each metric has one.
    fn blocks(&self) -> Vec<Vec<&MeasuredChange>> {
        let mut blocks: Vec<Vec<&MeasuredChange>> = Vec::new();
        for change in &self.changes {
            let axis = axis_kind(change.unit);
            let shared = blocks
                .iter_mut()
                .find(|block| axis.is_some() && axis_kind(block[0].unit) == axis);
            match shared {
                Some(block) => block.push(change),
                None => blocks.push(vec![change]),
            }
        }
        blocks
    }

    fn description(&self) -> String {
        let changes = self.changes.iter().map(|change| {
            let verdict = wording(change.verdict);
            format!("{}: {}, {verdict}.", change.measure, change.printed())
        });
        changes.collect::<Vec<_>>().join(" ")
    }
}

impl MeasuredChange {
    /// The change as printed, such as `+0.0121 [0.0020, 0.0222]`.
    fn printed(&self) -> String {
        let signed = |value: f64| {
            let printed = self.unit.print_signed(value);
            match printed.strip_prefix('-') {
                // As wide as the plus sign.
                Some(size) => format!("−{size}"),
                None => printed,
            }
        };
        match (&self.difference, self.interval) {
            (Ok(difference), Some((low, high))) => {
                format!(
                    "{} [{}, {}]",
                    signed(*difference),
                    signed(low),
                    signed(high)
                )
            }
            (Ok(difference), None) => signed(*difference),
            (Err(reason), _) => reason.clone(),
        }
    }

    fn printed_p(&self) -> String {
        let p = self.p_value.map(p_value).unwrap_or_default();
        if self.is_corrected {
            format!("corrected {p}")
        } else {
            p
        }
    }

    /// The texts on the right: the change and the verdict, or the verdict alone where there is no room for both.
    fn texts(&self, width: Width) -> [String; 2] {
        let p = self.printed_p();
        let verdict = wording(self.verdict);
        let verdict = if p.is_empty() {
            verdict.to_owned()
        } else {
            format!("{verdict}, {p}")
        };
        match width {
            Width::Page => [self.printed(), verdict],
            Width::Column | Width::Screen => [verdict, String::new()],
        }
    }

    fn symbol(&self) -> (Shape, Ink) {
        match self.verdict {
            Verdict::Better => (Shape::Triangle, Ink::Series(2)),
            Verdict::Worse => (Shape::DownTriangle, Ink::Series(1)),
            Verdict::Unclear | Verdict::Same | Verdict::None => (Shape::Circle, Ink::Muted),
        }
    }
}

fn wording(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Unclear => "may be chance",
        Verdict::Same => "no case changed",
        Verdict::None => "no verdict",
    }
}

/// The widths of the columns of text in points, the same in every block.
#[derive(Clone, Copy, Debug)]
struct TextColumns {
    measure: f64,
    value: f64,
    verdict: f64,
}

impl TextColumns {
    fn of(changes: &[MeasuredChange], width: Width) -> Self {
        let printed: Vec<[String; 2]> = changes.iter().map(|it| it.texts(width)).collect();
        let [value, verdict] =
            [0, 1].map(|column| widest(printed.iter().map(|it| it[column].as_str()), LABEL));
        let measures = changes.iter().map(|change| change.measure.as_str());
        Self {
            measure: widest(measures, LABEL).min(width.points() * 0.25),
            value,
            verdict,
        }
    }
}

fn draw_block(
    marks: &mut Vec<Mark>,
    changes: &[&MeasuredChange],
    top: f64,
    columns: TextColumns,
    width: Width,
) -> f64 {
    let right = width.points() - MARGIN;
    let verdict_left = right - columns.verdict;
    let value_right = verdict_left - if columns.verdict > 0.0 { GAP } else { 0.0 };
    let rows = changes.iter().map(|_| ROW).sum::<f64>();
    let frame = Frame {
        left: MARGIN + columns.measure + GAP,
        top,
        right: value_right - columns.value - GAP,
        bottom: top + rows,
    };
    let ends = changes.iter();
    let ends = ends.flat_map(|change| reach(&change.difference, change.interval));
    let scale = spanning(ends.chain([0.0]), 4, frame.left, frame.right);
    let print = numbers(changes[0].unit);
    frame.horizontal_axis(
        marks,
        &scale.ticks(4),
        print,
        "Mean difference, second run minus first",
    );
    let zero = scale.position(0.0);
    marks.push(Mark::Line {
        from: Point::new(zero, frame.top),
        to: Point::new(zero, frame.bottom),
        stroke: Stroke::solid(Ink::Text, 0.9).dashed(3.0, 2.0),
    });
    let mut y = frame.top + ROW / 2.0;
    for change in changes {
        let [value, verdict] = change.texts(width);
        let base = y + LABEL * 0.35;
        let label = cut(&change.measure, columns.measure);
        marks.push(Text::new(Point::new(MARGIN, base), label, LABEL).into());
        draw_change(marks, change, &scale, y);
        let text = Text::new(Point::new(value_right, base), value, LABEL);
        marks.push(text.anchored(Anchor::End).into());
        if !verdict.is_empty() {
            marks.push(Text::new(Point::new(verdict_left, base), verdict, LABEL).into());
        }
        y += ROW;
    }
    frame.bottom + HEAD + TICK + LABEL
}

/// Draws the interval of a change, and a symbol at the change.
fn draw_change(marks: &mut Vec<Mark>, change: &MeasuredChange, scale: &Scale, y: f64) {
    let (shape, ink) = change.symbol();
    if let Some((low, high)) = change.interval {
        marks.extend(whisker(scale.position(low), scale.position(high), y, ink));
    }
    if let Ok(difference) = change.difference {
        marks.push(Mark::Symbol {
            at: Point::new(scale.position(difference), y),
            shape,
            radius: 3.2,
            ink,
            is_open: matches!(change.verdict, Verdict::Unclear),
        });
    }
}
