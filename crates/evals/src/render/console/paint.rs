//! ANSI styles.

use std::borrow::Cow;

use super::Color;

/// The style of a line of text, or of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::render) enum Style {
    Plain,
    Bold,
    Dim,
    Warning,
    Error,
}

/// Styles text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    color: Color,
}

impl Paint {
    pub(super) fn new(color: Color) -> Self {
        Self { color }
    }

    pub(super) fn apply(self, style: Style, text: &str) -> Cow<'_, str> {
        match (self.color, style.code()) {
            (Color::On, Some(code)) => Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")),
            _ => Cow::Borrowed(text),
        }
    }
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Warning => Some("33"),
            Self::Error => Some("1;31"),
        }
    }
}
