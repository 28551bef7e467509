//! Stored runs: which one a command chooses, listing, deleting, and runs from elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::{Sandbox, ended, json};

/// Copies a run under another name, with another report; `None` leaves it without one.
fn copy(run: &Path, name: &str, report: Option<Value>) -> PathBuf {
    let copied = run.with_file_name(name);
    fs::create_dir(&copied).unwrap();
    for entry in fs::read_dir(run).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copied.join(path.file_name().unwrap())).unwrap();
    }
    match report {
        Some(report) => fs::write(copied.join("report.json"), report.to_string()).unwrap(),
        None => fs::remove_file(copied.join("report.json")).unwrap(),
    }
    copied
}

/// The report of an interrupted run, without the last three cases.
fn interrupted(mut report: Value) -> Value {
    let cases = report["cases"].as_array_mut().unwrap();
    cases.truncate(cases.len() - 3);
    let finished = cases.len();
    for place in ["", "/summary"] {
        let part = report.pointer_mut(place).unwrap();
        part["interrupted"] = true.into();
        part["not_run"] = 3.into();
    }
    report["summary"]["finished"] = finished.into();
    report
}

/// The report with `count` failed cases.
fn failed(mut report: Value, count: usize) -> Value {
    let cases = report["cases"].as_array_mut().unwrap();
    for case in cases.iter_mut().take(count) {
        case["result"] = serde_json::json!({"failure": {"kind": "error", "message": "down"}});
        case["outcomes"] = serde_json::json!([]);
    }
    report["summary"]["failed"] = count.into();
    report
}

fn name(run: &Path) -> String {
    run.file_name().unwrap().to_string_lossy().into_owned()
}

/// A finished run, and newer ones that are not finished.
fn mixed() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25");
    let run = sandbox.runs()[0].clone();
    let report = json(&run.join("report.json"));
    copy(&run, "29990101T000000.000Z-killed", None);
    let part = interrupted(report.clone());
    copy(&run, "29990101T000001.000Z-interrupted", Some(part));
    let none = failed(report, 5);
    copy(&run, "29990101T000002.000Z-failed", Some(none));
    (sandbox, run)
}

#[test]
fn latest_is_the_newest_finished_run_and_names_those_it_skips() {
    let (sandbox, run) = mixed();
    let shown = sandbox.run("runs show latest");
    assert_eq!(
        shown.stdout,
        sandbox.succeed(&format!("runs show {}", name(&run)))
    );
    for note in [
        "skipped `29990101T000002.000Z-failed`: failed in every case\n",
        "skipped `29990101T000001.000Z-interrupted`: unfinished, 3 of 5 not run\n",
        "skipped `29990101T000000.000Z-killed`: unfinished\n",
    ] {
        assert!(shown.stderr.contains(note), "{note}\n{}", shown.stderr);
    }
    sandbox.succeed("report latest --out latest.json");
    let written = json(&sandbox.work().join("latest.json"));
    assert_eq!(written["interrupted"], false);
    assert_eq!(written["summary"]["failed"], 0);

    let listed = sandbox.succeed("runs");
    let states: Vec<&str> = listed
        .lines()
        .skip(1)
        .map(|line| line.rsplit("  ").next().unwrap())
        .collect();
    assert_eq!(
        states,
        [
            "finished",
            "unfinished",
            "unfinished, 3 of 5 not run",
            "failed in every case"
        ],
        "{listed}"
    );
}

#[test]
fn a_run_with_some_failures_is_finished_with_a_note() {
    let (sandbox, run) = mixed();
    let report = failed(json(&run.join("report.json")), 2);
    copy(&run, "29990101T000003.000Z-partly", Some(report));
    let shown = sandbox.run("runs show latest");
    assert_eq!(
        shown
            .stderr
            .lines()
            .filter(|line| line.contains("2 of 5 failed"))
            .count(),
        1,
        "{}",
        shown.stderr
    );
    assert!(!shown.stderr.contains("skipped"), "{}", shown.stderr);
}

