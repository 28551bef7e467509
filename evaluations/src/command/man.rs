//! `evaluations man`: prints the man page of a command, or writes the pages of all commands into a folder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use evals_messages::nearest;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::atomic_file::write_atomically;

use crate::cli::{self, ManArgs};
use crate::errors::nearest_commands;

pub(super) fn execute(session: &Session<'_>, arguments: &ManArgs) -> Result<Exit> {
    // Without pages for `help`, which repeats the others.
    let mut program = cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &arguments.out else {
        let page = page(find(&program, &arguments.command)?)?;
        session.printer.result(&String::from_utf8(page)?)?;
        return Ok(Exit::Done);
    };
    let folder = session.directories.working.join(folder);
    let written = write_all(&program, &folder)?;
    let folder = folder.display();
    let note = format!("wrote {written} pages to {folder}");
    session.printer.note(&note);
    Ok(Exit::Done)
}

/// The command that the words name, one level below another, by its present or a former name.
fn find<'c>(program: &'c Command, words: &[String]) -> Result<&'c Command> {
    let current = words.first().and_then(|word| cli::current_name(word));
    let current = current.into_iter().flatten().copied();
    // `gate --simulate` is a part of the page of `gate`.
    let current: Vec<&str> = current.filter(|word| !word.starts_with('-')).collect();
    let others = words.iter().skip(usize::from(!current.is_empty()));
    let mut words_now = current.into_iter().chain(others.map(String::as_str));
    let found = words_now.try_fold(program, |command, word| command.find_subcommand(word));
    let Some(found) = found else {
        let name = words.join(" ");
        let near = nearest_commands(&name);
        let hint = match near.as_slice() {
            [] => "; `evaluations --help` lists the commands".to_owned(),
            near => nearest::did_you_mean(near),
        };
        bail!("there is no command `{name}`{hint}");
    };
    Ok(found)
}

/// Writes the pages of a command and of those below it, and returns how many they are.
fn write_all(command: &Command, folder: &Path) -> Result<usize> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    let path = folder.join(Man::new(command.clone()).get_filename());
    let page = page(command)?;
    write_atomically(&path, |file| file.write_all(&page))?;
    let below = command.get_subcommands();
    below
        .filter(|command| !command.is_hide_set())
        .map(|command| write_all(command, folder))
        .try_fold(1, |sum, written| Ok(sum + written?))
}

/// The page of a command, in the format of man.
fn page(command: &Command) -> Result<Vec<u8>> {
    let version = env!("CARGO_PKG_VERSION");
    let without_notes = command
        .clone()
        .after_help(Resettable::Reset)
        .after_long_help(Resettable::Reset);
    let mut page = Vec::new();
    Man::new(without_notes)
        .source(format!("evaluations {version}"))
        .manual("evaluations manual")
        .render(&mut page)?;
    let mut page = with_values(&String::from_utf8(page)?, command).into_bytes();
    let notes = command.get_after_long_help();
    if let Some(notes) = notes.or_else(|| command.get_after_help()) {
        notes_section(&notes.to_string()).to_writer(&mut page)?;
    }
    Ok(page)
}

/// The page with the names of values behind the options of its synopsis, which the library leaves out.
fn with_values(page: &str, command: &Command) -> String {
    const SYNOPSIS: &str = ".SH SYNOPSIS\n";
    let Some((above, rest)) = page.split_once(SYNOPSIS) else {
        return page.to_owned();
    };
    let (synopsis, below) = rest.split_at(rest.find("\n.SH ").unwrap_or(rest.len()));
    let mut synopsis = synopsis.to_owned();
    for option in command.get_opts() {
        let name = option.get_long().map(|long| format!("--{long}"));
        let name = name.or_else(|| option.get_short().map(|short| format!("-{short}")));
        let (Some(name), Some(values)) = (name, option.get_value_names()) else {
            continue;
        };
        let values: Vec<String> = values
            .iter()
            .map(|value| value.replace('-', "\\-"))
            .collect();
        let values = values.join(" ");
        let is_optional = option
            .get_num_args()
            .is_some_and(|count| count.min_values() == 0);
        let values = match (is_optional, option.is_require_equals_set()) {
            (false, false) => format!(" \\fI{values}\\fR"),
            (false, true) => format!("=\\fI{values}\\fR"),
            (true, false) => format!(" [\\fI{values}\\fR]"),
            (true, true) => format!("[=\\fI{values}\\fR]"),
        };
        let bold = format!("\\fB{}\\fR", name.replace('-', "\\-"));
        synopsis = synopsis.replace(&bold, &format!("{bold}{values}"));
    }
    format!("{above}{SYNOPSIS}{synopsis}{below}")
}

/// The text at the end of `--help`, in the lines that it has there: the section of the library would join them to paragraphs.
fn notes_section(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["NOTES"]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}
