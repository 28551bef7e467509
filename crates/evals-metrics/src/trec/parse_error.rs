use thiserror::Error;

/// Why a text is not a qrels or run file. Line numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A line has the wrong number of fields.
    #[error("line {line}: expected {expected}, found {found} fields")]
    Fields {
        /// The line.
        line: usize,
        /// The fields that belong there.
        expected: &'static str,
        /// How many are there.
        found: usize,
    },
    /// A grade is not a whole number.
    #[error("line {line}: `{value}` is not a grade; expected a whole number such as `1`")]
    Grade {
        /// The line.
        line: usize,
        /// What is there instead.
        value: String,
    },
    /// A score is not a number, or not a finite one.
    #[error("line {line}: `{value}` is not a score; expected a number such as `12.5`")]
    Score {
        /// The line.
        line: usize,
        /// What is there instead.
        value: String,
    },
    /// A score is a number that single precision, in which `trec_eval` holds scores, has no place
    /// for.
    #[error(
        "line {line}: score `{value}` is out of range; expected a number of at most {greatest:e} \
         in size, the greatest in single precision",
        greatest = f32::MAX
    )]
    ScoreRange {
        /// The line.
        line: usize,
        /// The score.
        value: String,
    },
    /// A document is listed twice for one query.
    #[error("line {line}: document `{document}` is listed a second time for query `{query}`")]
    Duplicate {
        /// The line of the second mention.
        line: usize,
        /// The query.
        query: String,
        /// The document.
        document: String,
    },
}
