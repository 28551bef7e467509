//! Texts cut to a width.

use crate::scene::{Weight, text_width};

/// Shortens a text of this size and weight to a width in points; an ellipsis stands for its end.
pub(super) fn shortened(text: &str, width: f64, size: f64, weight: Weight) -> String {
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
