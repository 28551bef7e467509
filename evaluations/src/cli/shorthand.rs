//! `evaluations <DATASET>`, which is short for `evaluations run <DATASET>`.

use std::ffi::OsString;

use clap::CommandFactory as _;

use super::Cli;
use super::former::current_name;

/// A command line after expansion, which always names a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expanded {
    pub(crate) words: Vec<OsString>,
    /// The first word, if it is not a command and was therefore read as a dataset.
    pub(crate) dataset: Option<OsString>,
}

/// Inserts `run` where the first word is not a command: `evaluations repliqa` is short for `evaluations run repliqa`. Puts the present name
/// of a command in place of a former one.
pub(crate) fn expand(arguments: impl IntoIterator<Item = OsString>) -> Expanded {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    let place = first_place(&words);
    let first = words.get(place).cloned();
    let asks_for_help = first.as_ref().is_some_and(|word| word == "help");
    let named = place + usize::from(asks_for_help);
    let current = words
        .get(named)
        .and_then(|word| current_name(word.to_str()?));
    if let Some(current) = current {
        // `help` takes names of commands alone.
        let is_wanted = |word: &&&str| !(asks_for_help && word.starts_with('-'));
        let current = current.iter().filter(is_wanted).map(OsString::from);
        drop(words.splice(named..=named, current));
        return Expanded {
            words,
            dataset: None,
        };
    }
    let is_short = first.as_ref().is_some_and(|word| {
        let asks_for_help = ["-h", "--help", "-V", "--version"]
            .iter()
            .any(|it| word == it);
        !asks_for_help && !is_command(word)
    });
    if is_short {
        words.insert(1, OsString::from("run"));
    }
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    Expanded {
        words,
        dataset: first.filter(|word| is_short && !is_option(word)),
    }
}

/// The index of the first word after the options that may come before a command.
fn first_place(words: &[OsString]) -> usize {
    let flags = ["-q", "--quiet", "-v", "--verbose", "--no-progress"];
    let mut place = 1;
    while let Some(word) = words.get(place) {
        if word == "--color" {
            place += 2;
        } else if flags.iter().any(|flag| word == flag)
            || word.as_encoded_bytes().starts_with(b"--color=")
        {
            place += 1;
        } else {
            break;
        }
    }
    place
}

fn is_command(word: &OsString) -> bool {
    let command = Cli::command();
    word == "help" || command.get_subcommands().any(|it| word == it.get_name())
}

/// The commands as they are typed, with those below them in several words: `runs show`.
pub(crate) fn paths() -> Vec<String> {
    fn below(outer: &str, command: &clap::Command, paths: &mut Vec<String>) {
        for inner in command.get_subcommands() {
            let path = format!("{outer} {}", inner.get_name());
            let path = path.trim_start().to_owned();
            paths.push(path.clone());
            below(&path, inner, paths);
        }
    }
    let mut paths = Vec::new();
    below("", &Cli::command(), &mut paths);
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> String {
        let expanded = expand(line.split(' ').map(OsString::from));
        expanded
            .words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_dataset_alone_means_run() {
        assert_eq!(
            expanded("evaluations repliqa --limit 3"),
            "evaluations run repliqa --limit 3"
        );
        assert_eq!(
            expanded("evaluations --limit 3 repliqa"),
            "evaluations run --limit 3 repliqa"
        );
        assert_eq!(
            expanded("evaluations --color never -q wix"),
            "evaluations run --color never -q wix"
        );
    }

    #[test]
    fn an_unknown_word_is_read_as_a_dataset() {
        let dataset = |line: &str| {
            let expanded = expand(line.split(' ').map(OsString::from));
            let dataset = expanded.dataset?;
            Some(dataset.to_string_lossy().into_owned())
        };
        assert_eq!(dataset("evaluations -v show latest").unwrap(), "show");
        assert_eq!(dataset("evaluations --color auto never").unwrap(), "never");
        assert_eq!(dataset("evaluations --limit 3 wix"), None);
        assert_eq!(dataset("evaluations run wix"), None);
        assert_eq!(dataset("evaluations"), None);
    }

    #[test]
    fn a_former_name_becomes_the_present_one() {
        for (former, present) in [
            (
                "-q report latest --out a.md",
                "-q runs report latest --out a.md",
            ),
            ("aa latest --drop 1", "gate --simulate latest --drop 1"),
            ("help fuse", "help score fuse"),
            ("help aa", "help gate"),
            ("run report", "run report"),
        ] {
            assert_eq!(
                expanded(&format!("evaluations {former}")),
                format!("evaluations {present}")
            );
        }
    }

    #[test]
    fn a_command_stays_as_it_is() {
        for line in [
            "evaluations",
            "evaluations run wix",
            "evaluations --help",
            "evaluations -q datasets",
        ] {
            assert_eq!(expanded(line), line);
        }
    }
}
