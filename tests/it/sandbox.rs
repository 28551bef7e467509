//! The sandbox of a test: an empty home, and commands that run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// An empty home and an empty working folder, and commands that see nothing else.
pub(crate) struct Sandbox {
    root: TempDir,
}

/// The exit code and the output of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "work", "data"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    /// The working folder of commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// The tool's data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Writes a file below the working folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A command that is not started yet; `line` is split at blanks.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = program();
        command
            .args(line.split_whitespace())
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.root.path().join("home"))
            .env("EVALUATIONS_DATA_DIR", self.data())
            .env("HF_HUB_OFFLINE", "1")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, line: &str) -> Ended {
        ended(&mut self.command(line))
    }

    /// Runs a command that must succeed, and returns its stdout.
    pub(crate) fn succeed(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(0), "`{line}` failed: {}", ended.stderr);
        ended.stdout
    }

    /// Runs a command that must fail with exit code 2 and an empty stdout, and returns its stderr.
    pub(crate) fn refuse(&self, line: &str) -> String {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(2), "`{line}` gave {ended:?}");
        assert_eq!(ended.stdout, "", "`{line}` printed a result");
        ended.stderr
    }

    /// The run folders, oldest first.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.data().join("runs")) else {
            return Vec::new();
        };
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A text without the line breaks of the terminal.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Waits for a condition, for at most a minute.
pub(crate) fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !there() {
        assert!(Instant::now() < deadline, "{what} did not come");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads a JSON file. A report loses its checksum, as if an earlier version had written it: a test may change it, and no two runs take
/// the same time.
pub(crate) fn json(path: &Path) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    if let Some(report) = value.as_object_mut()
        && report.contains_key("cases")
        && report.contains_key("summary")
    {
        report.shift_remove("checksum");
    }
    value
}

fn program() -> Command {
    handling_signals(env!("CARGO_BIN_EXE_evaluations"))
}

/// A command that handles signals even if the tests ignore them, as under `nohup` or after `&` in a script: a child process inherits
/// ignored signals.
pub(crate) fn handling_signals(program: &str) -> Command {
    if !ignores_interrupts() {
        return Command::new(program);
    }
    let mut command = Command::new("/usr/bin/env");
    command.args(["--default-signal=HUP,INT", program]);
    command
}

/// Whether this process ignores SIGHUP or SIGINT, on systems with `/proc`.
fn ignores_interrupts() -> bool {
    const HUP_AND_INT: u64 = 0b11;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & HUP_AND_INT != 0)
}
