//! Rules that every figure keeps.

use std::collections::HashSet;

use evals_html::figure::{Histogram, Width};
use evals_html::scene::{Anchor, Ink, Mark, SvgUse, Text, Weight, text_width};
use roxmltree::Document;

use crate::samples;

const WIDTHS: [Width; 3] = [Width::Column, Width::Screen, Width::Page];

fn texts(marks: &[Mark]) -> Vec<&Text> {
    fn of_mark(mark: &Mark) -> Vec<&Text> {
        match mark {
            Mark::Text(text) => vec![text],
            Mark::Group { marks, .. } => texts(marks),
            _ => Vec::new(),
        }
    }
    marks.iter().flat_map(of_mark).collect()
}

#[test]
fn every_figure_is_well_formed_and_named_for_screen_readers() {
    for width in WIDTHS {
        for (name, scene) in samples::all(width).into_iter().chain(samples::empty(width)) {
            let svg = scene.svg(SvgUse::File);
            let document =
                Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}\n{svg}"));
            let root = document.root_element();
            // Screen readers do not enter an image.
            let is_link = |it: &roxmltree::Node<'_, '_>| it.tag_name().name() == "a";
            let role = if document.descendants().any(|it| is_link(&it)) {
                "group"
            } else {
                "img"
            };
            assert_eq!(root.attribute("role"), Some(role), "{name}");
            let ids: HashSet<&str> = document
                .descendants()
                .filter_map(|it| it.attribute("id"))
                .collect();
            let named = root.attribute("aria-labelledby").unwrap();
            assert!(named.split(' ').all(|id| ids.contains(id)), "{name}");
            let first = root.first_element_child().unwrap();
            assert_eq!(first.tag_name().name(), "title", "{name}");
        }
    }
}

#[test]
fn text_has_at_least_seven_points_and_stays_inside() {
    for width in WIDTHS {
        for (name, scene) in samples::all(width) {
            for text in texts(&scene.marks) {
                assert!(text.size >= 7.0, "{name}: {text:?}");
                let length = text_width(&text.content, text.size, text.weight);
                let (left, right) = match text.anchor {
                    Anchor::Start => (text.at.x, text.at.x + length),
                    Anchor::Middle => (text.at.x - length / 2.0, text.at.x + length / 2.0),
                    Anchor::End => (text.at.x - length, text.at.x),
                };
                if !text.is_upward {
                    assert!(
                        left >= 0.0 && right <= scene.width,
                        "{name} at {width:?}: {text:?}"
                    );
                }
                assert!(
                    text.at.y > 0.0 && text.at.y < scene.height,
                    "{name}: {text:?}"
                );
            }
        }
    }
}

#[test]
fn labels_of_one_line_do_not_overlap() {
    for width in WIDTHS {
        for (name, scene) in samples::all(width) {
            let mut boxes: Vec<(f64, f64, f64, &str)> = Vec::new();
            for text in texts(&scene.marks).into_iter().filter(|it| !it.is_upward) {
                let length = text_width(&text.content, text.size, Weight::Regular);
                let left = match text.anchor {
                    Anchor::Start => text.at.x,
                    Anchor::Middle => text.at.x - length / 2.0,
                    Anchor::End => text.at.x - length,
                };
                for (y, from, to, other) in &boxes {
                    let is_beside = left >= *to || left + length <= *from;
                    assert!(
                        (y - text.at.y).abs() > 5.0 || is_beside,
                        "{name} at {width:?}: `{}` covers `{other}`",
                        text.content
                    );
                }
                boxes.push((text.at.y, left, left + length, &text.content));
            }
        }
    }
}

#[test]
fn equal_numbers_give_equal_bytes() {
    for ((name, first), (_, second)) in samples::all(Width::Page)
        .into_iter()
        .zip(samples::all(Width::Page))
    {
        assert_eq!(first.svg(SvgUse::File), second.svg(SvgUse::File), "{name}");
    }
}

#[test]
fn an_undefined_value_has_words_and_no_mark() {
    let figures = samples::all(Width::Page);
    let (_, estimates) = &figures[0];
    assert!(
        estimates
            .description
            .contains("undefined, no relevant document")
    );
    let undefined = texts(&estimates.marks)
        .iter()
        .filter(|it| it.content == "undefined")
        .count();
    assert_eq!(undefined, 2, "one in each panel");
    let fifth = |mark: &&Mark| {
        matches!(
            mark,
            Mark::Symbol {
                ink: Ink::Series(4),
                ..
            }
        )
    };
    assert_eq!(estimates.marks.iter().filter(fifth).count(), 0);
}

#[test]
fn hostile_names_are_text() {
    for (name, scene) in samples::all(Width::Page) {
        let svg = scene.svg(SvgUse::Page("one"));
        assert!(!svg.contains("<b>") && !svg.contains('\u{202e}'), "{name}");
    }
}

/// A style sheet of the page sets the colours there, and its policy forbids styles inside of marks.
#[test]
fn a_figure_in_a_page_has_no_styles() {
    for (name, scene) in samples::all(Width::Page) {
        let svg = scene.svg(SvgUse::Page("one"));
        assert!(!svg.contains("<style") && !svg.contains("style="), "{name}");
        assert!(svg.contains(r#"id="one-title""#), "{name}");
    }
}

#[test]
fn a_histogram_of_one_case_a_bin_has_whole_numbers_on_its_axis() {
    let scene = Histogram {
        heading: samples::heading("Scores of token F1"),
        axis: "token F1".to_owned(),
        span: (0.0, 1.0),
        values: vec![0.1, 0.9],
        undefined: 0,
        link: None,
    }
    .draw(Width::Page);
    let drawn = texts(&scene.marks);
    let counts: Vec<&str> = drawn
        .iter()
        .map(|it| it.content.as_str())
        .filter(|it| it.parse::<usize>().is_ok())
        .collect();
    assert_eq!(counts, ["0", "1"]);
}
