//! The line breaks of YAML 1.1 in a text for a parser of YAML 1.2.

use std::borrow::Cow;

/// The next line: a line break of YAML 1.1 that means the same as a line feed.
const NEXT_LINE: char = '\u{85}';

/// The most columns by which a line is moved, so that a text of many lines stays small.
const MOST_COLUMNS: usize = 256;

/// The text with line feeds in place of U+0085. A line that starts with a line or paragraph separator of Unicode, as PyYAML
/// writes texts that contain them, is moved to the right. The parser takes such a line for a badly indented one, and blanks
/// before a separator do not count.
pub(super) fn with_breaks_of_yaml11(text: &str) -> Cow<'_, str> {
    let has_next_line = text.contains(NEXT_LINE);
    let has_separator = text.contains("\n\u{2028}") || text.contains("\n\u{2029}");
    if !has_next_line && !has_separator {
        return Cow::Borrowed(text);
    }
    // After a carriage return, a line feed would be a part of the same line break.
    let text = text.replace("\r\u{85}", "\n\n").replace(NEXT_LINE, "\n");
    let mut moved = String::with_capacity(text.len());
    let mut deepest = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(['\u{2028}', '\u{2029}']) {
            moved.extend(std::iter::repeat_n(' ', deepest + 1));
        } else {
            deepest = deepest.max(indentation(line)).min(MOST_COLUMNS);
        }
        moved.push_str(line);
    }
    Cow::Owned(moved)
}

/// At least the indentation of the innermost block that the line opens: its blanks and indicators.
fn indentation(line: &str) -> usize {
    let blanks = [' ', '-', '?', ':'];
    line.len() - line.trim_start_matches(blanks).len()
}
