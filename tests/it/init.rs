//! `evaluations init`: what it writes works as written.

use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, net, thread};

use crate::sandbox::{Sandbox, ended};

/// The commands of a README that start the program, without its name.
fn commands(readme: &str) -> Vec<String> {
    let lines = readme.lines();
    let commands = lines.filter_map(|line| line.strip_prefix("evaluations "));
    commands.map(str::to_owned).collect()
}

fn readme(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.work().join("README.md")).unwrap()
}

#[test]
fn the_benchmark_of_documents_runs_offline() {
    let sandbox = Sandbox::new();
    sandbox.succeed("init");
    for command in commands(&readme(&sandbox)) {
        let printed = sandbox.succeed(&format!("{command} --no-progress"));
        if command == "./dataset.yaml" {
            assert!(printed.contains("MRR@3"), "{printed}");
            assert!(printed.contains("support"), "{printed}");
        }
    }
    let message = sandbox.refuse("init mine");
    assert!(
        message.contains("did you mean the folder `--to mine`?"),
        "{message}"
    );
    let message = sandbox.refuse("init http");
    assert!(
        message.contains("is not empty; name a new folder with `--to FOLDER`"),
        "{message}"
    );
}

#[test]
fn a_folder_or_a_table_in_place_of_a_manifest_is_named() {
    let sandbox = Sandbox::new();
    sandbox.succeed("init --to mine");
    for (line, hint) in [
        ("mine/docs", "the folder `mine/docs` is not a dataset"),
        (
            "mine/questions.csv",
            "`mine/questions.csv` is not a manifest",
        ),
    ] {
        let message = sandbox.refuse(line);
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn the_prompt_is_tried_with_earlier_replies() {
    let sandbox = Sandbox::new();
    sandbox.succeed("init prompt");
    let commands = commands(&readme(&sandbox));
    let printed = sandbox.succeed(&format!("{} --no-progress", commands[0]));
    assert!(
        printed.contains("EqualsExpected (pass rate)  0.7500"),
        "{printed}"
    );
    assert!(printed.contains("Confusion Matrix"), "{printed}");
}

/// A process that ends with the test.
pub(crate) struct Service(pub(crate) Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Needs Python; without it the test says that it is skipped.
#[test]
fn the_service_is_asked() {
    let sandbox = Sandbox::new();
    sandbox.succeed("init http --to there");
    let there = sandbox.work().join("there");
    // Another process may have the usual port.
    let port = net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for file in ["service.py", "target.yaml"] {
        let text = fs::read_to_string(there.join(file)).unwrap();
        assert!(text.contains("8765"));
        fs::write(there.join(file), text.replace("8765", &port.to_string())).unwrap();
    }
    let mut python = Command::new("python3");
    python
        .arg("service.py")
        .current_dir(&there)
        .stderr(Stdio::null());
    let Ok(service) = python.spawn() else {
        eprintln!("skipped: no python3");
        return;
    };
    let _service = Service(service);
    crate::sandbox::wait_for("the service", || {
        thread::sleep(Duration::from_millis(20));
        net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    let mut command = sandbox.command("eval cases.yaml --reasons --no-progress");
    let ended = ended(command.current_dir(&there));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("EqualsExpected (pass rate)  0.6667"),
        "{}",
        ended.stdout
    );
}
