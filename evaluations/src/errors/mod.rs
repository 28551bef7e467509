//! Prints errors: the causes, then a hint how to mend them.

mod hint;
mod unknown_word;

use std::io::{self, Write as _};
use std::process::ExitCode;

pub(crate) use self::hint::of as hint;
pub(crate) use self::unknown_word::{nearest_commands, unknown_word};
use evals_pipeline::exit::Exit;
use evals_settings::redaction::printable;

use crate::cli;

/// Prints help, the version or an error in the command line, in the words of clap.
pub(crate) fn usage(message: &clap::Error) -> ExitCode {
    if let Some(text) = cli::replacement(message) {
        report(&anyhow::Error::msg(text));
        return Exit::CouldNot.into();
    }
    // If the stream is closed, the exit code still reports the error.
    let _ = message.print();
    if message.use_stderr() {
        Exit::CouldNot.into()
    } else {
        Exit::Done.into()
    }
}

/// Whether the reader of stdout closed it, as `head` does, which is not a failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints an error with its causes and a hint to stderr.
pub(crate) fn report(error: &anyhow::Error) {
    let mut text = String::new();
    let mut outer = String::new();
    for (depth, cause) in error.chain().enumerate() {
        let label = if depth == 0 {
            "error: "
        } else {
            "  caused by: "
        };
        let own = cause.to_string();
        // Some libraries repeat their source in their own message.
        if depth > 0 && outer.ends_with(&own) {
            continue;
        }
        outer = own;
        let message = evals_messages::worded(cause);
        text.push_str(label);
        text.push_str(&message.replace('\n', &format!("\n{:width$}", "", width = label.len())));
        text.push('\n');
    }
    if let Some(hint) = hint::of(error) {
        text.push_str("  hint: ");
        text.push_str(&hint);
        text.push('\n');
    }
    let _ = io::stderr().lock().write_all(printable(&text).as_bytes());
}
