//! The colour of help and usage errors.

use std::ffi::OsString;

use clap::ColorChoice;

/// The `--color` choice for help and usage errors. clap prints those while it parses, so this reads the option beforehand.
pub(crate) fn color(arguments: &[OsString]) -> ColorChoice {
    let words: Vec<_> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let behind = words.iter().position(|word| word == "--color");
    let behind = behind.and_then(|at| words.get(at + 1)).map(AsRef::as_ref);
    match joined.or(behind) {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}
