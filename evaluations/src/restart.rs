//! Starting again with what the storage engine reads from the environment.

use crate::cli::Command;

/// Starts the program again where the engine would otherwise leave processors unused: it reads its number of threads once,
/// from a variable that a running process cannot set safely.
///
/// Returns where nothing has to be set, or where starting again fails: the run is then slower, and as right.
#[cfg(unix)]
pub(crate) fn with_all_processors(command: &Command) {
    use std::env;
    use std::os::unix::process::CommandExt as _;

    let variables = evals_index::environment();
    if variables.is_empty() || !matches!(command, Command::Run(_)) {
        return;
    }
    let mut arguments = env::args_os();
    let (Some(name), Ok(program)) = (arguments.next(), env::current_exe()) else {
        return;
    };
    let _ = std::process::Command::new(program)
        .arg0(name)
        .args(arguments)
        .envs(variables)
        .exec();
}

/// There is no `exec` here; the variable can be set by hand.
#[cfg(not(unix))]
pub(crate) fn with_all_processors(_command: &Command) {}
