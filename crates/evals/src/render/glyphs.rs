//! The few non-ASCII characters of the output, and their ASCII replacements.

use crate::number;

/// The characters of lines and marks. Names and messages are printed unchanged in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// Lines, dashes and stars from Unicode.
    #[default]
    Unicode,
    /// ASCII look-alikes.
    Ascii,
}

/// One set of characters.
#[derive(Debug)]
pub(super) struct Glyphs {
    /// Stands for an undefined value.
    pub(super) undefined: &'static str,
    /// Between the facts of a headline.
    pub(super) separator: &'static str,
    /// Under the head of a table.
    pub(super) rule: char,
    /// Marks a winner.
    pub(super) winner: &'static str,
    /// At the end of text that was cut.
    pub(super) ellipsis: &'static str,
    /// An assertion that holds.
    pub(super) passed: &'static str,
    /// An assertion that does not hold.
    pub(super) not_passed: &'static str,
    /// Between a count and what is counted.
    pub(super) times: &'static str,
    micro: &'static str,
}

impl Glyphs {
    pub(super) const UNICODE: &Self = &Self {
        undefined: "–",
        separator: " · ",
        rule: '─',
        winner: "★",
        ellipsis: "…",
        passed: "✔",
        not_passed: "✗",
        times: "×",
        micro: "µ",
    };

    pub(super) const ASCII: &Self = &Self {
        undefined: "-",
        separator: " | ",
        rule: '-',
        winner: "*",
        ellipsis: "...",
        passed: "+",
        not_passed: "x",
        times: "x",
        micro: "u",
    };

    /// Prints a duration in seconds.
    pub(super) fn duration(&self, seconds: f64) -> String {
        self.spell(&number::duration(seconds))
    }

    /// Prints a value that may be undefined.
    pub(super) fn shown<T>(&self, value: Option<T>, print: impl FnOnce(T) -> String) -> String {
        value.map_or_else(|| self.undefined.to_owned(), print)
    }

    /// Replaces characters of a printed number that this set lacks.
    pub(super) fn spell(&self, printed: &str) -> String {
        printed.replace('µ', self.micro)
    }
}
