//! A disk on which nothing more can be written: every message names the path and the way out.
//!
//! A limit on the size of files stands for it, which the system reports like a full disk to a process that ignores its
//! signal.

use std::fs;
use std::process::{Command, Stdio};

use crate::download::Setup;
use crate::sandbox::{Ended, Sandbox, ended};

const WAY_OUT: &str = "  hint: free some space, or use another disk: set EVALUATIONS_DATA_DIR for databases and \
                       runs, `--db` for one database, HF_HOME for the hub cache\n";

/// Runs a command that can write no file of more than `blocks` times 512 bytes.
fn limited(command: &Command, blocks: u32) -> Ended {
    let mut shell = Command::new("/bin/sh");
    shell
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"",
            "sh",
        ])
        .arg(blocks.to_string())
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::null());
    ended(&mut shell)
}

fn assert_names(refused: &Ended, path: &str) {
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains(path), "{}", refused.stderr);
    assert!(refused.stderr.ends_with(WAY_OUT), "{}", refused.stderr);
}

#[test]
fn a_download_names_the_file_and_goes_on_once_there_is_room() {
    let setup = Setup::new();
    let refused = limited(&setup.command("download ./mine.yaml"), 32);
    assert_names(&refused, "/hf/hub/datasets--owner--name/blobs/");
    let finished = setup.download();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn an_index_names_its_table_and_goes_on_once_there_is_room() {
    let sandbox = Sandbox::new();
    let line = "sample --skip-qa --limit 5";
    let refused = limited(&sandbox.command(line), 32);
    assert_names(&refused, "/data/dbs/sample.lancedb`");
    assert!(!refused.stderr.contains("LanceError"), "{}", refused.stderr);
    assert!(sandbox.runs().is_empty());
    sandbox.succeed(line);
}

#[test]
fn a_run_folder_is_named() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --skip-retrieval");
    let refused = limited(&sandbox.command("sample --skip-qa"), 48);
    assert_names(&refused, "/data/runs/");
    let unfinished = sandbox.succeed("runs");
    assert!(unfinished.contains("unfinished"), "{unfinished}");
}

#[test]
fn a_cache_that_is_no_folder_is_named() {
    let setup = Setup::new();
    let file = setup.sandbox.write("a-file", "");
    let refused = ended(setup.command("download ./mine.yaml").env("HF_HOME", &file));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("/a-file/hub/datasets--owner--name"),
        "{}",
        refused.stderr
    );
    assert!(
        refused
            .stderr
            .ends_with("  hint: set HF_HOME to use another folder for the hub cache\n"),
        "{}",
        refused.stderr
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_stdout_does_not_take_is_an_error() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let refused = Sandbox::new()
        .command("datasets")
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(refused.stderr).unwrap(),
        "error: cannot write the result to stdout\n  caused by: No space left on device (os error 28)\n"
    );
}
