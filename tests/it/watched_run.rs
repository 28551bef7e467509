//! `runs show --watch`: the progress of a run that another process works on, and what a terminal gets that a pipe does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[cfg(target_os = "linux")]
use crate::pseudo_terminal::{on_terminal, terminal};
use crate::recorded_replies::cases;
use crate::sandbox::{Ended, Sandbox, ended, wait_for};

/// A system that answers five cases at once and the fourth when there is a file `go`. It ends with the sandbox, because a run that
/// is killed does not end it.
const SYSTEM: &str = r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    while [ "$id" = d ] && [ ! -e go ]; do [ -e system.sh ] || exit; sleep 0.02; done
    printf '{"id":"%s","answer":"Tower"}\n' "$id"
done
"#;

const EVAL: &str = "eval letters.yaml --concurrency 1 --no-progress --name towers";

/// A run that waits at its fourth case.
struct Waiting {
    sandbox: Sandbox,
    running: Child,
}

impl Waiting {
    fn start() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("letters.yaml", cases("- Contains: Tower\n"));
        sandbox.write("system.sh", SYSTEM);
        let mut command = eval(&sandbox);
        let running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let waiting = Self {
            running: running.unwrap(),
            sandbox,
        };
        wait_for("the third case", || waiting.journal_lines() == 4);
        waiting
    }

    fn journal_lines(&self) -> usize {
        let runs = self.sandbox.runs();
        let journal = runs.first().map(|run| run.join("journal.jsonl"));
        let journal = journal.and_then(|journal| fs::read_to_string(journal).ok());
        journal.map_or(0, |journal| journal.lines().count())
    }

    /// Starts watching; its stdout and stderr go to files.
    fn watch(&self, line: &str) -> Watching {
        let [stdout, stderr] =
            ["stdout.txt", "stderr.txt"].map(|name| self.sandbox.data().join(name));
        let child = self
            .sandbox
            .command(line)
            .stdout(fs::File::create(&stdout).unwrap())
            .stderr(fs::File::create(&stderr).unwrap())
            .spawn()
            .unwrap();
        Watching {
            child,
            stdout,
            stderr,
        }
    }

    /// Lets the run go on to its end.
    fn go(&mut self) {
        self.sandbox.write("go", "");
        assert!(self.running.wait().unwrap().success());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}

