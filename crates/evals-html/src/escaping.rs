//! Texts in HTML: none of them becomes markup or steers the reader's screen.

use std::fmt::Write as _;

use evals_messages::visible;
use minijinja::{AutoEscape, Environment, HtmlEscape, Value, escape_formatter};

/// Characters of a word from which on it is cut into pieces. Browsers take long to break a word that is much longer.
const LONG_WORD: usize = 129;
/// Characters of a piece.
const PIECE: usize = 32;

/// An environment that escapes HTML in every template, and shows control and bidirectional characters as escapes.
///
/// The filter `prose` is for texts in elements: what stands between backticks becomes `<code>`, and long words may break.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            escape_formatter(out, state, &Value::from(visible::text(text)))
        }
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose(text)));
    environment
}

/// A text as HTML. A backtick without a second one stays, and so do two that have nothing between them.
fn prose(text: &str) -> String {
    let text = visible::text(text);
    let mut html = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, quoted, after)) = quotation(rest) {
        push_words(&mut html, before);
        html.push_str("<code>");
        push_words(&mut html, quoted);
        html.push_str("</code>");
        rest = after;
    }
    push_words(&mut html, rest);
    html
}

/// What stands before, between and after the first two backticks that enclose something.
fn quotation(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find('`')?;
        let length = text[start + 1..].find('`')?;
        let end = start + 1 + length;
        if length > 0 {
            return Some((&text[..start], &text[start + 1..end], &text[end + 1..]));
        }
        from = end + 1;
    }
}

/// Appends a text, escaped, with `<wbr>` inside long words.
fn push_words(html: &mut String, text: &str) {
    for word in text.split_inclusive(char::is_whitespace) {
        let mut rest = word;
        if word.trim_end().chars().nth(LONG_WORD - 1).is_some() {
            while let Some((end, _)) = rest.char_indices().nth(PIECE) {
                push_escaped(html, &rest[..end]);
                html.push_str("<wbr>");
                rest = &rest[end..];
            }
        }
        push_escaped(html, rest);
    }
}

fn push_escaped(html: &mut String, text: &str) {
    // Writing to a string does not fail.
    _ = write!(html, "{}", HtmlEscape(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(
            prose("the `a`, `b` end"),
            "the <code>a</code>, <code>b</code> end"
        );
        for plain in ["", "`", "one ` alone", "``", "a `` b `"] {
            assert_eq!(prose(plain), plain);
        }
    }

    #[test]
    fn texts_are_escaped_before_they_become_code() {
        assert_eq!(
            prose("`<b>` & <i>\u{202e}"),
            "<code>&lt;b&gt;</code> &amp; &lt;i&gt;\\u{202e}"
        );
    }

    #[test]
    fn only_long_words_are_cut() {
        let kept = format!("{} b", "é".repeat(LONG_WORD - 1));
        assert_eq!(prose(&kept), kept);
        let cut = prose(&"é".repeat(1_000));
        assert_eq!(cut.matches("<wbr>").count(), 31);
        assert_eq!(cut.replace("<wbr>", ""), "é".repeat(1_000));
        assert!(cut.split("<wbr>").all(|it| it.chars().count() <= PIECE));
    }
}
