//! Writes a drawing as SVG.

mod characters;
mod paint;

use std::fmt::Write as _;

use super::ink::Ink;
use super::mark::{Anchor, Mark, Point, Shape, Text, Weight};
use super::typeface::{FAMILIES, text_width};
use super::{Fill, Scene, Stroke};
use characters::{length, wrapped};
use paint::{filled, outlined, rules, stroked};

use characters::escaped;
pub use paint::page_rules;

/// The size of the caption's text in points.
const CAPTION: f64 = 7.5;
/// The distance of its lines in points.
const CAPTION_LINE: f64 = 10.0;
/// The space on its left and right in points.
const CAPTION_MARGIN: f64 = 8.0;
const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// Where an SVG is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvgUse<'n> {
    /// A file. It contains the caption, and it has colours for light and for dark pages. Links to places on a page are left out.
    File,
    /// A file that a document shows, with the caption as a text of its own. Otherwise like `File`.
    Illustration,
    /// Part of a page. The page sets the colours by its own style sheet and prints the caption. The name makes the ids of this
    /// drawing unique on the page.
    Page(&'n str),
}

impl SvgUse<'_> {
    fn is_file(self) -> bool {
        match self {
            Self::File | Self::Illustration => true,
            Self::Page(_) => false,
        }
    }
}

