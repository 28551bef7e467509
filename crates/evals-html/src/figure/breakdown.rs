//! Where cases went wrong: one bar for each outcome, from zero.

use evals_metrics::as_f64;

use crate::scale::Scale;
use crate::scene::{Fill, Ink, Mark, Point, Scene, Text};

use super::frame::{Frame, LABEL, MARGIN, TITLE_HEIGHT, cut, scene, title, widest};
use super::{Heading, Width};

const ROW: f64 = 16.0;

/// One outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name, such as `not retrieved`.
    pub name: String,
    /// How many cases have it.
    pub count: usize,
    /// The series that decides its colour.
    pub series: usize,
    /// Where its bar leads to, such as `#f=not-retrieved`.
    pub link: Option<String>,
}

/// A figure of how many cases have each outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Breakdown {
    /// Title and caption.
    pub heading: Heading,
    /// The outcomes, from top to bottom.
    pub parts: Vec<Part>,
}

impl Breakdown {
    /// Draws the figure.
    pub fn draw(&self, width: Width) -> Scene {
        let mut marks = vec![title(&self.heading, width)];
        let top = MARGIN + TITLE_HEIGHT;
        let total: usize = self.parts.iter().map(|part| part.count).sum();
        let printed: Vec<String> = self.parts.iter().map(|it| it.printed(total)).collect();
        let names = self.parts.iter().map(|part| part.name.as_str());
        let name_width = widest(names, LABEL).min(width.points() * 0.45);
        let frame = Frame {
            left: MARGIN + name_width + 10.0,
            top,
            right: width.points()
                - MARGIN
                - widest(printed.iter().map(String::as_str), LABEL)
                - 6.0,
            bottom: top,
        };
        let most = self.parts.iter().map(|part| part.count).max().unwrap_or(0);
        let scale = Scale::linear(0.0..=as_f64(most.max(1)), frame.left, frame.right);
        let mut y = top + ROW / 2.0;
        for (part, printed) in self.parts.iter().zip(printed) {
            let base = y + LABEL * 0.35;
            let end = scale.position(as_f64(part.count));
            let name = cut(&part.name, name_width);
            marks.push(Mark::Group {
                title: None,
                link: part.link.clone(),
                marks: vec![
                    Text::new(Point::new(MARGIN, base), name, LABEL).into(),
                    Mark::Rectangle {
                        corner: Point::new(frame.left, y - ROW * 0.36),
                        width: end - frame.left,
                        height: ROW * 0.72,
                        fill: Fill::opaque(Ink::Series(part.series)),
                    },
                    Text::new(Point::new(end + 5.0, base), printed, LABEL).into(),
                ],
            });
            y += ROW;
        }
        let height = y - ROW / 2.0 + MARGIN;
        scene(&self.heading, width, height, self.description(total), marks)
    }

    fn description(&self, total: usize) -> String {
        let parts = self.parts.iter();
        let parts = parts.map(|part| format!("{}: {}", part.name, part.printed(total)));
        format!("{}.", parts.collect::<Vec<_>>().join("; "))
    }
}

impl Part {
    /// The count with its share, such as `12 (24.0 %)`.
    fn printed(&self, total: usize) -> String {
        if total == 0 {
            return self.count.to_string();
        }
        let share = as_f64(self.count) / as_f64(total) * 100.0;
        format!("{} ({share:.1} %)", self.count)
    }
}
