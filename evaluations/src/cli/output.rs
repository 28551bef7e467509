//! The output options: verbosity, progress bars and colour.

use std::ffi::OsString;

pub(crate) use clap::ColorChoice;
use clap::ValueEnum;
use evals::render::Part;

/// A part of a case that the table of cases can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShownPart {
    Input,
    Expected,
    Output,
    Metadata,
}

impl From<ShownPart> for Part {
    fn from(shown: ShownPart) -> Self {
        match shown {
            ShownPart::Input => Self::Input,
            ShownPart::Expected => Self::Expected,
            ShownPart::Output => Self::Output,
            ShownPart::Metadata => Self::Metadata,
        }
    }
}

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
