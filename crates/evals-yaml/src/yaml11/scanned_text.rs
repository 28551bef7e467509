//! The text of a scalar where the parser and PyYAML differ.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Span};

/// The characters that YAML 1.1 takes for line breaks and YAML 1.2 does not, and that stay in a text.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

/// The text as PyYAML scans it. If the document ends in a block without a line break, PyYAML adds none to its text. PyYAML treats Unicode's
/// line and paragraph separators as line breaks and keeps them. In double quotes it writes them as escapes.
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
        ScalarStyle::Plain if scalar.contains(SEPARATORS) => match written(document, span) {
            Some(written) => {
                let text = rescanned(written, &[' ']);
                Cow::Owned(text.trim_end_matches(is_break).to_owned())
            }
            None => Cow::Borrowed(scalar),
        },
        ScalarStyle::SingleQuoted if scalar.contains(SEPARATORS) => {
            let quoted = written(document, span);
            let inner = quoted.and_then(|it| it.strip_prefix('\'')?.strip_suffix('\''));
            match inner {
                Some(inner) => Cow::Owned(rescanned(inner, &[' ', '\t']).replace("''", "'")),
                None => Cow::Borrowed(scalar),
            }
        }
        _ => Cow::Borrowed(scalar),
    }
}

/// The characters of a scalar in the document.
fn written<'d>(document: &'d str, span: &Span) -> Option<&'d str> {
    document.get(span.start.byte_offset()?..span.end.byte_offset()?)
}

/// Scans a text over several lines anew, from the document. Of a run of line breaks the first one becomes a space if it is the
/// only one, and disappears if others follow; a separator always stays. Blanks around a run do not count.
fn rescanned(written: &str, blanks: &[char]) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find(is_break) {
        text.push_str(rest[..at].trim_end_matches(blanks));
        let (first, mut after) = split_break(&rest[at..]);
        let mut others = 0;
        if first != '\n' {
            text.push(first);
        }
        loop {
            after = after.trim_start_matches(blanks);
            if !after.starts_with(is_break) {
                break;
            }
            let (other, next) = split_break(after);
            text.push(other);
            others += 1;
            after = next;
        }
        if first == '\n' && others == 0 {
            text.push(' ');
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r') || SEPARATORS.contains(&character)
}

/// The line break at the start of a text, and what follows it.
fn split_break(text: &str) -> (char, &str) {
    if let Some(rest) = text.strip_prefix("\r\n") {
        return ('\n', rest);
    }
    let mut characters = text.chars();
    let first = characters.next().filter(|first| SEPARATORS.contains(first));
    (first.unwrap_or('\n'), characters.as_str())
}
