//! `evaluations eval`: dataset files against commands, services and files of outputs.

pub(crate) mod judging;
mod refusals;
mod reports;
mod running;
mod selection;
#[cfg(unix)]
mod watching;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::{Ended, Sandbox, ended, json};

/// Three cases: one right, one wrong, one that the system cannot answer.
const CAPITALS: &str = "\
name: capitals
cases:
- name: france
  inputs: {country: France}
  expected_output: Paris
  metadata: {continent: Europe}
- name: kenya
  inputs: {country: Kenya}
  expected_output: Nairobi
  metadata: {continent: Africa}
  evaluators:
  - Contains: Nai
- inputs: {country: Atlantis}
evaluators:
- EqualsExpected
- IsInstance: str
report_evaluators:
- ConfusionMatrixEvaluator
";

/// Knows two capitals, and notes every question in `asked.txt`.
const SYSTEM: &str = r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    printf '%s\n' "$id" >> asked.txt
    case "$id" in
        france*) reply='"answer":"Paris"' ;;
        kenya*) reply='"answer":"Mombasa","usage":{"input_tokens":3,"output_tokens":1}' ;;
        *) reply='"error":"not on the map"' ;;
    esac
    printf '{"id":"%s",%s}\n' "$id" "$reply"
done
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("capitals.yaml", CAPITALS);
    sandbox.write("system.sh", SYSTEM);
    sandbox
}

/// The command; its target has blanks, so it is an argument of its own.
fn command(sandbox: &Sandbox, options: &str) -> Command {
    let mut command = sandbox.command("eval capitals.yaml --no-progress");
    command.args(["--target", "exec:sh system.sh"]);
    command.args(options.split_whitespace());
    command
}

fn eval(sandbox: &Sandbox, options: &str) -> Ended {
    ended(&mut command(sandbox, options))
}

fn newest(sandbox: &Sandbox) -> PathBuf {
    sandbox.runs().pop().unwrap()
}

fn report(sandbox: &Sandbox) -> Value {
    json(&newest(sandbox).join("report.json"))
}

fn asked(sandbox: &Sandbox) -> Vec<String> {
    let asked = fs::read_to_string(sandbox.work().join("asked.txt")).unwrap_or_default();
    let mut asked: Vec<String> = asked.lines().map(str::to_owned).collect();
    asked.sort_unstable();
    asked
}

/// Writes `replies.sh`, which has a fixed reply to each case.
fn replies(sandbox: &Sandbox, replies: &[(&str, Value)]) {
    let mut branches = Vec::new();
    for (id, reply) in replies {
        let mut reply = reply.clone();
        reply["id"] = json!(id);
        branches.push(format!(
            "        *'\"id\":\"{id}\"'*) printf '%s\\n' '{reply}' ;;"
        ));
    }
    let branches = branches.join("\n");
    let script =
        format!("while IFS= read -r line; do\n    case \"$line\" in\n{branches}\n    esac\ndone\n");
    sandbox.write("replies.sh", script);
}

/// Runs a dataset file against `replies.sh`.
fn against_replies(sandbox: &Sandbox, file: &str, options: &str) -> Ended {
    let mut command = sandbox.command(&format!("eval {file} --no-progress {options}"));
    ended(command.args(["--target", "exec:sh replies.sh"]))
}
