//! A drawing as a list of marks, apart from any file format.
//!
//! Lengths are points of 1/72 inch. The origin is the upper left corner, and y grows downwards.

mod ink;
mod mark;
#[cfg(feature = "png")]
mod png;
mod svg;
mod typeface;

pub use ink::{Fill, Ink, Stroke};
pub use mark::{Anchor, Mark, Point, Shape, Text, Weight};
#[cfg(feature = "png")]
pub use png::PngError;
pub use svg::SvgUse;
pub use svg::page_rules;
pub use typeface::text_width;

/// A finished drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in points.
    pub width: f64,
    /// Height in points, without the caption.
    pub height: f64,
    /// The name of the drawing, which screen readers read first.
    pub title: String,
    /// The content of the drawing in words, for those who do not see it.
    pub description: String,
    /// The sentences below the drawing: what is shown, the number of cases, and the method of intervals.
    pub caption: String,
    /// The marks, from back to front.
    pub marks: Vec<Mark>,
}
