//! An error with its causes, as one text.

use std::error::Error;
use std::fmt::{Display, Write as _};
use std::iter;
use std::panic::{self, AssertUnwindSafe};

use crate::{mismatch, secrets};

/// No error has this many causes, unless one is its own cause.
const MOST_CAUSES: usize = 100;

/// An error and its causes, outermost first, joined by colons.
///
/// An error may come from foreign code. If its `Display` or `source` fails or panics, the text says so, and the panic is
/// caught.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |error| cause(*error)).take(MOST_CAUSES);
    let messages: Vec<String> = causes.map(worded).collect();
    messages.join(": ")
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    panic::catch_unwind(AssertUnwindSafe(|| error.source()))
        .ok()
        .flatten()
}

/// An error's own message, without its causes, names of Rust's types and [hidden](crate::secrets::hide) credentials.
pub fn worded(error: &(dyn Error + 'static)) -> String {
    mismatch::in_json(&secrets::redacted(&displayed(error)))
}

/// An error's own message. If writing it fails, the part written so far is kept.
fn displayed(error: impl Display) -> String {
    let mut message = String::new();
    let written = panic::catch_unwind(AssertUnwindSafe(|| write!(message, "{error}")));
    if !matches!(written, Ok(Ok(()))) {
        message.push_str("(an error that cannot be displayed)");
    }
    message
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not read `{0}`")]
    struct Unreadable(&'static str, #[source] io::Error);

    /// An error that names itself as its cause.
    #[derive(Debug)]
    struct Endless;

    impl Display for Endless {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("again")
        }
    }

    impl Error for Endless {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    #[test]
    fn causes_follow_the_error() {
        let error = Unreadable("a.csv", io::Error::other("the disk is gone"));
        assert_eq!(chain(&error), "could not read `a.csv`: the disk is gone");
    }

    #[test]
    fn causes_do_not_name_types() {
        #[derive(Debug, thiserror::Error)]
        #[error("invalid type: map, expected u32 at line 1 column 2")]
        struct OfSerde;

        #[derive(Debug, thiserror::Error)]
        #[error("cannot read `a.json`")]
        struct Around(#[source] OfSerde);

        assert_eq!(
            chain(&Around(OfSerde)),
            "cannot read `a.json`: expected a whole number, found an object at line 1 column 2"
        );
    }

    #[test]
    fn circular_causes_end() {
        assert_eq!(chain(&Endless).matches("again").count(), MOST_CAUSES);
    }
}
