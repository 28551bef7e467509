//! The marks that a drawing is made of.

use super::{Fill, Ink, Stroke};

/// A point of a drawing, in points of 1/72 inch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// From the left edge.
    pub x: f64,
    /// From the upper edge.
    pub y: f64,
}

impl Point {
    /// A point.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }
}

/// One mark.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A straight line.
    Line {
        /// Its beginning.
        from: Point,
        /// Its end.
        to: Point,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// Straight lines through points.
    Path {
        /// The points in order.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A filled polygon.
    Area {
        /// Its corners in order.
        corners: Vec<Point>,
        /// How it is filled.
        fill: Fill,
    },
    /// A filled rectangle.
    Rectangle {
        /// Its upper left corner.
        corner: Point,
        /// Its width in points.
        width: f64,
        /// Its height in points.
        height: f64,
        /// How it is filled.
        fill: Fill,
    },
    /// A symbol of a data point.
    Symbol {
        /// Its centre.
        at: Point,
        /// Its form.
        shape: Shape,
        /// Half its width in points.
        radius: f64,
        /// Its colour.
        ink: Ink,
        /// Whether it is an outline rather than filled.
        is_open: bool,
    },
    /// A line of text.
    Text(Text),
    /// Marks that belong together.
    Group {
        /// A sentence on the group, shown where a pointer rests on it.
        title: Option<String>,
        /// The address that the group leads to, such as `#case-q7`.
        link: Option<String>,
        /// The marks, from back to front.
        marks: Vec<Mark>,
    },
}

impl Mark {
    /// Whether the mark leads somewhere, or one within it does.
    pub fn has_link(&self) -> bool {
        match self {
            Mark::Group { link, marks, .. } => link.is_some() || marks.iter().any(Mark::has_link),
            _ => false,
        }
    }
}

/// The form of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A triangle with its tip up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle with its tip down.
    DownTriangle,
    /// A cross of two diagonals.
    Cross,
}

impl Shape {
    /// The form of a series, from 0, so that colour is never the only difference.
    pub fn of_series(number: usize) -> Self {
        const SHAPES: [Shape; Ink::SERIES] = [
            Shape::Circle,
            Shape::Square,
            Shape::Triangle,
            Shape::Diamond,
            Shape::DownTriangle,
            Shape::Cross,
        ];
        SHAPES[number % SHAPES.len()]
    }
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The point of its base line that `anchor` names.
    pub at: Point,
    /// Its characters.
    pub content: String,
    /// Its size in points.
    pub size: f64,
    /// Its colour.
    pub ink: Ink,
    /// Which end of it stands at the point.
    pub anchor: Anchor,
    /// Its weight.
    pub weight: Weight,
    /// Whether it is turned to read upwards.
    pub is_upward: bool,
}

/// Which part of a text stands at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its first character.
    Start,
    /// Its middle.
    Middle,
    /// Its last character.
    End,
}

/// The weight of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Of running text.
    Regular,
    /// Of titles.
    Bold,
}

impl Text {
    /// Text in regular weight that begins at a point.
    pub fn new(at: Point, content: impl Into<String>, size: f64) -> Self {
        Self {
            at,
            content: content.into(),
            size,
            ink: Ink::Text,
            anchor: Anchor::Start,
            weight: Weight::Regular,
            is_upward: false,
        }
    }

    /// The same text in another colour.
    #[must_use]
    pub fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// The same text with another part at its point.
    #[must_use]
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    /// The same text in bold.
    #[must_use]
    pub fn bold(self) -> Self {
        let weight = Weight::Bold;
        Self { weight, ..self }
    }

    /// The same text, reading upwards.
    #[must_use]
    pub fn upward(self) -> Self {
        let is_upward = true;
        Self { is_upward, ..self }
    }
}

impl From<Text> for Mark {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}
