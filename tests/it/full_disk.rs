//! A full disk: every error names the path and says how to free or move space.
//!
//! The tests simulate it by a limit on the size of files. To a process that ignores its signal the system reports that limit like a
//! full disk.

use std::fs;
use std::process::{Command, Stdio};

use crate::download::Setup;
use crate::sandbox::{Ended, Sandbox, ended};

const HINT: &str = "  hint: free some space, or use a different disk: set EVALUATIONS_DATA_DIR for databases and \
                       runs, `--db` for one database, HF_HOME for the hub cache\n";

/// Runs a command that cannot write files larger than `blocks` times 512 bytes.
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
    assert!(refused.stderr.ends_with(HINT), "{}", refused.stderr);
}

#[test]
fn a_download_names_the_file_and_resumes_once_there_is_space() {
    let setup = Setup::new();
    let refused = limited(&setup.command("download ./mine.yaml"), 32);
    assert_names(&refused, "/hf/hub/datasets--owner--name/blobs/");
    let finished = setup.download();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn an_index_names_its_table_and_resumes_once_there_is_space() {
    let sandbox = Sandbox::new();
    let line = "sample --skip-qa --limit 5";
    let refused = limited(&sandbox.command(line), 32);
    assert_names(&refused, "/data/dbs/sample.lancedb`");
    assert!(!refused.stderr.contains("LanceError"), "{}", refused.stderr);
    assert!(sandbox.runs().is_empty());
    sandbox.succeed(line);
}

#[test]
fn an_unwritable_run_folder_is_named() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --skip-retrieval");
    let refused = limited(&sandbox.command("sample --skip-qa"), 48);
    assert_names(&refused, "/data/runs/");
    let unfinished = sandbox.succeed("runs");
    assert!(unfinished.contains("unfinished"), "{unfinished}");
}

#[test]
fn a_cache_that_is_not_a_folder_is_named() {
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
            .ends_with("  hint: set HF_HOME to use a different folder for the hub cache\n"),
        "{}",
        refused.stderr
    );
}

#[cfg(target_os = "linux")]
#[test]
fn failing_to_write_to_stdout_is_an_error() {
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
