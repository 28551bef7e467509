//! Which cases of a file run, and what an estimate says of them.

use std::fs;

use serde_json::json;

use super::{SYSTEM, asked, eval, newest, report, sandbox};
use crate::sandbox::json;

#[test]
fn cases_are_chosen_by_id_metadata_and_number() {
    for (options, expected) in [
        ("--case kenya", vec!["kenya"]),
        ("--filter-case continent=Europe", vec!["france"]),
        ("--limit 2", vec!["france", "kenya"]),
        ("--case kenya --repeat 2", vec!["kenya", "kenya#2"]),
    ] {
        let sandbox = sandbox();
        let ended = eval(&sandbox, options);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(asked(&sandbox), expected, "{options}");
    }
    let unknown = eval(&sandbox(), "--case kenia");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.stderr.contains("did you mean `kenya`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn the_cases_that_failed_or_got_worse_run_again() {
    let sandbox = sandbox();
    sandbox.write("system.sh", SYSTEM.replace("Mombasa", "Nairobi"));
    eval(&sandbox, "");
    let before = newest(&sandbox);
    sandbox.write("system.sh", SYSTEM);
    eval(&sandbox, "--name later");
    for (options, expected, why) in [
        (
            "--only failed --from later",
            vec!["Case 3", "kenya"],
            "failed in",
        ),
        ("--only worse --from later", vec!["kenya"], "worse in"),
    ] {
        fs::remove_file(sandbox.work().join("asked.txt")).unwrap();
        let ended = eval(&sandbox, options);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(asked(&sandbox), expected, "{options}");
        let fact = format!("cases: {} of 3 ({why} ", expected.len());
        assert!(ended.stderr.contains(&fact), "{}", ended.stderr);
        assert!(ended.stdout.contains(&fact), "{}", ended.stdout);
    }
    let before = before.file_name().unwrap().to_string_lossy().into_owned();
    let against = eval(
        &sandbox,
        &format!("--only worse --from later --against {before}"),
    );
    assert!(
        against.stdout.contains(&format!("than in {before})")),
        "{}",
        against.stdout
    );
    let nothing = eval(
        &sandbox,
        &format!("--only worse --from {before} --against later"),
    );
    assert_eq!(nothing.code, Some(2));
    assert!(
        nothing.stderr.contains("no case got worse in"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn a_choice_of_cases_is_part_of_what_a_run_is() {
    let sandbox = sandbox();
    eval(&sandbox, "--filter-case continent=Africa");
    let manifest = json(&newest(&sandbox).join("manifest.json"));
    assert_eq!(
        manifest["dataset"]["selection"]["by"],
        json!(["continent=Africa"])
    );
    assert_eq!(manifest["dataset"]["questions"], 1);
    let facts = report(&sandbox)["metadata"]["facts"].to_string();
    assert!(facts.contains("1 of 3 (continent=Africa)"), "{facts}");
    eval(&sandbox, "--case kenya");
    assert_eq!(sandbox.runs().len(), 2);
}

#[test]
fn an_estimate_asks_nothing() {
    let sandbox = sandbox();
    let ended = eval(&sandbox, "--estimate --repeat 2");
    assert_eq!(
        ended.stdout,
        "6 requests to `exec:sh system.sh`\nno calls of judges\n"
    );
    assert!(asked(&sandbox).is_empty() && sandbox.runs().is_empty());
}