struct Watching {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Watching {
    fn noted(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    fn end(mut self) -> Ended {
        let code = self.child.wait().unwrap().code();
        Ended {
            code,
            stdout: fs::read_to_string(&self.stdout).unwrap(),
            stderr: self.noted(),
        }
    }
}

fn eval(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(EVAL);
    command.args(["--target", "exec:sh system.sh"]);
    command
}

#[test]
fn a_pipe_gets_a_line_now_and_then_and_the_report_at_the_end() {
    let mut waiting = Waiting::start();
    let watching = waiting.watch("runs show --watch");
    wait_for("a line", || watching.noted().contains("3 of 6 cases"));
    assert_eq!(fs::read_to_string(&watching.stdout).unwrap(), "");
    waiting.go();
    let watched = watching.end();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    assert_eq!(watched.stdout, waiting.sandbox.succeed("runs show latest"));
    let first = watched.stderr.lines().next().unwrap();
    assert!(first.contains("-towers: 3 of 6 cases, "), "{first}");
    for shown in [&watched.stdout, &watched.stderr] {
        assert!(!shown.contains('\x1b'), "{shown:?}");
    }
}

#[test]
fn a_running_run_is_found_by_its_given_name_and_a_finished_one_is_shown_at_once() {
    let mut waiting = Waiting::start();
    let watching = waiting.watch("runs show towers --watch");
    wait_for("a line", || watching.noted().contains("3 of 6 cases"));
    waiting.go();
    let report = watching.end().stdout;
    assert!(report.contains("6 cases"), "{report}");
    assert_eq!(waiting.sandbox.succeed("runs show towers --watch"), report);
    let message = waiting.sandbox.refuse("runs show --watch");
    assert!(message.contains("no run is running"), "{message}");
}

#[test]
fn watching_a_killed_run_ends_with_what_is_missing() {
    let mut waiting = Waiting::start();
    let watching = waiting.watch("runs show --watch");
    wait_for("a line", || watching.noted().contains("3 of 6 cases"));
    waiting.running.kill().unwrap();
    waiting.running.wait().unwrap();
    let watched = watching.end();
    assert_eq!(watched.code, Some(2));
    let expected = "has no report (unfinished, 3 of 6 not run)";
    assert!(watched.stderr.contains(expected), "{}", watched.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_only_the_watching() {
    let mut waiting = Waiting::start();
    let mut watching = waiting.watch("runs show --watch");
    wait_for("a line", || watching.noted().contains("3 of 6 cases"));
    let interrupt = Command::new("kill")
        .args(["-s", "INT", &watching.child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    assert!(!watching.child.wait().unwrap().success());
    waiting.go();
    assert_eq!(waiting.journal_lines(), 7);
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_one_page_in_place_and_then_the_report() {
    let mut waiting = Waiting::start();
    let (mut command, shown) = terminal(&waiting.sandbox, 60, "runs show --watch");
    let mut watching = command.stdout(Stdio::null()).spawn().unwrap();
    let text = || String::from_utf8_lossy(&fs::read(&shown).unwrap_or_default()).into_owned();
    wait_for("the second page", || {
        text().matches("3 of 6 cases").count() > 1
    });
    waiting.go();
    assert!(watching.wait().unwrap().success());
    let text = text().replace('\r', "");
    let pages: Vec<&str> = text.split("\x1b[0J").collect();
    let [_, page, .., last] = &pages[..] else {
        panic!("{text:?}");
    };
    assert!(
        page.contains("[████████████            ] 3 of 6 cases"),
        "{page}"
    );
    let moved = page.rsplit_once("\x1b[").unwrap().1.trim_end_matches('A');
    let lines = page.lines().count() - 1;
    assert_eq!(moved, lines.to_string(), "{page:?}");
    assert!(
        last.contains("6 cases") && !last.contains("is running"),
        "{last}"
    );
    assert!(
        !last.contains("\x1b[0J") && last.matches("Contains").count() == 1,
        "{last}"
    );
}

#[cfg(target_os = "linux")]
fn link(page: &Path) -> String {
    format!("\x1b]8;;file://{}\x1b\\", page.display())
}

#[cfg(target_os = "linux")]
#[test]
fn a_wide_terminal_shows_drawings_and_other_outputs_do_not() {
    let sandbox = Sandbox::new();
    for chunk in [32, 64] {
        let set = format!("--set processing.chunk_size={chunk}");
        sandbox.succeed(&format!("sample --limit 20 --skip-qa --profile bm25 {set}"));
    }
    for (line, drawing) in [
        ("runs show latest", "0 cases  1"),
        ("compare", "worse|better"),
        ("runs", "TREND  "),
    ] {
        let shown = |columns: u16, variables: &[(&str, &str)]| {
            on_terminal(&sandbox, columns, line, variables).contains(drawing)
        };
        assert!(shown(160, &[]), "{line}");
        assert!(shown(160, &[("NO_COLOR", "1")]), "{line}");
        assert!(!shown(50, &[]), "{line}");
        assert!(!shown(160, &[("TERM", "dumb")]), "{line}");
        assert!(!sandbox.succeed(line).contains(drawing), "{line}");
        let ascii = on_terminal(&sandbox, 160, line, &[("LANG", "C"), ("NO_COLOR", "1")]);
        assert!(ascii.is_ascii(), "{ascii}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_and_pages_link_to_the_page_where_the_terminal_opens_links() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25");
    let kitty = [("TERM", "xterm-kitty")];
    let page = sandbox.runs().last().unwrap().join("report.html");
    let _ = fs::remove_file(&page);
    let unlinked = on_terminal(&sandbox, 160, "runs", &kitty);
    assert!(!unlinked.contains("\x1b]8"), "{unlinked}");
    fs::write(&page, "").unwrap();
    let link = link(&page);
    for line in ["runs", "runs show latest"] {
        let linked = |line: &str, variables: &[(&str, &str)]| {
            on_terminal(&sandbox, 160, line, variables).contains(&link)
        };
        assert!(linked(line, &kitty), "{line}");
        assert!(!linked(line, &[]), "{line}");
        assert!(!linked(&format!("{line} --color never"), &kitty), "{line}");
        let piped = ended(sandbox.command(line).env("TERM", "xterm-kitty"));
        assert!(!piped.stdout.contains('\x1b') && !piped.stderr.contains('\x1b'));
    }
    let shown = sandbox.run("runs show latest").stderr;
    let folder = page.parent().unwrap().display();
    assert!(shown.ends_with(&format!(", {folder}\n")), "{shown}");
}

#[test]
fn a_command_ends_with_one_line_that_names_the_page_of_its_last_run() {
    let sandbox = Sandbox::new();
    let both = sandbox.run("sample --limit 5 --profile bm25");
    let pages = || {
        let runs = sandbox.runs().into_iter();
        runs.map(|run| run.join("report.html"))
    };
    let last = pages().next_back().unwrap();
    assert!(pages().all(|page| page.is_file()));
    let expected = format!(
        "next: `evaluations compare` after a change; every case is on the page (`evaluations view` shows 1 more): {}\n",
        last.display()
    );
    assert!(both.stderr.ends_with(&expected), "{}", both.stderr);
    assert_eq!(both.stderr.matches("report.html").count(), 1);

    let one = sandbox.run("sample --limit 5 --profile bm25 --skip-qa --out page.html");
    let page = pages().next_back().unwrap();
    let expected = format!(
        "wrote page.html\nnext: `evaluations compare` after a change; every case is on the page: {}\n",
        page.display()
    );
    assert!(one.stderr.ends_with(&expected), "{}", one.stderr);
    assert!(!one.stdout.contains("report.html"));
    let quiet = sandbox.run("sample --limit 5 --profile bm25 --skip-qa --quiet");
    assert_eq!(quiet.stderr, "");
}
