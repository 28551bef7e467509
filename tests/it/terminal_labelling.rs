//! `labels RUN --in-terminal` on a terminal: one key each, blind, stored at once, and the terminal as it was afterwards.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::pseudo_terminal::terminal;
use crate::sandbox::{Sandbox, wait_for};

/// Longer than the time after which a key no longer counts as held.
const PAUSE: Duration = Duration::from_millis(250);

/// A terminal on which somebody labels, and which prints its mode afterwards.
struct Labelling {
    process: Child,
    keyboard: ChildStdin,
    shown: PathBuf,
    /// How many bytes of what is shown belong to earlier answers.
    seen: usize,
}

impl Labelling {
    fn start(sandbox: &Sandbox, columns: u16, options: &str) -> Self {
        let line =
            format!("labels latest --in-terminal --labeller ada {options}; echo exit=$?; stty -a");
        let (mut command, shown) = terminal(sandbox, columns, &line);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // A second terminal takes the name again.
        wait_for("the file of the terminal", || shown.exists());
        let moved = shown.with_extension(process.id().to_string());
        fs::rename(&shown, &moved).unwrap();
        let shown = moved;
        Self {
            keyboard: process.stdin.take().unwrap(),
            process,
            shown,
            seen: 0,
        }
    }

    fn text(&self) -> String {
        let bytes = fs::read(&self.shown).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }

    /// Waits until the terminal shows a text behind all that was seen before, and returns what it shows up to there.
    fn see(&mut self, wanted: &str) -> String {
        wait_for(wanted, || {
            self.text()
                .get(self.seen..)
                .is_some_and(|new| new.contains(wanted))
        });
        let text = self.text();
        let new = &text[self.seen..];
        let end = new.find(wanted).unwrap() + wanted.len();
        self.seen += end;
        new[..end].to_owned()
    }

    fn press(&mut self, keys: &str) {
        thread::sleep(PAUSE);
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits for the end, and returns all that the terminal showed.
    fn end(mut self) -> String {
        wait_for("the end of labelling", || {
            self.process.try_wait().unwrap().is_some()
        });
        let text = self.text();
        for mode in ["icanon", "echo", "isig"] {
            let is_on = text.split_whitespace().any(|word| word == mode);
            assert!(is_on, "{mode} is off: {text}");
        }
        assert!(text.contains("\x1b[?2004l"), "{text}");
        text
    }

    /// The process that labels, below `script` and its shell.
    fn pid(&self) -> String {
        let child = |pid: &str| {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
            let children = children.unwrap_or_default();
            children.split_whitespace().next().map(str::to_owned)
        };
        let shell = child(&self.process.id().to_string()).unwrap();
        child(&shell).unwrap()
    }
}

impl Drop for Labelling {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn answered() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-retrieval --profile bm25 --limit 6");
    sandbox
}

fn labels(sandbox: &Sandbox) -> Vec<Value> {
    let file = sandbox.runs()[0].join("annotations.jsonl");
    let text = fs::read_to_string(file).unwrap_or_default();
    let labels = text.lines().skip(1).map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["label"].clone()
    });
    labels.collect()
}

fn said(sandbox: &Sandbox) -> Vec<Value> {
    let labels = labels(sandbox).into_iter();
    labels
        .map(|label| json!([label["verdict"], label["note"]]))
        .collect()
}

#[test]
fn answers_are_labelled_with_one_key_each_and_blind() {
    let sandbox = answered();
    let mut labelling = Labelling::start(&sandbox, 40, "--sample 4");
    let page = labelling.see("q quit");
    assert!(page.contains("1 of 4, 0 labelled:"), "{page}");
    labelling.press("1");
    labelling.see("2 of 4, 1 labelled");
    labelling.see("q quit");
    labelling.press("n");
    labelling.see("> ");
    labelling.press("wrong yeaf\x7fr 1");
    labelling.press("\r");
    labelling.see("Your note: wrong year 1");
    labelling.see("q quit");
    labelling.press("2");
    labelling.see("3 of 4, 2 labelled");
    labelling.press("s");
    labelling.see("4 of 4, 2 labelled");
    labelling.press("0");
    labelling.see("3 of 4, 3 labelled");
    labelling.press("u");
    labelling.see("2 of 4, 3 labelled");
    labelling.see("Your label: fail");
    labelling.press("q");
    let text = labelling.end();
    assert!(text.contains("exit=0"), "{text}");
    for judge in ["token F1", "The judge", "overlap", "extractive"] {
        assert!(!text.contains(judge), "`{judge}` in {text}");
    }
    let fits = |line: &str| line.contains('\x1b') || line.trim_end().chars().count() <= 40;
    assert!(page.lines().skip(1).all(fits), "{page}");
    let expected = [
        json!(["pass", null]),
        json!(["fail", "wrong year 1"]),
        json!(["cannot-say", null]),
    ];
    assert_eq!(said(&sandbox), expected);
    let kept = &labels(&sandbox)[0];
    assert_eq!(
        (&kept["labeller"], &kept["blind"]),
        (&json!("ada"), &json!(true))
    );
    assert_eq!(kept["sampling"]["size"], 4);

    // The same options go on at the first answer without a label.
    let mut again = Labelling::start(&sandbox, 100, "--sample 4");
    again.see("3 of 4, 3 labelled");
    again.press("2");
    again.see("All 4 answers are labelled");
    again.press("u");
    again.see("4 of 4, 4 labelled");
    again.press("q");
    again.end();
    assert_eq!(labels(&sandbox).len(), 4);
}

