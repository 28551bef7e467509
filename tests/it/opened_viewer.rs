//! `evaluations view` on a terminal, with a program in place of the desktop that opens files.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::pseudo_terminal::terminal;
use crate::sandbox::{Sandbox, wait_for};

/// Stores what it is started with.
const OPENER: &str =
    "#!/bin/sh\nprintf '%s\\n' \"$@\" > opened.partial && mv opened.partial opened\n";

/// A viewer on a terminal that has opened a browser.
pub(crate) struct OpenedViewer {
    process: Child,
    /// What the terminal got.
    shown: PathBuf,
    /// What the browser was started with.
    pub(crate) opened: String,
}

impl OpenedViewer {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let opener = sandbox.write("bin/xdg-open", OPENER);
        fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
        let mut path = OsString::from(sandbox.work().join("bin"));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let (mut command, shown) = terminal(sandbox, 200, "view");
        let process = command
            .env("PATH", path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let opened = sandbox.work().join("opened");
        wait_for("the browser", || opened.exists());
        let opened = fs::read_to_string(opened).unwrap();
        Self {
            process,
            shown,
            opened: opened.trim_end().to_owned(),
        }
    }

    /// The address that was printed.
    pub(crate) fn address(&self) -> String {
        let shown = fs::read_to_string(&self.shown).unwrap();
        let mut words = shown.split_whitespace();
        let address = words.find(|word| word.starts_with("http://127.0.0.1:"));
        address.expect("the address is printed").to_owned()
    }

    /// Presses Ctrl-C, and waits for the end of the viewer, but not forever.
    pub(crate) fn interrupt(&mut self) {
        let mut keyboard = self.process.stdin.take().unwrap();
        keyboard.write_all(b"\x03").unwrap();
        keyboard.flush().unwrap();
        wait_for("the end of the viewer", || {
            self.process.try_wait().unwrap().is_some()
        });
    }
}

impl Drop for OpenedViewer {
    fn drop(&mut self) {
        // Ends the terminal, and so the viewer in it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
