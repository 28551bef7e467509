//! What is wrong with a space of settings or with options.

use thiserror::Error;

/// Why a tuning cannot start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A knob lists no value.
    #[error("`{0}` has no values")]
    NoValues(String),
    /// A knob lists a value twice.
    #[error("`{knob}` has the value `{value}` twice")]
    SameValue {
        /// The name of the knob.
        knob: String,
        /// The value.
        value: String,
    },
    /// Two knobs have one name.
    #[error("there are two knobs `{0}`")]
    SameKnob(String),
    /// A range does not go up, or an end of it is not a finite number, or not a whole one in a range of whole numbers.
    #[error(
        "the range of `{knob}` goes {range}; it has to go up, between finite numbers, and whole ones if it is of whole numbers"
    )]
    Range {
        /// The name of the knob.
        knob: String,
        /// From where to where.
        range: String,
    },
    /// The own settings do not name one value, or none, for each knob, or name a value that the knob lacks.
    #[error("the own settings do not fit the knobs")]
    Own,
    /// There is no question.
    #[error("there are no questions")]
    NoQuestions,
    /// A share, level, limit or budget is out of its range.
    #[error("`{0}` is out of range")]
    Option(&'static str),
}
