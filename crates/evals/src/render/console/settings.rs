//! The settings of a console: drawings, colours, symbols and messages.

use std::borrow::Cow;

use super::super::grid::Style;

/// Whether tables have columns with bars, histograms and intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drawings {
    /// Drawings beside the numbers that they show.
    On,
    /// Numbers only.
    #[default]
    Off,
}

/// Whether to write ANSI escape codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Bold, dim and coloured text.
    On,
    /// Plain text.
    #[default]
    Off,
}

impl Color {
    /// A text in a style.
    pub(super) fn paint(self, style: Style, text: &str) -> Cow<'_, str> {
        let code = match style {
            Style::Plain => return Cow::Borrowed(text),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Warning => "33",
            Style::Error => "1;31",
        };
        match self {
            Self::On => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
            Self::Off => Cow::Borrowed(text),
        }
    }
}

/// Whether lines below a table say how its intervals were computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Methods {
    /// The methods of the intervals, and the clusters that they count.
    #[default]
    Named,
    /// Only what makes them unreliable.
    Unnamed,
}

/// How much of a failure's message is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Messages {
    /// The part that fits into one line of the terminal.
    #[default]
    Cut,
    /// The whole message in one line, however long: for a log file, which is the only place for the rest.
    Whole,
}