#[test]
fn a_label_that_another_program_stored_is_shown_before_it_is_replaced() {
    let sandbox = answered();
    let options = "--sample 2";
    let [mut one, mut other] = [(); 2].map(|()| Labelling::start(&sandbox, 80, options));
    one.see("q quit");
    other.see("q quit");
    one.press("1");
    one.see("2 of 2, 1 labelled");
    other.press("2");
    other.see("Not stored");
    other.see("Your label: pass");
    assert_eq!(said(&sandbox), [json!(["pass", null])]);
    other.press("2");
    other.see("2 of 2, 1 labelled");
    other.press("q");
    other.end();
    one.press("q");
    one.end();
    let expected = [json!(["pass", null]), json!(["fail", null])];
    assert_eq!(said(&sandbox), expected);
}

#[test]
fn a_held_key_labels_one_answer_and_pasted_lines_label_none() {
    let sandbox = answered();
    let mut labelling = Labelling::start(&sandbox, 80, "");
    labelling.see("q quit");
    labelling.press("11111111");
    labelling.see("2 of 6, 1 labelled");
    labelling.press("\x1b[200~1\r2\r1\x1b[201~");
    labelling.press("\x1b[15~");
    labelling.press("\x04");
    let text = labelling.end();
    assert!(text.contains("exit=130"), "{text}");
    assert_eq!(labels(&sandbox).len(), 1);
}

#[test]
fn ctrl_c_and_signals_leave_the_terminal_as_it_was() {
    let sandbox = answered();
    let mut labelling = Labelling::start(&sandbox, 80, "");
    labelling.see("q quit");
    labelling.press("1");
    labelling.see("2 of 6, 1 labelled");
    labelling.press("\x03");
    assert!(labelling.end().contains("exit=130"));
    for signal in ["TERM", "INT"] {
        let mut labelling = Labelling::start(&sandbox, 80, "");
        labelling.see("q quit");
        let sent = Command::new("kill")
            .args(["-s", signal, &labelling.pid()])
            .status();
        assert!(sent.unwrap().success());
        assert!(labelling.end().contains("exit=130"), "{signal}");
    }
    assert_eq!(labels(&sandbox).len(), 1);
}

#[test]
fn no_answer_steers_the_terminal() {
    let sandbox = Sandbox::new();
    let hostile = "\x1b[2J\x1b]0;title\x07\u{202e}evil\rover";
    let case = json!({"name": hostile, "inputs": hostile, "expected_output": hostile});
    let file = json!({"name": "hostile", "cases": [case], "evaluators": ["EqualsExpected"]});
    sandbox.write("hostile.json", file.to_string());
    let output = json!({"id": hostile, "answer": format!("{hostile} {}", "x".repeat(6_000))});
    sandbox.write("outputs.jsonl", format!("{output}\n"));
    sandbox.succeed("eval hostile.json --target outputs:outputs.jsonl --no-progress");
    let mut labelling = Labelling::start(&sandbox, 40, "");
    let page = labelling.see("q quit");
    for raw in ["\x1b[2J", "\x1b]0", "\x07", "\u{202e}"] {
        assert!(!page.contains(raw), "{raw:?} in {page:?}");
    }
    assert!(page.contains("\\u{1b}[2J"), "{page}");
    assert!(page.contains("more characters: press m"), "{page}");
    labelling.press("m");
    let whole = labelling.see("q quit");
    assert!(whole.len() > 6_000 && !whole.contains("press m"), "{whole}");
    labelling.press("q");
    labelling.end();
}

#[test]
fn labelling_without_a_terminal_or_with_a_wrong_option_is_refused() {
    let sandbox = answered();
    let message = sandbox.refuse("labels latest --in-terminal");
    assert!(message.contains("have to be a terminal"), "{message}");
    for line in [
        "labels latest --in-terminal --export x.csv",
        "labels latest --in-terminal --import x.csv",
        "labels latest --sample 3",
        "labels latest --labeller ada",
    ] {
        sandbox.refuse(line);
    }
}