#[test]
fn a_run_name_stands_for_the_newest_finished_run_of_that_name() {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.succeed("sample --limit 2 --skip-qa --profile bm25 --name first");
    }
    sandbox.succeed("sample --limit 2 --skip-qa --profile bm25 --name second");
    let newest = name(&sandbox.runs()[1]);
    copy(&sandbox.runs()[1], "29990101T000000.000Z-killed", None);
    let shown = sandbox.run("runs show first");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stderr.contains(&newest), "{}", shown.stderr);
    assert!(
        shown
            .stderr
            .contains("skipped `29990101T000000.000Z-killed`"),
        "{}",
        shown.stderr
    );
    sandbox.succeed("compare first second");
    let message = sandbox.refuse("runs delete first --yes");
    assert!(message.contains("no run `first`"), "{message}");
}

#[test]
fn a_name_of_runs_of_several_kinds_is_refused_with_the_newest_of_each() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 2 --skip-qa --profile bm25 --profile unranked --name both");
    let runs = sandbox.runs();
    sandbox.succeed("sample --limit 2 --skip-qa --profile bm25 --name both");
    let message = sandbox.refuse("runs show both");
    assert!(
        message.contains("runs named `both` differ in benchmark or profile; choose one:"),
        "{message}"
    );
    let newest = name(sandbox.runs().last().unwrap());
    assert!(message.contains(&newest), "{message}");
    let unranked = runs.iter().map(|run| name(run));
    let unranked = unranked.filter(|name| name.ends_with("unranked"));
    for name in unranked {
        assert!(message.contains(&name), "{message}");
    }
    assert_eq!(message.matches("-both-").count(), 2, "{message}");
}

#[test]
fn without_a_finished_run_there_is_no_latest() {
    let (sandbox, run) = mixed();
    fs::remove_dir_all(run).unwrap();
    for line in ["runs show latest", "report latest --out a.md", "compare"] {
        let message = sandbox.refuse(line);
        assert!(message.contains("no finished run"), "{line}: {message}");
        assert!(
            message.contains("unfinished, 3 of 5 not run"),
            "{line}: {message}"
        );
    }
    let message = sandbox.refuse("runs show 29990101T000000.000Z-killed");
    assert!(
        message.contains("has no report (unfinished); run the original command again"),
        "{message}"
    );
    let states = message.matches("unfinished").count();
    assert_eq!(states, 1, "the message states it once: {message}");
    let part = sandbox.run("runs show 29990101T000001");
    assert_eq!(part.code, Some(0), "{}", part.stderr);
    assert!(
        part.stderr
            .contains("unfinished, 3 of 5 not run; run the original command again"),
        "{}",
        part.stderr
    );
}

#[test]
fn compare_refuses_a_last_command_that_did_not_finish_and_takes_named_runs() {
    let (sandbox, run) = mixed();
    sandbox.succeed("sample --limit 5 --skip-qa --profile bm25 --set search.limit=4");
    let second = sandbox.runs()[1].clone();
    assert!(name(&second).as_str() < "2999");
    let message = sandbox.refuse("compare");
    let expected =
        "your last command did not finish: `29990101T000002.000Z-failed`: failed in every case";
    assert!(message.contains(expected), "{message}");
    let compared = sandbox.run(&format!("compare {}", name(&run)));
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    for (side, run) in [("before", &run), ("after", &second)] {
        let line = format!("{side}: {}", name(run));
        assert!(compared.stdout.contains(&line), "{}", compared.stdout);
    }
    assert_eq!(compared.stderr.matches("skipped").count(), 3);
    let latest = sandbox.run(&format!("compare {} latest --fail-if-worse", name(&run)));
    assert_eq!(latest.code, Some(1), "{}", latest.stderr);
    assert!(
        latest.stderr.contains("a newer run is not finished"),
        "{}",
        latest.stderr
    );
    assert_eq!(latest.stdout, compared.stdout);
    let both = format!("compare {} {}", name(&run), name(&second));
    let named = sandbox.run(&format!("{both} --fail-if-worse"));
    assert_eq!(named.code, Some(0), "{}", named.stderr);
    assert!(!named.stderr.contains("skipped"), "{}", named.stderr);
}

