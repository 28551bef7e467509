//! Finds values that JSON writes as `null`, which would read back as `None`.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};

use serde::Serialize;

const NULL: &[u8] = b"null";

/// Turns a value that JSON writes as `null` into `None`.
pub(crate) fn present<T: Serialize>(value: Option<T>) -> Option<T> {
    value.filter(|value| !is_null(value))
}

fn is_null(value: &impl Serialize) -> bool {
    let mut probe = Probe { seen: 0 };
    // A value that panics here panics again when the report is written, where the error belongs.
    let written = panic::catch_unwind(AssertUnwindSafe(|| {
        serde_json::to_writer(&mut probe, value).is_ok()
    }));
    written.unwrap_or(false) && probe.seen == NULL.len()
}

/// Accepts the four bytes of `null` and fails at anything else, so other values are not written out in full.
struct Probe {
    seen: usize,
}

impl Write for Probe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if NULL[self.seen..].starts_with(bytes) {
            self.seen += bytes.len();
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
