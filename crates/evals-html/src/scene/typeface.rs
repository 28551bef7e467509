//! The widths of characters, which decide where labels fit.

use unicode_width::UnicodeWidthChar;

use super::Weight;

/// The widths of the characters from space to tilde in thousandths of the size, from Adobe's font metrics of Helvetica. Arial and
/// Liberation Sans have the same.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278,
    278, // space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0 to ?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // P to _
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // ` to o
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, // p to ~
];

/// The same of Helvetica-Bold.
const HELVETICA_BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278,
    278, // space to /
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, // 0 to ?
    975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833, 722, 778, // @ to O
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, // P to _
    333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, // ` to o
    611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584, // p to ~
];

/// The families that the widths hold for, in the notation of CSS.
pub(super) const FAMILIES: &str = "Helvetica, Arial, 'Liberation Sans', sans-serif";

/// The width of a text in points. Characters outside ASCII count as a digit's width for each column that they take in a
/// terminal.
pub fn text_width(text: &str, size: f64, weight: Weight) -> f64 {
    let widths = match weight {
        Weight::Regular => &HELVETICA,
        Weight::Bold => &HELVETICA_BOLD,
    };
    let thousandths: f64 = text.chars().map(|it| width(it, widths)).sum();
    thousandths / 1000.0 * size
}

fn width(character: char, widths: &[u16; 95]) -> f64 {
    let position = u32::from(character).checked_sub(u32::from(' '));
    let ascii = position.and_then(|it| widths.get(it as usize));
    match (ascii, character) {
        (Some(width), _) => f64::from(*width),
        (None, '…') => 1000.0,
        (None, _) => match character.width() {
            Some(2) => 1000.0,
            Some(1) => 584.0,
            _ => 0.0,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // From `Helvetica.afm` as matplotlib 3.10 has it, read with `matplotlib._afm`.
        for (text, width) in [("nDCG@10", 4.905), ("recall", 2.389), ("0.7739", 3.058)] {
            let measured = text_width(text, 1.0, Weight::Regular);
            assert!((measured - width).abs() < 1e-9, "{text}: {measured}");
        }
        // From `Helvetica-Bold.afm`.
        for (text, width) in [("nDCG@10", 4.92), ("recall", 2.613)] {
            let measured = text_width(text, 1.0, Weight::Bold);
            assert!((measured - width).abs() < 1e-9, "{text}: {measured}");
        }
    }

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        let wide = text_width("日本", 10.0, Weight::Regular);
        assert!((wide - 20.0).abs() < 1e-9, "{wide}");
        let plain = text_width("e", 10.0, Weight::Regular);
        let accented = text_width("e\u{301}", 10.0, Weight::Regular);
        assert!((plain - accented).abs() < 1e-9);
    }
}