#[test]
fn at_most_twenty_runs_are_listed_and_the_newest_comes_last() {
    let (sandbox, run) = mixed();
    for number in 0..20 {
        let report = json(&run.join("report.json"));
        let name = format!("29990201T0000{number:02}.000Z-copy");
        copy(&run, &name, Some(report));
    }
    sandbox.succeed("sample-support --limit 3 --skip-retrieval");
    let listed = sandbox.run("runs");
    assert_eq!(listed.stdout.lines().count(), 21, "{}", listed.stdout);
    assert!(listed.stderr.contains("showing the newest 20 of 25 runs"));
    let last = listed.stdout.lines().last().unwrap();
    assert!(last.contains("29990201T000019.000Z-copy"), "{last}");
    let value = json(&run.join("report.json"))["summary"]["scores"]["RR@5"]["value"].clone();
    let score = format!("MRR@5 {:.4}", value.as_f64().unwrap());
    assert!(last.contains(&score), "{score}: {last}");
    assert_eq!(sandbox.succeed("runs list --all").lines().count(), 26);
    let of_one = sandbox.succeed("runs --dataset sample-support");
    assert_eq!(of_one.lines().count(), 2, "{of_one}");
    assert!(of_one.contains("equivalent "), "{of_one}");
    let none = sandbox.run("runs --dataset wix");
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
}

#[test]
fn listings_and_comparisons_fit_80_and_60_columns() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 5 --profile bm25");
    for (line, columns) in [
        ("runs", 80),
        ("runs", 60),
        ("datasets", 80),
        ("datasets", 60),
        ("sample --limit 40 --skip-qa --profile all", 80),
        ("sample --limit 40 --skip-qa --profile all", 60),
        ("compare", 80),
        ("compare", 60),
    ] {
        let printed = ended(sandbox.command(line).env("COLUMNS", columns.to_string()));
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        // Names of runs are not truncated, so that they can be copied.
        let is_name = |row: &&str| row.contains("_retrieval_evaluation-");
        for row in printed.stdout.lines().filter(|row| !is_name(row)) {
            let width = row.chars().count();
            assert!(
                width <= columns,
                "`{line}` in {columns} columns has a row of {width}: {row}"
            );
        }
        if line.contains("all") {
            for shown in ["0.", "hybrid-log-bm25", "nDCG@5", "["] {
                assert!(printed.stdout.contains(shown), "{}", printed.stdout);
            }
        }
    }
    let narrow = ended(sandbox.command("runs").env("COLUMNS", "80"));
    let short = narrow.stdout.lines().nth(1).unwrap();
    let short = short.split_whitespace().next().unwrap();
    sandbox.succeed(&format!("runs show {short}"));
}

#[test]
fn a_terminal_shows_given_names_beside_shortened_folders() {
    let sandbox = Sandbox::new();
    let line = "sample --limit 5 --skip-qa --profile bm25";
    let on_terminal = || ended(sandbox.command("runs").env("COLUMNS", "100")).stdout;
    sandbox.succeed(line);
    assert!(!on_terminal().contains("NAME"), "{}", on_terminal());
    sandbox.succeed(&format!("{line} --name nightly:1"));
    let listed = on_terminal();
    let names = listed.lines().map(|row| row.split_whitespace().nth(1));
    let names: Vec<&str> = names.map(Option::unwrap).collect();
    assert_eq!(names, ["NAME", "sample", "nightly:1"], "{listed}");
    let whole = sandbox.succeed("runs");
    assert!(
        !whole.contains("NAME") && whole.contains("-nightly-1-bm25"),
        "{whole}"
    );
}

