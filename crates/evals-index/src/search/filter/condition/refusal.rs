//! Why a text is no filter, and the limits and functions that the messages name.

use std::io;

use thiserror::Error;

/// Longest filter, which is also the longest argument that Linux hands to a program.
pub(super) const MOST_BYTES: usize = 128 << 10;
/// Most times that `AND` and `OR` occur.
pub(super) const MOST_JOINED: usize = 100;
/// Most levels of an expression; a chain of `AND` or of `OR` is one level. At twice as many, an unoptimised engine overflows the 2 MiB
/// that threads have for their stacks.
pub(super) const MOST_LEVELS: usize = 10;
/// Characters of a part that a message shows.
const SHOWN: usize = 60;

/// What filters may call: functions whose value follows from their arguments alone, and is no longer than they are.
pub(super) const FUNCTIONS: [&str; 17] = [
    "btrim",
    "character_length",
    "coalesce",
    "contains",
    "ends_with",
    "left",
    "length",
    "lower",
    "ltrim",
    "nullif",
    "octet_length",
    "reverse",
    "right",
    "rtrim",
    "split_part",
    "starts_with",
    "upper",
];

/// Why a text is no filter.
#[derive(Debug, Error)]
pub(in crate::search::filter) enum Refusal {
    #[error("it has {0} bytes, and {MOST_BYTES} are the most")]
    Long(usize),
    #[error(
        "it joins more than {MOST_JOINED} conditions; many values are matched by a list, as in `uri IN ('a', 'b')`"
    )]
    Many,
    #[error("it is nested more than {MOST_LEVELS} levels deep")]
    Deep,
    #[error("`{0}` is a placeholder, and there is nothing to fill it with")]
    Placeholder(String),
    #[error(
        "`{0}` is in the wrong quotes; write text in single quotes, and column names without quotes"
    )]
    Quotes(String),
    #[error("`{0}` is not one of the functions {list}", list = functions())]
    Function(String),
    #[error("`{0}` is not part of the language of filters")]
    Part(String),
    #[error("{0}")]
    Syntax(String),
    #[error("cannot start a thread that checks it")]
    Thread(#[source] io::Error),
}

/// The refusal of a part that the language does not have.
pub(super) fn part(part: &impl ToString) -> Refusal {
    Refusal::Part(excerpt(part))
}

/// The beginning of a part, for a message.
pub(super) fn excerpt(part: &impl ToString) -> String {
    shortened(&part.to_string(), SHOWN)
}

/// The beginning of `text`, of at most `most` characters.
pub(in crate::search::filter) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn functions() -> String {
    FUNCTIONS.map(|name| format!("`{name}`")).join(", ")
}
