//! Commands on a terminal, which `script` of util-linux provides.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, ended, handling_signals};

/// A command on a terminal of this many columns. Everything that the terminal gets is written to a file.
pub(crate) fn terminal(sandbox: &Sandbox, columns: u16, line: &str) -> (Command, PathBuf) {
    let program = env!("CARGO_BIN_EXE_evaluations");
    let shown = sandbox.data().join("terminal.txt");
    let mut command = handling_signals("script");
    command
        .args(["--quiet", "--return", "--flush", "--command"])
        .arg(format!("stty cols {columns} rows 40; {program} {line}"))
        .arg(&shown)
        .current_dir(sandbox.work())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", sandbox.work())
        .env("EVALUATIONS_DATA_DIR", sandbox.data())
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null());
    (command, shown)
}

/// Runs a command on a terminal, and returns everything that the terminal got.
pub(crate) fn on_terminal(
    sandbox: &Sandbox,
    columns: u16,
    line: &str,
    variables: &[(&str, &str)],
) -> String {
    let (mut command, _) = terminal(sandbox, columns, line);
    let printed = ended(command.envs(variables.iter().copied()));
    assert_eq!(printed.code, Some(0), "{}", printed.stdout);
    printed.stdout.replace('\r', "")
}