#[test]
fn a_run_from_elsewhere_is_named_by_its_folder_or_its_report() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 20 --profile bm25");
    sandbox.succeed("sample --limit 20 --profile bm25 --set processing.chunk_size=32");
    let runs = sandbox.runs();
    let [first, _, second, _] = &runs[..] else {
        panic!("{runs:?}")
    };
    let here = sandbox.succeed(&format!("compare {} {}", name(first), name(second)));
    let elsewhere = sandbox.work().join("from ci");
    fs::rename(first, &elsewhere).unwrap();
    let compare = |before: &str, after: &Path| {
        let mut command = sandbox.command("compare");
        ended(command.arg(before).arg(after))
    };
    let moved = compare("from ci", second);
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    let table = |page: &str| page.split("\n\n").nth(1).unwrap().to_owned();
    assert_eq!(table(&moved.stdout), table(&here));
    assert!(moved.stdout.starts_with("before: from ci\n"));
    let by_report = compare("from ci/report.json", second);
    assert_eq!(by_report.stdout, moved.stdout);

    let alone = sandbox.work().join("scores.json");
    fs::copy(elsewhere.join("report.json"), &alone).unwrap();
    let alone = compare("scores.json", second);
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    assert_eq!(table(&alone.stdout), table(&here));
    assert!(
        alone.stdout.contains(
            "settings unknown, because a report does not hold them: name the run's folder instead"
        ),
        "{}",
        alone.stdout
    );
    let shown = sandbox.succeed("runs show scores.json");
    assert!(shown.contains("RR@5"), "{shown}");
    sandbox.succeed("report scores.json --out scores.csv");
    let answers = format!(
        "report {} --out answers.csv",
        runs[3].join("report.json").display()
    );
    sandbox.succeed(&answers);
    let message = sandbox.refuse("table --run scores.json");
    assert!(message.contains("without the record"), "{message}");
    let message = compare("scores.json", Path::new("scores.json"));
    assert!(message.stderr.contains("with itself"), "{}", message.stderr);
    let copied = sandbox.work().join("answers.json");
    fs::copy(runs[3].join("report.json"), copied).unwrap();
    let message = compare("scores.json", Path::new("answers.json")).stderr;
    assert!(
        message.contains("`scores.json` (retrieval on sample)"),
        "{message}"
    );
    assert!(
        message.contains("`answers.json` (qa on sample)"),
        "{message}"
    );
    let strange = sandbox.data().join("runs/strange");
    fs::create_dir_all(strange.join("manifest.json")).unwrap();
    let message = sandbox.refuse("runs show strange");
    assert!(
        message.contains("`manifest.json` is a folder, not a regular file"),
        "{message}"
    );
    let message = sandbox.refuse("runs show .");
    assert!(
        message.contains("folder without `manifest.json`"),
        "{message}"
    );
}

/// The digits of 0.8187 and of 1.8187 differ in one bit.
#[test]
fn a_report_with_a_flipped_bit_is_used_by_no_command() {
    let sandbox = Sandbox::new();
    for limit in [20, 19] {
        sandbox.succeed(&format!("sample --limit {limit} --skip-retrieval"));
    }
    let run = sandbox.runs()[0].clone();
    let path = run.join("report.json");
    let sound = fs::read(&path).unwrap();
    let text = String::from_utf8(sound.clone()).unwrap();
    let digit = text.find("\"value\": 0.").unwrap() + "\"value\": ".len();
    let case = text.rfind("\"value\": 0.").unwrap() + "\"value\": ".len();
    let shown = sandbox.succeed("table --dataset sample");
    for place in [digit, case, text.len() - 20] {
        let mut damaged = sound.clone();
        damaged[place] ^= 1;
        fs::write(&path, &damaged).unwrap();
        fs::write(sandbox.work().join("alone.json"), &damaged).unwrap();
        let name = name(&run);
        for line in [
            format!("runs show {name}"),
            format!("table --run {name}"),
            format!("report {name} --out page.html"),
            format!("compare {name} latest"),
            format!("baseline save kept.json {name}"),
            format!("gate {name} --min equivalent=0.1"),
            format!("rejudge {name}"),
            "runs show alone.json".to_owned(),
        ] {
            let message = sandbox.refuse(&line);
            let damage = "its checksum does not match its content; restore it from a copy";
            assert!(
                message.contains(damage) || message.contains("unreadable"),
                "{line}: {message}"
            );
        }
        assert!(sandbox.succeed("runs").contains("unreadable"));
        let trend = sandbox.run("trend");
        assert!(
            trend.stderr.contains("checksum does not match"),
            "{}",
            trend.stderr
        );
    }
    // An edited report without a checksum, as an earlier version wrote it: what is printed comes from its cases.
    fs::write(&path, &sound).unwrap();
    let mut report = json(&path);
    for (_, mean) in report["summary"]["scores"].as_object_mut().unwrap() {
        mean["value"] = 1.3187.into();
    }
    fs::write(&path, report.to_string()).unwrap();
    assert_eq!(sandbox.succeed("table --dataset sample"), shown);
    report["interrupted"] = true.into();
    report["not_run"] = u64::MAX.into();
    fs::write(&path, report.to_string()).unwrap();
    let interrupted = sandbox.succeed(&format!("runs show {}", name(&run)));
    assert!(interrupted.contains("were not run"), "{interrupted}");
    // The journal has every case, so that the same command writes the report again.
    fs::write(&path, "").unwrap();
    sandbox.succeed("sample --limit 20 --skip-retrieval");
    assert_eq!(sandbox.runs().len(), 2);
    assert_eq!(sandbox.succeed("table --dataset sample"), shown);
}