impl Scene {
    /// Writes the drawing as SVG. Equal drawings give equal bytes.
    pub fn svg(&self, usage: SvgUse<'_>) -> String {
        let caption = match usage {
            SvgUse::File => wrapped(&self.caption, CAPTION, self.width - 2.0 * CAPTION_MARGIN),
            SvgUse::Illustration | SvgUse::Page(_) => Vec::new(),
        };
        let lines = caption.iter().map(|_| CAPTION_LINE).sum::<f64>();
        let height = self.height + if caption.is_empty() { 0.0 } else { lines + 6.0 };
        let mut svg = String::new();
        self.open(&mut svg, usage, height);
        let page = Mark::Rectangle {
            corner: Point::new(0.0, 0.0),
            width: self.width,
            height,
            fill: Fill::opaque(Ink::Background),
        };
        write(&mut svg, usage, &page);
        for mark in &self.marks {
            write(&mut svg, usage, mark);
        }
        let mut y = self.height + CAPTION;
        for line in caption {
            let text = Text::new(Point::new(CAPTION_MARGIN, y), line, CAPTION).ink(Ink::Muted);
            write(&mut svg, usage, &text.into());
            y += CAPTION_LINE;
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn open(&self, svg: &mut String, usage: SvgUse<'_>, height: f64) {
        let (prefix, size) = match usage {
            SvgUse::File | SvgUse::Illustration => {
                let [width, height] = [self.width, height].map(|it| length(it / POINTS_PER_MM));
                (
                    "figure".to_owned(),
                    format!(r#" width="{width}mm" height="{height}mm""#),
                )
            }
            SvgUse::Page(name) => (escaped(name), String::new()),
        };
        // Screen readers do not enter an image, so one with links is a group.
        let has_links = !usage.is_file() && self.marks.iter().any(Mark::has_link);
        let role = if has_links { "group" } else { "img" };
        _ = writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}"{size} role="{role}" aria-labelledby="{prefix}-title {prefix}-desc" font-family="{FAMILIES}">"#,
            length(self.width),
            length(height),
        );
        _ = writeln!(
            svg,
            r#"<title id="{prefix}-title">{}</title>"#,
            escaped(&self.title)
        );
        _ = writeln!(
            svg,
            r#"<desc id="{prefix}-desc">{}</desc>"#,
            escaped(&self.description)
        );
        if usage.is_file() {
            _ = writeln!(
                svg,
                "<style>@media (prefers-color-scheme: dark) {{ {}}}</style>",
                rules(|ink| ink.dark().to_owned())
            );
        }
    }
}

fn write(svg: &mut String, usage: SvgUse<'_>, mark: &Mark) {
    match mark {
        Mark::Line { from, to, stroke } => {
            let [x1, y1, x2, y2] = [from.x, from.y, to.x, to.y].map(length);
            _ = writeln!(
                svg,
                r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{}/>"#,
                stroked(*stroke)
            );
        }
        Mark::Path { points, stroke } => {
            _ = writeln!(
                svg,
                r#"<polyline points="{}" stroke-linejoin="round"{}/>"#,
                listed(points),
                stroked(*stroke)
            );
        }
        Mark::Area { corners, fill } => {
            _ = writeln!(
                svg,
                r#"<polygon points="{}"{}/>"#,
                listed(corners),
                filled(*fill)
            );
        }
        Mark::Rectangle {
            corner,
            width,
            height,
            fill,
        } => {
            let [x, y, width, height] = [corner.x, corner.y, *width, *height].map(length);
            _ = writeln!(
                svg,
                r#"<rect x="{x}" y="{y}" width="{width}" height="{height}"{}/>"#,
                filled(*fill)
            );
        }
        Mark::Symbol {
            at,
            shape,
            radius,
            ink,
            is_open,
        } => write_symbol(svg, *at, *shape, *radius, *ink, *is_open),
        Mark::Text(text) => write_text(svg, usage, text),
        Mark::Group { title, link, marks } => {
            let link = link.as_deref().filter(|_| !usage.is_file());
            write_group(svg, usage, title.as_deref(), link, marks);
        }
    }
}

fn write_group(
    svg: &mut String,
    usage: SvgUse<'_>,
    title: Option<&str>,
    link: Option<&str>,
    marks: &[Mark],
) {
    let element = if link.is_some() { "a" } else { "g" };
    _ = write!(svg, "<{element}");
    if let Some(link) = link {
        _ = write!(svg, r#" href="{}""#, escaped(link));
    }
    svg.push('>');
    if let Some(title) = title {
        _ = write!(svg, "<title>{}</title>", escaped(title));
    }
    svg.push('\n');
    for mark in marks {
        write(svg, usage, mark);
    }
    _ = writeln!(svg, "</{element}>");
}

fn write_symbol(svg: &mut String, at: Point, shape: Shape, radius: f64, ink: Ink, is_open: bool) {
    let paint = if is_open {
        outlined(Fill::opaque(Ink::Background), Stroke::solid(ink, 1.2))
    } else {
        filled(Fill::opaque(ink))
    };
    let Point { x, y } = at;
    let corner = |dx: f64, dy: f64| Point::new(x + dx * radius, y + dy * radius);
    let corners = match shape {
        Shape::Circle => {
            let [x, y, r] = [x, y, radius].map(length);
            _ = writeln!(svg, r#"<circle cx="{x}" cy="{y}" r="{r}"{paint}/>"#);
            return;
        }
        Shape::Cross => {
            let stroke = stroked(Stroke::solid(ink, 1.6));
            for end in [corner(0.8, 0.8), corner(0.8, -0.8)] {
                let [x1, y1, x2, y2] = [2.0 * x - end.x, 2.0 * y - end.y, end.x, end.y].map(length);
                _ = writeln!(
                    svg,
                    r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{stroke}/>"#
                );
            }
            return;
        }
        Shape::Square => vec![
            corner(-0.9, -0.9),
            corner(0.9, -0.9),
            corner(0.9, 0.9),
            corner(-0.9, 0.9),
        ],
        Shape::Diamond => vec![
            corner(0.0, -1.2),
            corner(1.2, 0.0),
            corner(0.0, 1.2),
            corner(-1.2, 0.0),
        ],
        Shape::Triangle => vec![corner(0.0, -1.1), corner(1.1, 0.9), corner(-1.1, 0.9)],
        Shape::DownTriangle => vec![corner(0.0, 1.1), corner(1.1, -0.9), corner(-1.1, -0.9)],
    };
    _ = writeln!(svg, r#"<polygon points="{}"{paint}/>"#, listed(&corners));
}

fn write_text(svg: &mut String, usage: SvgUse<'_>, text: &Text) {
    let [x, y] = [text.at.x, text.at.y].map(length);
    _ = write!(
        svg,
        r#"<text x="{x}" y="{y}" font-size="{}"{}"#,
        length(text.size),
        filled(Fill::opaque(text.ink))
    );
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => svg.push_str(r#" text-anchor="middle""#),
        Anchor::End => svg.push_str(r#" text-anchor="end""#),
    }
    if text.weight == Weight::Bold {
        svg.push_str(r#" font-weight="bold""#);
    }
    // Readers without the font see a wider one, in which labels would leave the figure.
    if !usage.is_file() && text.content.is_ascii() && !text.content.is_empty() {
        let width = length(text_width(&text.content, text.size, text.weight));
        _ = write!(
            svg,
            r#" textLength="{width}" lengthAdjust="spacingAndGlyphs""#
        );
    }
    if text.is_upward {
        _ = write!(svg, r#" transform="rotate(-90 {x} {y})""#);
    }
    _ = writeln!(svg, ">{}</text>", escaped(&text.content));
}

fn listed(points: &[Point]) -> String {
    let points = points
        .iter()
        .map(|it| format!("{},{}", length(it.x), length(it.y)));
    points.collect::<Vec<_>>().join(" ")
}
