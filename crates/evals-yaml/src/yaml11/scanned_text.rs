//! The text of a scalar where the parser and PyYAML differ.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Span};

/// The characters that YAML 1.1 takes for line breaks and YAML 1.2 does not, and that stay in a text.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// The text as PyYAML scans it: a block at the end of a document that ends without a line break has none either, and the line and
/// paragraph separators of Unicode are line breaks, around which blanks do not count. In double quotes, PyYAML writes them as escapes.
pub(super) fn as_pyyaml_scans<'s>(
    document: &str,
    scalar: &'s str,
    style: ScalarStyle,
    span: &Span,
) -> Cow<'s, str> {
    match style {
        ScalarStyle::Literal | ScalarStyle::Folded => {
            let end = span.end.byte_offset();
            let is_last = end.is_none_or(|end| end >= document.len());
            let last_line = document.rsplit('\n').next().unwrap_or_default();
            let is_cut_off = is_last && !last_line.trim().is_empty();
            let without = scalar.strip_suffix('\n').filter(|_| is_cut_off);
            Cow::Borrowed(without.unwrap_or(scalar))
        }
        ScalarStyle::Plain | ScalarStyle::SingleQuoted if scalar.contains(SEPARATORS) => {
            Cow::Owned(without_blanks_around_separators(scalar))
        }
        _ => Cow::Borrowed(scalar),
    }
}

fn without_blanks_around_separators(scalar: &str) -> String {
    const BLANKS: [char; 2] = [' ', '\t'];
    let mut text = String::with_capacity(scalar.len());
    for (index, part) in scalar.split_inclusive(SEPARATORS).enumerate() {
        let part = if index == 0 {
            part
        } else {
            part.trim_start_matches(BLANKS)
        };
        match part.strip_suffix(SEPARATORS) {
            Some(body) => {
                text.push_str(body.trim_end_matches(BLANKS));
                text.push_str(&part[body.len()..]);
            }
            None => text.push_str(part),
        }
    }
    text
}