#[test]
fn damaged_and_foreign_reports_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 3 --skip-qa --profile bm25");
    let run = sandbox.runs()[0].clone();
    let report = fs::read_to_string(run.join("report.json")).unwrap();
    // As an earlier version wrote it.
    let (report, _) = report.split_once(",\n  \"checksum\"").unwrap();
    let report = format!("{report}\n}}\n");
    let deep = format!(
        r#""metadata": {{"deep": {}{}}}, "x": {{"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let damaged = [
        (
            report.replace("\"schema_version\": 1", "\"schema_version\": 2"),
            "schema version 2",
        ),
        (report.replace("\"metadata\": {", &deep), "recursion limit"),
        (
            report.replace("\"seconds\": ", "\"seconds\": NaN, \"y\": "),
            "expected",
        ),
        (report[..report.len() / 2].to_owned(), "EOF while parsing"),
        ("\u{1b}[2J".to_owned(), "expected value"),
        (String::new(), "EOF while parsing"),
    ];
    for (content, expected) in damaged {
        fs::write(run.join("report.json"), &content).unwrap();
        fs::write(sandbox.work().join("alone.json"), &content).unwrap();
        for wanted in [name(&run), "alone.json".to_owned()] {
            let message = sandbox.refuse(&format!("runs show {wanted}"));
            assert!(
                message.contains(expected)
                    && message
                        .contains("is damaged or in a format that this version does not read"),
                "{expected}: {message}"
            );
            assert!(!message.contains('\u{1b}'), "{message}");
        }
        sandbox.succeed("runs");
    }
    let huge = fs::File::create(run.join("report.json")).unwrap();
    huge.set_len(1_000_000_000).unwrap();
    assert!(sandbox.succeed("runs").contains("unreadable"));
    let message = sandbox.refuse(&format!("runs show {}", name(&run)));
    assert!(message.contains("is larger than 512 MB"), "{message}");
    fs::write(run.join("report.json"), &report).unwrap();
    let manifest = fs::read_to_string(run.join("manifest.json")).unwrap();
    let later = manifest.replace("\"schema_version\": 1", "\"schema_version\": 7");
    fs::write(run.join("manifest.json"), later).unwrap();
    let message = sandbox.refuse(&format!("runs show {}", name(&run)));
    assert!(message.contains("has schema version 7"), "{message}");
    let listed = sandbox.run("runs");
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(
        listed.stderr.contains("has schema version 7"),
        "{}",
        listed.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_named_pipe_in_a_run_folder_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 3 --skip-qa --profile bm25");
    let run = sandbox.runs()[0].clone();
    let make_pipe = |name: &str| {
        let path = run.join(name);
        let _ = fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
    };
    make_pipe("journal.jsonl");
    make_pipe("report.json");
    assert!(sandbox.succeed("runs").contains("unreadable"));
    let named = format!("runs show {}", name(&run));
    let message = sandbox.refuse(&named);
    assert!(message.contains("is a named pipe"), "{message}");
    let message = sandbox.refuse(&format!("runs show {}/report.json", run.display()));
    assert!(message.contains("is a named pipe"), "{message}");
    fs::remove_file(run.join("report.json")).unwrap();
    assert!(sandbox.succeed("runs").contains("unfinished"));
    fs::create_dir(run.join("report.json")).unwrap();
    assert!(sandbox.refuse(&named).contains("is a folder"));
    make_pipe("manifest.json");
    let listed = sandbox.run("runs");
    assert_eq!(listed.stdout, "", "a folder without a manifest is no run");
}

