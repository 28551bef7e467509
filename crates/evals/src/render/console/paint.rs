//! ANSI styles.

use super::Color;

/// How a line of text looks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
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

    pub(super) fn apply(self, style: Style, text: &str) -> String {
        match self.color {
            Color::Off => text.to_owned(),
            Color::On => format!("\x1b[{}m{text}\x1b[0m", style.code()),
        }
    }
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Warning => "33",
            Self::Error => "1;31",
        }
    }
}
