//! The help of the program, which lists the commands by what a user wants, and its colour.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{ColorChoice, CommandFactory as _};

use super::Cli;

/// The commands that are shown, those of the first day first.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Start here",
        &["init", "run", "eval", "datasets", "targets", "view"],
    ),
    ("Use the results", &["runs", "compare", "tune", "gate"]),
    ("Trust the judge", &["rejudge", "labels"]),
    ("Work without labels", &["questions", "pool"]),
    ("Measure parts alone", &["score", "bench"]),
    (
        "Set up and check",
        &["doctor", "validate", "config", "cache"],
    ),
];

/// The definition of the command line.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let styles = Styles::styled();
    let (heading, name) = (styles.get_header(), styles.get_literal());
    let mut listing = format!("{heading}Commands:{heading:#}\n");
    for (title, names) in GROUPS {
        _ = write!(listing, "\n  {heading}{title}{heading:#}\n");
        let commands = names.iter().filter_map(|it| command.find_subcommand(it));
        for it in commands {
            let about = it.get_about().map(ToString::to_string).unwrap_or_default();
            _ = writeln!(listing, "  {name}{:<9}{name:#} {about}", it.get_name());
        }
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listing}\n{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_shown_command_is_in_one_group() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        let shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn the_listing_fits_a_terminal_of_80_columns() {
        let command = Cli::command();
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        for it in shown {
            let about = it.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            assert!(about.chars().count() <= 68, "{about}");
        }
    }
}
