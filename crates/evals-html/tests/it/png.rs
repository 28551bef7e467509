//! Figures as PNG.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use evals_html::figure::Width;
use evals_html::scene::{Mark, Point, Scene, Text};
use resvg::tiny_skia::Pixmap;

use crate::samples;

fn decoded(scene: &Scene) -> Pixmap {
    Pixmap::decode_png(&scene.png().unwrap()).unwrap()
}

/// How many pixels are not white.
fn inked(pixels: &Pixmap) -> usize {
    let white = |channels: &[u8]| channels.iter().all(|it| *it == 255);
    pixels.data().chunks(4).filter(|it| !white(it)).count()
}

#[test]
fn a_column_is_89_mm_at_300_dots_per_inch() {
    let (_, scene) = samples::all(Width::Column).swap_remove(0);
    let png = scene.png().unwrap();
    assert_eq!(decoded(&scene).width(), 1051);
    // The chunk of the resolution: 11,811 dots per metre in both directions.
    assert_eq!(png[33..41], *b"\0\0\0\x09pHYs");
    assert_eq!(png[41..50], *b"\0\0\x2e\x23\0\0\x2e\x23\x01");
}

#[test]
fn equal_drawings_give_equal_bytes_on_an_opaque_page() {
    let [(_, first), (_, second)] =
        [samples::all(Width::Column), samples::all(Width::Column)].map(|mut it| it.swap_remove(0));
    assert_eq!(first.png().unwrap(), second.png().unwrap());
    let pixels = decoded(&first);
    assert!(pixels.pixels().iter().all(|pixel| pixel.alpha() == 255));
    assert_eq!(pixels.pixels()[0].red(), 255, "a light page");
}

#[test]
fn text_is_set_in_the_font_that_the_crate_has() {
    let written = |text: &str| {
        let mark: Mark = Text::new(Point::new(5.0, 20.0), text, 10.0).into();
        let scene = Scene {
            width: 100.0,
            height: 30.0,
            title: String::new(),
            description: String::new(),
            caption: String::new(),
            marks: vec![mark],
        };
        inked(&decoded(&scene))
    };
    assert_eq!(written(" "), 0);
    assert!(written("nDCG@10") > 1_000, "{}", written("nDCG@10"));
    assert!(written("−…µ") > 100, "signs outside ASCII");
    assert_eq!(
        written("中"),
        written("文"),
        "one empty box for every character that it lacks"
    );
    assert!(written("中") > 0);
}
