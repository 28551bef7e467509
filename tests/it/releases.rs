//! What a release holds: the archive, and the Python package around the binary. Needs Python; without it the tests say that they are skipped.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::json;

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

/// Lays the Python package out as `pip install --target site` does, without its binary.
fn copy_package(sandbox: &Sandbox) {
    for entry in fs::read_dir(root().join("python/evaluations_cli")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.file_name().unwrap().to_str().unwrap();
            sandbox.write(
                &format!("site/evaluations_cli/{name}"),
                fs::read(&path).unwrap(),
            );
        }
    }
}

fn link_binary(sandbox: &Sandbox) {
    let programs = sandbox.work().join("site/bin");
    fs::create_dir(&programs).unwrap();
    symlink(
        env!("CARGO_BIN_EXE_evaluations"),
        programs.join("evaluations"),
    )
    .unwrap();
}

/// Runs the tests of the package with this build. What the interpreter does not have, such as pytest, is skipped here; `make test-python-module`
/// installs it.
#[test]
fn the_python_module_passes_its_tests() {
    let sandbox = Sandbox::new();
    copy_package(&sandbox);
    link_binary(&sandbox);
    let tests = root().join("python/tests");
    let discover = [
        "-m",
        "unittest",
        "discover",
        "--start-directory",
        tests.to_str().unwrap(),
    ];
    let Some(tested) = python(&sandbox, &discover) else {
        eprintln!("skipped: no python3");
        return;
    };
    assert_eq!(tested.code, Some(0), "{}", tested.stderr);
    assert!(
        tested.stderr.contains("\nRan ") && tested.stderr.contains("\nOK"),
        "{}",
        tested.stderr
    );
}

#[test]
fn the_python_package_runs_the_binary_beside_it() {
    let sandbox = Sandbox::new();
    copy_package(&sandbox);
    let Some(absent) = python(&sandbox, &["-m", "evaluations_cli", "--version"]) else {
        eprintln!("skipped: no python3");
        return;
    };
    let programs = sandbox.work().join("site/bin");
    assert_eq!(absent.code, Some(1), "{absent:?}");
    assert!(
        absent
            .stderr
            .contains("install the package `evaluations-cli` again:\n")
            && absent.stderr.contains(programs.to_str().unwrap()),
        "{absent:?}"
    );
    link_binary(&sandbox);
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

/// `scripts/third-party-licenses` with a cargo that knows `crates`, each a name, an expression and the text of its file, and a toolchain
/// whose standard library names the licence `standard`.
fn licences(sandbox: &Sandbox, crates: &[(&str, Option<&str>, &str)], standard: &str) -> Ended {
    let mut packages = vec![json!({
        "id": "evaluations", "name": "evaluations", "version": "1.0.0", "source": null, "targets": [],
    })];
    for (name, expression, text) in crates {
        sandbox.write(&format!("{name}/LICENSE.md"), text);
        packages.push(json!({
            "id": name, "name": name, "version": "1.0.0", "source": "registry", "targets": [],
            "license": expression, "license_file": expression.is_none().then_some("LICENSE.md"),
            "manifest_path": sandbox.work().join(name).join("Cargo.toml"),
        }));
    }
    let depends = |on: &&str| json!({"pkg": on, "dep_kinds": [{"kind": null}]});
    let names: Vec<&str> = crates.iter().map(|(name, ..)| *name).collect();
    let mut nodes =
        vec![json!({"id": "evaluations", "deps": names.iter().map(depends).collect::<Vec<_>>()})];
    nodes.extend(names.iter().map(|name| json!({"id": name, "deps": []})));
    let metadata = json!({"packages": packages, "resolve": {"nodes": nodes}});
    sandbox.write("metadata", metadata.to_string());
    sandbox.write(
        "share/doc/rust/COPYRIGHT-library.html",
        format!(
            "<html><head><meta charset=\"UTF-8\"><title>T</title></head><body><h1>Notices</h1><p><b>License:</b> {standard}</p>\
             <h3>inner-1.0.0</h3><p><b>License:</b> Zlib</p><details><summary>LICENSE</summary><pre>\n&#169; inner\n  as is\n</pre></details></body>"
        ),
    );
    sandbox.write(
        "share/doc/rust/licenses/MIT.txt",
        "the text of the toolchain\n",
    );
    for (program, script) in [
        ("cargo", "cat metadata"),
        (
            "rustc",
            "case $1 in --version) echo rustc 1.99.0 '(abc 2026-01-01)' ;; *) pwd ;; esac",
        ),
    ] {
        let path = sandbox.write(&format!("bin/{program}"), format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("python3");
    command
        .arg(root().join("scripts/third-party-licenses"))
        .args(["--target", "a-machine"])
        .current_dir(sandbox.work())
        .env(
            "PATH",
            format!("{}:{path}", sandbox.work().join("bin").display()),
        );
    ended(&mut command)
}

#[test]
fn licences_of_crates_and_of_the_standard_library_are_listed() {
    let sandbox = Sandbox::new();
    if python(&sandbox, &["--version"]).is_none() {
        eprintln!("skipped: no python3");
        return;
    }
    let crates = [
        ("one", Some("MIT OR GPL-3.0"), "shared\ntext\n"),
        ("two", Some("MIT"), "shared text\n"),
    ];
    let listed = licences(&sandbox, &crates, "Apache-2.0 OR MIT");
    assert_eq!(listed.code, Some(0), "{listed:?}");
    for part in [
        "contains 3 libraries",
        "\nRust's standard library 1.99.0: Apache-2.0 OR MIT\none 1.0.0: MIT OR GPL-3.0\n",
        "\none 1.0.0, two 1.0.0\n",
        "\ninner-1.0.0\nLicense: Zlib\n",
        "\n© inner\n  as is\n",
        "\nthe text of the toolchain\n",
    ] {
        assert!(listed.stdout.contains(part), "{part}: {}", listed.stdout);
    }
    let refused = licences(&sandbox, &crates, "GPL-3.0");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .stderr
            .ends_with("\n  Rust's standard library 1.99.0: GPL-3.0\n"),
        "{refused:?}"
    );
}

#[test]
fn an_unknown_licence_text_is_refused() {
    let sandbox = Sandbox::new();
    if python(&sandbox, &["--version"]).is_none() {
        eprintln!("skipped: no python3");
        return;
    }
    let crates = [
        ("fine", Some("MIT"), "MIT\n"),
        ("grasping", Some("GPL-3.0"), "GPL\n"),
        // The script has the digest of another text for this name.
        ("ollama-rs", None, "all rights reserved\n"),
        ("unread", None, "abc"),
    ];
    let refused = licences(&sandbox, &crates, "MIT");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!refused.stderr.contains("fine 1.0.0"), "{refused:?}");
    // The digest of `abc` in FIPS 180-2.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for part in [
        "\n  grasping 1.0.0: GPL-3.0\n",
        "\n  ollama-rs 1.0.0: no SPDX expression; read ",
        "\n  unread 1.0.0: no SPDX expression; read ",
        &format!("add its licence to READ, with the SHA-256 {digest}\n"),
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
}
