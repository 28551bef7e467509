//! Names of commands and options that are not shown any more.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands by the name that scripts may still use, and what each stands for now.
const COMMANDS: [(&str, &[&str]); 10] = [
    ("aa", &["gate", "--simulate"]),
    ("baseline", &["runs", "baseline"]),
    ("calibrate", &["labels", "calibrate"]),
    ("download", &["datasets", "download"]),
    ("export", &["datasets", "export"]),
    ("fuse", &["score", "fuse"]),
    ("merge", &["runs", "merge"]),
    ("report", &["runs", "report"]),
    ("table", &["runs", "table"]),
    ("trend", &["runs", "trend"]),
];

/// Options that are gone, and what to use in their place.
const OPTIONS: [(&str, &str); 1] = [(
    "--in-terminal",
    "label in the browser with `evaluations view RUN`, or in a spreadsheet with `evaluations labels RUN --export FILE.csv`",
)];

/// What a former name of a command stands for.
pub(crate) fn current_name(name: &str) -> Option<&'static [&'static str]> {
    let (_, current) = COMMANDS.iter().find(|(former, _)| *former == name)?;
    Some(current)
}

/// The error for an option that is gone, or for a folder in place of the kind of system of `init`, if that is what the parser did not know.
pub(crate) fn replacement(error: &Error) -> Option<String> {
    if let (ErrorKind::InvalidValue, Some(ContextValue::String(argument))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && argument == "[KIND]"
        && let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue)
        && !value.is_empty()
    {
        return Some(format!(
            "`{value}` is not a kind of system: rag, http or prompt; did you mean the folder `--to {value}`?"
        ));
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let (option, instead) = OPTIONS.iter().find(|(option, _)| option == unknown)?;
    Some(format!("there is no `{option}` any more; {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_name_stands_for_a_command_and_hides_none() {
        let program = crate::cli::command();
        for (former, words) in COMMANDS {
            assert!(program.find_subcommand(former).is_none(), "{former}");
            let mut commands = words.iter().filter(|word| !word.starts_with('-'));
            let found = commands.try_fold(&program, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "{words:?}");
        }
    }
}
