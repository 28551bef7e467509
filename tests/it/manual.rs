//! Completions and man pages: shells and man read what the program writes, and no command is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::docs::page;
use crate::sandbox::Sandbox;

/// What a program of the system printed about a file; `None` if it is not installed.
fn system(program: &str, arguments: &[&str], file: &Path) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments).arg(file).output().ok()
}

/// The commands that `evaluations … --help` lists, each with those below it: `runs`, `runs show`.
fn commands(sandbox: &Sandbox, outer: &str) -> Vec<String> {
    let help = sandbox.succeed(&format!("{outer} --help"));
    let Some((_, listed)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let names = listed
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with("  "))
        .filter_map(|line| line.strip_prefix("  "))
        // Titles of groups begin with a capital, and continued lines with a blank.
        .filter(|line| line.starts_with(char::is_lowercase))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    names
        .flat_map(|name| {
            let path = format!("{outer} {name}").trim_start().to_owned();
            let below = commands(sandbox, &path);
            [vec![path], below].concat()
        })
        .collect()
}

#[test]
fn each_shell_reads_its_completions() {
    let sandbox = Sandbox::new();
    for (shell, program, check) in [
        ("bash", "bash", "-n"),
        ("zsh", "zsh", "-n"),
        ("fish", "fish", "--no-execute"),
    ] {
        let script = sandbox.write(shell, sandbox.succeed(&format!("completions {shell}")));
        let Some(read) = system(program, &[check], &script) else {
            eprintln!("skipped: no {program}");
            continue;
        };
        let complaints = String::from_utf8_lossy(&read.stderr);
        assert!(read.status.success(), "{shell}: {complaints}");
        assert_eq!(complaints, "", "{shell}");
    }
    for shell in ["powershell", "elvish"] {
        let script = sandbox.succeed(&format!("completions {shell}"));
        assert!(script.contains("--fail-if-worse"), "{shell}: {script}");
    }
    let message = sandbox.refuse("completions csh");
    assert!(message.contains("[possible values: bash,"), "{message}");
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_and_options() {
    let sandbox = Sandbox::new();
    let script = sandbox.succeed("completions bash");
    let asking = "\
        complete_words() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()\n\
          _evaluations \"$1\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"\n\
          echo \"${COMPREPLY[@]}\"; }\n\
        complete_words evaluations ru\n\
        complete_words evaluations gate --max\n\
        complete_words evaluations runs d\n\
        complete_words evaluations completions z\n";
    let script = sandbox.write("ask.bash", script + asking);
    let Some(asked) = system("bash", &[], &script) else {
        eprintln!("skipped: no bash");
        return;
    };
    assert_eq!(
        String::from_utf8_lossy(&asked.stdout),
        "run runs\n--max-drop --max\ndelete\nzsh\n",
        "{asked:?}"
    );
}

#[test]
fn every_command_has_a_man_page_and_a_row_in_the_reference() {
    let sandbox = Sandbox::new();
    let commands = commands(&sandbox, "");
    assert!(
        ["run", "runs show", "runs baseline save", "bench embed"]
            .iter()
            .all(|known| commands.iter().any(|command| command == known)),
        "{commands:?}"
    );
    sandbox.succeed("man --out share/man1");
    let folder = sandbox.work().join("share/man1");
    let written: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> = commands
        .iter()
        .map(|command| format!("evaluations-{}.1", command.replace(' ', "-")))
        .chain(["evaluations.1".to_owned()])
        .collect();
    assert_eq!(written, expected);
    for name in &written {
        let set = system("groff", &["-k", "-man", "-ww", "-z"], &folder.join(name));
        let Some(set) = set else {
            eprintln!("skipped: no groff");
            break;
        };
        assert_eq!(String::from_utf8_lossy(&set.stderr), "", "{name}");
    }
    let reference = page("docs/command-line.md");
    for command in commands.iter().filter(|command| !command.contains(' ')) {
        let is_there = |row: &str| {
            row.starts_with(&format!("| `{command}`")) || row.starts_with(&format!("| `{command} "))
        };
        assert!(reference.lines().any(is_there), "no row for `{command}`");
    }
}

#[test]
fn a_man_page_can_be_printed_and_keeps_the_lines_of_notes() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed("man runs show");
    assert!(
        printed.contains(".TH evaluations-runs-show 1 "),
        "{printed}"
    );
    assert!(printed.contains("\\-\\-failed"), "{printed}");
    let synopsis = |command: &str| {
        let page = sandbox.succeed(&format!("man {command}"));
        let (_, rest) = page.split_once(".SH SYNOPSIS\n").unwrap();
        rest.lines().next().unwrap().to_owned()
    };
    let score = synopsis("score");
    for part in [
        "[\\fB\\-m\\fR|\\fB\\-\\-measure\\fR \\fIM\\fR]",
        "<\\fB\\-\\-qrels\\fR \\fIFILE\\fR>",
        "[\\fB\\-\\-per\\-query\\fR]",
    ] {
        assert!(score.contains(part), "{score}");
    }
    assert!(synopsis("runs show").contains("[\\fB\\-\\-cases\\fR [\\fIN\\fR]]"));
    let table = sandbox.succeed("man table");
    let notes = table.split(".SH NOTES\n.nf\n").nth(1).unwrap();
    assert!(
        notes.contains("\n    <!\\-\\- evaluations table: retrieval beir:scifact \\-\\->\n"),
        "{notes}"
    );
    let message = sandbox.refuse("man show");
    assert!(
        message.contains("there is no command `show`; did you mean"),
        "{message}"
    );
    sandbox.refuse("man run --out pages");
    let file = sandbox.write("file", "");
    let message = sandbox.refuse(&format!("man --out {}", file.display()));
    assert!(message.contains("cannot create the folder"), "{message}");
}
