//! Errors of the storage engine, in a form that suits messages.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

use evals_messages::secrets;

use crate::store_fault::{StoreFault, quoted_reason};

/// An error of the storage engine. Its message includes its causes.
#[derive(Debug)]
pub struct EngineError {
    source: Box<dyn Error + Send + Sync>,
    store_fault: Option<StoreFault>,
}

impl EngineError {
    pub(crate) fn new(source: Box<dyn Error + Send + Sync>) -> Self {
        Self {
            store_fault: StoreFault::of(source.as_ref()),
            source,
        }
    }

    /// The failure of an object store, if this is one.
    pub(crate) fn store_fault(&self) -> Option<&StoreFault> {
        self.store_fault.as_ref()
    }

    /// The kind of the operating system's error among the causes, even if another `io::Error` wraps it.
    pub(crate) fn io_error_kind(&self) -> Option<io::ErrorKind> {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self.source.as_ref());
        while let Some(error) = cause {
            let io_error = error.downcast_ref::<io::Error>();
            if let Some(io_error) = io_error
                && io_error.raw_os_error().is_some()
            {
                return Some(io_error.kind());
            }
            cause = match io_error.and_then(io::Error::get_ref) {
                Some(wrapped) => Some(wrapped),
                None => error.source(),
            };
        }
        None
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.source.to_string();
        // A store may repeat the credentials that it was sent.
        let message = secrets::redacted(&message);
        if let Some(fault) = &self.store_fault {
            // The engine's message has the address of each request and the whole answer.
            return match quoted_reason(&message) {
                Some(reason) => write!(formatter, "{fault} ({reason})"),
                None => fault.fmt(formatter),
            };
        }
        formatter.write_str(without_type_names(without_source_location(&message)))
    }
}

/// The message without the engine's error types in front, as in `lance error: LanceError(IO): …`.
fn without_type_names(message: &str) -> &str {
    let message = message.strip_prefix("lance error: ").unwrap_or(message);
    let rest = message
        .strip_prefix("LanceError(")
        .and_then(|rest| rest.split_once("): "));
    rest.map_or(message, |(_, rest)| rest)
}

/// The message without the place in the engine's source at its end, as in `…, /src/dataset.rs:12:3`.
fn without_source_location(message: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some((before, place)) = message.rsplit_once(", ") else {
        return message;
    };
    let mut parts = place.rsplitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(column), Some(line), Some(file))
            if is_number(column)
                && is_number(line)
                && Path::new(file)
                    .extension()
                    .is_some_and(|extension| extension == "rs") =>
        {
            before
        }
        _ => message,
    }
}

/// The engine's messages include those of their causes, so there is no source to report.
impl Error for EngineError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_the_engines_type_names_and_source_locations() {
        for (message, expected) in [
            (
                "not found: a.lance, /src/dataset.rs:12:3",
                "not found: a.lance",
            ),
            ("not found: a, b", "not found: a, b"),
            ("at 12:3", "at 12:3"),
            (
                "lance error: LanceError(IO): No space left on device (os error 28), /src/writer.rs:12:3",
                "No space left on device (os error 28)",
            ),
            ("expected x, found y.rs", "expected x, found y.rs"),
        ] {
            assert_eq!(EngineError::new(message.into()).to_string(), expected);
        }
    }
}