#[test]
fn a_copied_run_cannot_steer_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 3 --skip-qa --profile bm25");
    let run = sandbox.runs()[0].clone();
    for file in ["manifest.json", "report.json"] {
        let content = fs::read_to_string(run.join(file)).unwrap();
        let content = content
            .replace("\"bm25\"", "\"bm25\\u001b[31m\"")
            .replace("sample_retrieval_evaluation", "name\\u001b]0;title\\u0007")
            .replace("\"name\": \"sample\"", "\"name\": \"sample\\u009b31m\"");
        fs::write(run.join(file), content).unwrap();
    }
    let renamed = run.with_file_name("20260101T000000.000Z-\u{1b}[2J");
    fs::rename(&run, renamed).unwrap();
    for line in [
        "runs",
        "runs show latest",
        "table",
        "report latest --out a.md",
        "runs delete --yes 2026",
    ] {
        let printed = sandbox.run(line);
        let all = printed.stdout + &printed.stderr;
        assert!(
            !all.contains(|character: char| character.is_control() && character != '\n'),
            "{line}: {all:?}"
        );
        let names_it = !line.starts_with("report");
        assert!(!names_it || all.contains("\\u{1b}"), "{line}: {all}");
    }
}

#[cfg(unix)]
#[test]
fn a_run_folder_may_have_any_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 3 --skip-qa --profile bm25");
    let run = sandbox.runs()[0].clone();
    let odd = OsStr::from_bytes(b"a run \xff of CI");
    let moved = run.with_file_name(odd);
    fs::rename(&run, &moved).unwrap();
    assert!(sandbox.succeed("runs").contains("a run \u{fffd} of CI"));
    for wanted in [odd, OsStr::from_bytes(b"a run \xff"), moved.as_os_str()] {
        let shown = ended(sandbox.command("runs show").arg(wanted));
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    }
    let elsewhere = sandbox.work().join("elsewhere");
    let runs = sandbox.data().join("runs");
    fs::rename(&runs, &elsewhere).unwrap();
    let empty = sandbox.refuse("runs show latest");
    assert!(empty.contains("there are no"), "{empty}");
    symlink(&elsewhere, &runs).unwrap();
    assert_eq!(sandbox.succeed("runs").lines().count(), 2);
    sandbox.succeed("runs show latest");
    fs::remove_file(&runs).unwrap();
    fs::write(&runs, "").unwrap();
    assert!(sandbox.refuse("runs").contains("cannot list"));
}

#[test]
fn deleting_removes_only_the_named_runs() {
    let (sandbox, run) = mixed();
    let before = sandbox.runs();
    let first = name(&run);
    let message = sandbox.refuse(&format!("runs delete {first}"));
    assert!(
        message.contains("pass `--yes` to delete without confirmation"),
        "{message}"
    );
    for (wanted, expected) in [
        ("latest".to_owned(), "name the run"),
        ("2999".to_owned(), "more than one run"),
        (
            run.display().to_string(),
            "is a path; `runs delete` takes the name of a run in",
        ),
        (format!("{first} nothing"), "no run `nothing`"),
    ] {
        let message = sandbox.refuse(&format!("runs delete --yes {wanted}"));
        assert!(message.contains(expected), "{wanted}: {message}");
    }
    assert_eq!(sandbox.runs(), before, "nothing is deleted");
    let held = fs::File::open(&run).unwrap();
    held.lock_shared().unwrap();
    assert!(sandbox.succeed("runs").contains("running"));
    let message = sandbox.refuse(&format!("runs delete --yes {first}"));
    assert!(message.contains("is still running"), "{message}");
    let message = sandbox.refuse(&format!("compare {first}"));
    assert!(message.contains("is still running; wait"), "{message}");
    drop(held);
    let deleted = sandbox.run(&format!(
        "runs delete --yes {first} 29990101T000000.000Z-killed {first}"
    ));
    assert_eq!(deleted.code, Some(0), "{}", deleted.stderr);
    assert_eq!(deleted.stderr.matches("deleted `").count(), 2);
    assert_eq!(sandbox.runs(), before[2..]);
}
