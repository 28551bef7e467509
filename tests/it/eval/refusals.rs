//! Files and targets that cannot be used.

use super::{CAPITALS, eval, sandbox};
use crate::sandbox::{Ended, ended};

#[test]
fn a_file_or_a_target_that_cannot_be_used_is_refused() {
    let sandbox = sandbox();
    for (line, expected) in [
        (
            "eval missing.yaml --target exec:cat",
            "error: cannot read `missing.yaml`",
        ),
        (
            "eval capitals.txt --target exec:cat",
            "does not have the name of a dataset file",
        ),
        (
            "eval capitals.yaml",
            "`capitals.yaml` does not say what to test; name it with `--target`",
        ),
        (
            "eval capitals.yaml --target python",
            "`python` names no target",
        ),
        (
            "eval capitals.yaml --target outputs:none.jsonl",
            "none.jsonl",
        ),
        (
            "eval capitals.yaml --target exec:cat --out x.xlsx",
            "cannot tell the format",
        ),
        (
            "eval capitals.yaml --target exec:cat --limit 0",
            "has to be at least 1",
        ),
    ] {
        let message = sandbox.refuse(line);
        assert!(message.contains(expected), "`{line}` printed {message}");
    }
    sandbox.write(
        "bad.yaml",
        "name: x\ncases:\n- inputs: 1\n  evalutors: []\nevaluators: [Equls: 1, Contains: {}]\n",
    );
    let message = sandbox.refuse("eval bad.yaml --target exec:cat");
    let places: Vec<&str> = message.split("bad.yaml:").skip(1).collect();
    assert_eq!(places.len(), 3, "{message}");
    assert!(message.contains("did you mean `Equals`?"), "{message}");
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_target_that_does_not_work_ends_in_a_message() {
    for (system, code, expected) in [
        ("exit 3", 2, "exited with status 3 at once 5 times in a row"),
        ("no-such-command-here", 2, "the shell cannot find or run"),
        ("while read -r line; do echo '<html>'; done", 2, "<html>"),
        (
            "while read -r line; do echo '{\"status\": \"ok\"}'; done",
            2,
            "status",
        ),
    ] {
        let sandbox = sandbox();
        sandbox.write("system.sh", system);
        let ended = eval(&sandbox, "--case france");
        assert_eq!(ended.code, Some(code), "{system}: {ended:?}");
        let everything = ended.stdout + &ended.stderr;
        assert!(everything.contains(expected), "{system}: {everything}");
    }
}

#[test]
fn the_target_of_the_file_is_asked_unless_an_option_names_another() {
    let sandbox = sandbox();
    let with_target = format!("{CAPITALS}target: 'exec:sh system.sh'\n");
    sandbox.write("capitals.yaml", with_target);
    let named = sandbox.run("eval capitals.yaml --no-progress");
    let printed = named.stdout;
    assert!(printed.contains("target: exec:sh system.sh"), "{printed}");
    let note = "capitals.yaml runs a command as the target: `sh system.sh`\n";
    assert!(named.stderr.contains(note), "{}", named.stderr);
    let chosen = eval(&sandbox, "");
    assert!(
        !chosen.stderr.contains("runs a command"),
        "{}",
        chosen.stderr
    );
    sandbox.write(
        "outputs.jsonl",
        "{\"id\": \"france\", \"answer\": \"Paris\"}\n",
    );
    let printed = sandbox
        .succeed("eval capitals.yaml --no-progress --task outputs:outputs.jsonl --case france");
    assert!(printed.contains("target: outputs:"), "{printed}");
}

#[test]
fn a_reply_may_call_the_answer_an_output_and_a_failure_of_the_form_is_not_temporary() {
    let sandbox = sandbox();
    sandbox.write(
        "system.sh",
        super::SYSTEM.replace("\"answer\"", "\"output\""),
    );
    let ran = eval(&sandbox, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = super::report(&sandbox);
    assert_eq!(
        report["summary"]["assertions"]["EqualsExpected"]["value"],
        0.5
    );
    for system in ["python3 no_such.py", "sed -u s/.*/{}/"] {
        let mut command = sandbox.command("eval capitals.yaml --no-progress --fresh");
        let failed = ended(command.args(["--target", &format!("exec:{system}")]));
        assert_eq!(failed.code, Some(2), "{system}: {}", failed.stderr);
        assert!(
            !failed.stderr.contains("temporary"),
            "{system}: {}",
            failed.stderr
        );
        assert!(
            failed.stderr.contains("5 times in a row"),
            "{system}: {}",
            failed.stderr
        );
    }
}

#[test]
fn a_prompt_that_is_a_file_is_announced() {
    let sandbox = sandbox();
    let target = "target: {address: 'chat:ollama:m', prompt: {file: secret.txt}}\n";
    sandbox.write("capitals.yaml", format!("{CAPITALS}{target}"));
    sandbox.write("secret.txt", "the launch code");
    let note = "capitals.yaml sends the content of the file `secret.txt` to the model `ollama:m`\n";
    let stderr = sandbox
        .run("eval capitals.yaml --no-progress --set providers.ollama.base_url=http://127.0.0.1:9")
        .stderr;
    assert!(stderr.contains(note), "{stderr}");
}

#[test]
fn cases_that_a_file_of_outputs_lacks_are_named_before_they_fail() {
    let sandbox = sandbox();
    sandbox.write(
        "outputs.jsonl",
        "{\"id\": \"france\", \"answer\": \"Paris\"}\n{\"id\": \"spain\", \"answer\": \"Madrid\"}\n",
    );
    let line = "eval capitals.yaml --no-progress --target outputs:outputs.jsonl";
    let Ended { stderr, .. } = ended(&mut sandbox.command(line));
    assert!(stderr.contains("none of this run's cases"), "{stderr}");
    assert!(stderr.contains("has no reply to "), "{stderr}");
}
