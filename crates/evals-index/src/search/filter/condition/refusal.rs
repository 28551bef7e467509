//! Why a text is not a filter, with the limits and the functions that the messages name.

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

/// The functions that filters may call. Their results depend on the arguments alone, and are no longer than those.
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

/// Most words and signs, not counting the values in lists: they bound how deep the parser's tree can be.
pub(super) const MOST_SIGNS: usize = 1_000;

/// Why a text is not a filter.
#[derive(Debug, Error)]
pub(in crate::search::filter) enum Refusal {
    #[error("it is {0} bytes long, and the limit is {MOST_BYTES}")]
    Long(usize),
    #[error(
        "it joins more than {MOST_JOINED} conditions; match many values with a list, as in `uri IN ('a', 'b')`"
    )]
    Many,
    #[error(
        "it has more than {MOST_SIGNS} words and signs, not counting the values in lists such as `uri IN ('a', 'b')`"
    )]
    Signs,
    #[error("it is nested more than {MOST_LEVELS} levels deep")]
    Deep,
    #[error("`{0}` is a placeholder; write the value itself")]
    Placeholder(String),
    #[error(
        "`{0}` is in the wrong quotes; write text in single quotes and column names without quotes"
    )]
    Quotes(String),
    #[error("filters cannot call `{0}`, only {list}", list = functions())]
    Function(String),
    #[error("filters cannot contain `{0}`")]
    Part(String),
    #[error("{0}")]
    Syntax(String),
    #[error("cannot start the thread that checks it")]
    Thread(#[source] io::Error),
}

/// The refusal of a part that filters cannot contain.
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
