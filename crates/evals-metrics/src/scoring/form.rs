//! The forms of files.

use super::delimited::Header;

/// The form of a file of judgements or rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// TREC: fields between spaces or tabs, without a header.
    Trec,
    /// JSON: `{"query": {"document": value}}`.
    Json,
    /// CSV or TSV with a header: `query-id,corpus-id,score`.
    Delimited,
}

impl Form {
    /// The form that the beginning of a text shows: JSON begins with `{`, CSV and TSV have a header that names the three columns,
    /// and everything else is TREC.
    pub fn of(text: &str) -> Self {
        let text = without_mark(text);
        if text.trim_start().starts_with('{') {
            Self::Json
        } else if Header::of(text).is_some() {
            Self::Delimited
        } else {
            Self::Trec
        }
    }
}

/// The text without a byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
