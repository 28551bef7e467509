//! Places of the parser's spans and errors.

use granit_parser::{ErrorKind, Marker, ScanError, Span};

use super::anchors::UNKNOWN_ALIAS;
use crate::error::YamlError;
use crate::node::Place;
use crate::wording::in_plain_words;

/// Where a span begins.
pub(super) fn place(span: &Span) -> Place {
    place_at(span.start)
}

fn place_at(marker: Marker) -> Place {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Place {
        line: number(marker.line()).max(1),
        column: number(marker.col()).saturating_add(1),
    }
}

/// An error of the parser.
pub(super) fn syntax(error: &ScanError) -> YamlError {
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => UNKNOWN_ALIAS.to_owned(),
        kind => in_plain_words(&kind.to_string()),
    };
    place_at(*error.marker()).error(message)
}
