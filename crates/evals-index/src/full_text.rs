//! The settings of full-text search: how text becomes the terms that BM25 counts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The analyzer that splits text into terms, as an identity records it: terms may change with its version.
pub(crate) const ANALYZER: &str = "lance 14.0.2";

/// How text is split into the terms that BM25 counts.
///
/// Terms are maximal runs of letters and digits of at most 40 bytes, in lower case, stemmed, without stop words, and folded to
/// ASCII, in this order. The score of a chunk `d` for a question `q` over `N` chunks is
///
/// ```text
/// Σ over the terms t of q, repeated ones included:  idf(t) · (k1 + 1) · tf / (tf + k1 · (1 − b + b · |d| / mean |d|))
/// idf(t) = ln(1 + (N − n + 0.5) / (n + 0.5)),   k1 = 1.2,   b = 0.75
/// ```
///
/// with `tf` the occurrences of `t` in `d` and `n` the number of chunks that hold `t` (Robertson and Zaragoza, *The Probabilistic
/// Relevance Framework: BM25 and Beyond*, 2009, with Lucene's idf, which is never negative). A filter does not change `N`,
/// `n` or the mean length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullText {
    /// Language of the stemmer and the stop words, by its English name: `English` (default), `German`, `French` …
    pub language: String,
    /// Whether to reduce terms to their stems (Snowball). Default true.
    pub stem: bool,
    /// Whether to drop words such as *the* from chunks and questions. Default true.
    pub remove_stop_words: bool,
}

impl Default for FullText {
    fn default() -> Self {
        Self {
            language: "English".to_owned(),
            stem: true,
            remove_stop_words: true,
        }
    }
}

impl fmt::Display for FullText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |present, name| if present { name } else { "" };
        write!(
            formatter,
            "{}{}{}",
            self.language,
            part(self.stem, ", stemmed"),
            part(self.remove_stop_words, ", without stop words")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_the_language_and_what_is_done() {
        assert_eq!(
            FullText::default().to_string(),
            "English, stemmed, without stop words"
        );
        let plain = FullText {
            stem: false,
            remove_stop_words: false,
            ..FullText::default()
        };
        assert_eq!(plain.to_string(), "English");
    }
}
