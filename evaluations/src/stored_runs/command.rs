//! The runs that one command started.

use super::predecessor::is_of_kind;
use crate::run_folder::RunHeader;

/// Whether the command that started the runs `command` started the run before them in the list, too.
///
/// The same command typed twice in a row is two commands, so no two of its runs have the same dataset, benchmark and profile.
pub(crate) fn is_of_command<'h>(
    header: &RunHeader,
    command: impl IntoIterator<Item = &'h RunHeader>,
) -> bool {
    let mut command = command.into_iter();
    command.all(|run| run.command_line == header.command_line && !is_of_kind(run, header))
}
