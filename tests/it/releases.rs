//! What a release holds: the archive, and the Python package around the binary. Needs Python; without it the tests say that they are skipped.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Ended, Sandbox, ended};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// What `python3` printed; `None` where it is not installed.
fn python(sandbox: &Sandbox, arguments: &[&str]) -> Option<Ended> {
    let has_python = Command::new("python3").arg("--version").output();
    has_python.ok()?;
    let mut command = Command::new("python3");
    command
        .args(arguments)
        .current_dir(sandbox.work())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", sandbox.work().join("site"));
    Some(ended(&mut command))
}

#[test]
fn the_python_package_runs_the_binary_beside_it() {
    let sandbox = Sandbox::new();
    let package = root().join("python/evaluations_cli");
    for file in ["__init__.py", "__main__.py", "_binary.py"] {
        let text = fs::read(package.join(file)).unwrap();
        sandbox.write(&format!("site/evaluations_cli/{file}"), text);
    }
    let Some(absent) = python(&sandbox, &["-m", "evaluations_cli", "--version"]) else {
        eprintln!("skipped: no python3");
        return;
    };
    // As `pip install --target site` lays it out.
    let programs = sandbox.work().join("site/bin");
    assert_eq!(absent.code, Some(1), "{absent:?}");
    assert!(
        absent
            .stderr
            .contains("install the package `evaluations-cli` again:\n")
            && absent.stderr.contains(programs.to_str().unwrap()),
        "{absent:?}"
    );
    fs::create_dir(&programs).unwrap();
    symlink(
        env!("CARGO_BIN_EXE_evaluations"),
        programs.join("evaluations"),
    )
    .unwrap();
    let ran = python(
        &sandbox,
        &["-m", "evaluations_cli", "runs", "--dataset", "a b"],
    )
    .unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    let refused = python(&sandbox, &["-m", "evaluations_cli", "no such dataset"]).unwrap();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("`no such dataset`"), "{refused:?}");
}

#[test]
fn the_archive_holds_program_completions_pages_and_licences() {
    let sandbox = Sandbox::new();
    let program = sandbox.write(
        "evaluations",
        format!(
            "#!/bin/sh\nexec '{}' \"$@\"\n",
            env!("CARGO_BIN_EXE_evaluations")
        ),
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.write("licences", "MIT\n");
    let script = root().join("scripts/pack-archive");
    let pack = |folder: &str| {
        let script = script.to_str().unwrap();
        let arguments = [
            "evaluations",
            "--target",
            "a-machine",
            "--third-party",
            "licences",
            "--out",
        ];
        let arguments: Vec<&str> = [script]
            .into_iter()
            .chain(arguments)
            .chain([folder])
            .collect();
        python(&sandbox, &arguments)
    };
    let Some(packed) = pack("dist") else {
        eprintln!("skipped: no python3");
        return;
    };
    assert_eq!(packed.code, Some(0), "{packed:?}");
    let name = format!("evaluations-{}-a-machine", env!("CARGO_PKG_VERSION"));
    let archive = format!("{name}.tar.gz");
    pack("again").unwrap();
    let bytes = ["dist", "again"]
        .map(|folder| fs::read(sandbox.work().join(folder).join(&archive)).unwrap());
    assert!(bytes[0] == bytes[1], "the same input gives the same bytes");
    let checked = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let ended = ended(
            command
                .args(arguments)
                .current_dir(sandbox.work().join("dist")),
        );
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    };
    checked("sha256sum", &["--check", &format!("{archive}.sha256")]);
    let listed = checked("tar", &["-tzf", &archive]);
    let held: BTreeSet<&str> = listed
        .lines()
        .map(|line| line.strip_prefix(&name).unwrap())
        .collect();
    for file in [
        "/evaluations",
        "/README.md",
        "/LICENSE",
        "/NOTICE",
        "/THIRD-PARTY.txt",
        "/crates/evals-html/fonts/LICENSE",
        "/completions/_evaluations",
        "/completions/evaluations.bash",
        "/completions/evaluations.fish",
        "/man/man1/evaluations.1",
        "/man/man1/evaluations-runs-show.1",
    ] {
        assert!(held.contains(file), "{file}: {held:?}");
    }
    checked("tar", &["-xzf", &archive]);
    let unpacked = format!("./{name}/evaluations");
    assert!(checked(&unpacked, &["--version"]).starts_with("evaluations "));
}
