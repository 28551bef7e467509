//! Colours of marks in SVG: attributes with the light colours, and classes through which a style sheet sets others.
//!
//! A reader that blocks style sheets shows the light colours.

use std::fmt::Write as _;

use super::characters::length;
use crate::scene::{Fill, Ink, Stroke};

/// The rules of a style sheet that give each ink its colour.
pub(super) fn rules(colour: impl Fn(Ink) -> String) -> String {
    let mut rules = String::new();
    for ink in Ink::all() {
        let (name, colour) = (ink.name(), colour(ink));
        _ = write!(
            rules,
            ".f-{name} {{ fill: {colour} }} .l-{name} {{ stroke: {colour} }} "
        );
    }
    rules
}

/// The rules that a page needs for its drawings: light colours, and dark ones where the reader's system asks for them. The
/// attribute `data-theme` of the root, `light` or `dark`, overrules the system. Paper is light.
pub fn page_rules() -> String {
    let variables = |colour: fn(Ink) -> &'static str| {
        let mut variables = String::new();
        for ink in Ink::all() {
            _ = write!(variables, "--{}: {}; ", ink.name(), colour(ink));
        }
        variables
    };
    let (light, dark) = (variables(Ink::light), variables(Ink::dark));
    format!(
        ":root {{ {light}}}\n\
         @media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme=\"light\"]) {{ {dark}}} }}\n\
         @media screen {{ :root[data-theme=\"dark\"] {{ {dark}}} }}\n{}",
        rules(|ink| format!("var(--{})", ink.name()))
    )
}

/// The attributes of a filled area.
pub(super) fn filled(fill: Fill) -> String {
    format!(r#" class="{}"{}"#, fill_class(fill), fill_attributes(fill))
}

/// The attributes of a line.
pub(super) fn stroked(stroke: Stroke) -> String {
    format!(
        r#" class="{}" fill="none"{}"#,
        stroke_class(stroke),
        stroke_attributes(stroke)
    )
}

/// The attributes of a filled area with an outline.
pub(super) fn outlined(fill: Fill, stroke: Stroke) -> String {
    format!(
        r#" class="{} {}"{}{}"#,
        fill_class(fill),
        stroke_class(stroke),
        fill_attributes(fill),
        stroke_attributes(stroke)
    )
}

fn fill_class(fill: Fill) -> String {
    format!("f-{}", fill.ink.name())
}

fn fill_attributes(fill: Fill) -> String {
    let mut attributes = format!(r#" fill="{}""#, fill.ink.light());
    if fill.opacity < 1.0 {
        _ = write!(attributes, r#" fill-opacity="{}""#, length(fill.opacity));
    }
    attributes
}

fn stroke_class(stroke: Stroke) -> String {
    format!("l-{}", stroke.ink.name())
}

fn stroke_attributes(stroke: Stroke) -> String {
    let (colour, width) = (stroke.ink.light(), length(stroke.width));
    let mut attributes = format!(r#" stroke="{colour}" stroke-width="{width}""#);
    if let Some((dash, gap)) = stroke.dash {
        _ = write!(
            attributes,
            r#" stroke-dasharray="{} {}""#,
            length(dash),
            length(gap)
        );
    }
    attributes
}
