//! The commands `gate` and `runs baseline`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::sandbox::{Ended, Sandbox, ended, json};

/// Two runs of the sample: the second one has smaller chunks, and is worse.
fn two_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa");
    sandbox.succeed("baseline save main");
    sandbox.succeed("sample --skip-qa --set processing.chunk_size=64");
    sandbox
}

fn name(run: &Path) -> String {
    run.file_name().unwrap().to_string_lossy().into_owned()
}

/// The check of a name in a JSON file of verdicts.
fn check(path: &Path, name: &str) -> serde_json::Value {
    let report = json(path);
    let checks = report["runs"][0]["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == name);
    found
        .unwrap_or_else(|| panic!("no `{name}` in {report:#}"))
        .clone()
}

#[test]
fn a_worse_run_fails_against_a_committed_baseline() {
    let sandbox = two_runs();
    let line = "gate latest --baseline main --max-drop nDCG@5=0.02 --min R@5=0.8 --out gate.xml --out gate.json --out gate.md";
    let failed = sandbox.run(line);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gate.md")).unwrap();
    for start in [
        "nDCG@5 drop <= 0.02 ",
        "R@5 >= 0.8 ",
        "same judge ",
        "gate failed: ",
    ] {
        let line = |text: &str| {
            let line = text.lines().find(|line| line.starts_with(start));
            line.unwrap_or_else(|| panic!("no `{start}` in:\n{text}"))
                .to_owned()
        };
        assert_eq!(
            line(&failed.stdout),
            line(&page),
            "docs/gate.md shows what is printed"
        );
    }
    assert!(
        failed
            .stdout
            .contains("index.identity.chunking.tokens.size: 256 -> 64"),
        "{}",
        failed.stdout
    );
    let drop = check(&sandbox.work().join("gate.json"), "nDCG@5 drop <= 0.02");
    assert_eq!(
        (&drop["verdict"], &drop["n"]),
        (&"failed".into(), &256.into())
    );
    sandbox.succeed("compare --out change.json");
    let change = json(&sandbox.work().join("change.json"));
    let measures = change["measures"].as_array().unwrap();
    let compared = measures
        .iter()
        .find(|it| it["measure"] == "nDCG@5")
        .unwrap();
    assert_eq!(
        drop["p_value"], compared["difference"]["p_value"],
        "the test of compare"
    );
    assert_eq!(
        drop["interval"], compared["difference"]["interval"],
        "one change has one interval"
    );
    let xml = fs::read_to_string(sandbox.work().join("gate.xml")).unwrap();
    assert!(
        xml.contains(r#"<testsuites name="evaluations gate" tests="6" failures="1" skipped="0""#),
        "{xml}"
    );
    let markdown = fs::read_to_string(sandbox.work().join("gate.md")).unwrap();
    assert!(
        markdown.starts_with("**gate failed: 1 of 6 checks failed**"),
        "{markdown}"
    );
}

#[test]
fn a_key_of_clusters_holds_for_the_run_and_its_baseline() {
    // The sample declares clusters of documents.
    let sandbox = two_runs();
    let stored = name(&sandbox.runs()[0]);
    let method = |options: &str| {
        let line = format!("gate latest --max-drop nDCG@5=0.1 --out gate.json {options}");
        let ended = sandbox.run(&line);
        let drop = check(&sandbox.work().join("gate.json"), "nDCG@5 drop <= 0.1");
        let is_clustered = ended.stdout.contains("by clusters");
        (drop["interval"]["method"].clone(), is_clustered)
    };
    for baseline in ["main", &stored] {
        let of = |key: &str| method(&format!("--baseline {baseline} {key}"));
        assert_eq!(of(""), ("cluster-cr2".into(), true), "{baseline}");
        assert_eq!(
            of("--cluster none"),
            ("student-t".into(), false),
            "{baseline}"
        );
    }
}

#[test]
fn several_named_runs_are_judged_together() {
    let sandbox = two_runs();
    let [first, second] = [0, 1].map(|place: usize| name(&sandbox.runs()[place]));
    let failed = sandbox.run(&format!(
        "gate {first} {second} --min MRR@5=0.7 --out gate.json"
    ));
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    let report = json(&sandbox.work().join("gate.json"));
    let verdict = |place: usize| {
        let run = &report["runs"][place];
        (run["run"].clone(), run["checks"][0]["verdict"].clone())
    };
    assert_eq!(verdict(0), (first.clone().into(), "passed".into()));
    assert_eq!(verdict(1), (second.into(), "failed".into()));
    let refused = sandbox.run(&format!("gate {first} latest --min MRR@5=0.7"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("`latest` is one run; name each of several runs"),
        "{refused:?}"
    );
}

#[test]
fn rules_may_be_in_a_file_and_options_take_precedence() {
    let sandbox = two_runs();
    sandbox.write(
        "gate.yaml",
        "max_drop: {nDCG@5: 0.02}\nmax: {failed: 0, latency.p95: 60s}\n",
    );
    let failed = sandbox.run("gate --baseline main --rules gate.yaml");
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let passed = sandbox.run("gate --baseline main --rules gate.yaml --max-drop nDCG@5=0.1");
    assert_eq!(passed.code, Some(0), "{}{}", passed.stdout, passed.stderr);
    assert!(
        passed.stdout.ends_with("gate passed: 7 checks passed\n"),
        "{}",
        passed.stdout
    );
    let renamed = sandbox.run("gate --baseline main --rules gate.yaml --max-drop ndcg@5=0.1");
    assert_eq!(
        renamed.stdout, passed.stdout,
        "another name of the measure overrides its rule too"
    );
    sandbox.write("gate.yaml", "max_drop:\n  nDCG@5: 0.02\n  ndcg@5: 0.1\n");
    let message = sandbox.refuse("gate --baseline main --rules gate.yaml");
    assert!(
        message.contains(
            "gate.yaml:3: `nDCG@5` and `ndcg@5` are the same, and both have a rule `max-drop`"
        ),
        "{message}"
    );
    sandbox.write("gate.yaml", "min:\n  R@5: 80\n");
    let message = sandbox.refuse("gate --baseline main --rules gate.yaml");
    assert!(
        message.contains("gate.yaml:2: `min` of `R@5` is 80, so the rule never holds: the measure is from 0 to 1; did you mean 0.8?"),
        "{message}"
    );
    sandbox.write("gate.yaml", "min: {R@5: 0.5}\nmax_dorp: {nDCG@5: 0.02}\n");
    let message = sandbox.refuse("gate --baseline main --rules gate.yaml");
    assert!(
        message.contains("gate.yaml:2: unknown key `max_dorp`")
            && message.contains("did you mean `max_drop`?"),
        "{message}"
    );
}

#[test]
fn a_run_against_itself_passes_and_too_few_questions_cannot_tell() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 30 --profile bm25 --profile hybrid");
    let names: Vec<String> = sandbox.runs().iter().map(|run| name(run)).collect();
    let (bm25, hybrid) = (&names[0], &names[1]);
    let itself = format!("gate {bm25} --baseline {bm25} --max-drop MRR@5=0 --max-drop R@5=0.01");
    let page = sandbox.succeed(&itself);
    assert!(page.contains("no case changed"), "{page}");
    // The 30 cases are 6 clusters, so the share 1 - 0.025^(1/6) = 0.4593 of all cases may differ.
    let strict = sandbox.run(&format!("{itself} --strict"));
    assert_eq!(strict.code, Some(1), "{}{}", strict.stdout, strict.stderr);
    sandbox.succeed(&format!(
        "gate {bm25} --baseline {bm25} --max-drop MRR@5=0.46 --strict"
    ));
    let line = format!("gate {bm25} --baseline {hybrid} --max-drop MRR@5=0.001");
    let unsure = sandbox.run(&line);
    assert_eq!(unsure.code, Some(0), "{}{}", unsure.stdout, unsure.stderr);
    assert!(
        unsure
            .stdout
            .contains("too few clusters changed to say which drop the test can see (n = 24)"),
        "{}",
        unsure.stdout
    );
    assert!(
        unsure
            .stderr
            .contains("for at least one rule, the cases are too few to decide"),
        "{}",
        unsure.stderr
    );
    assert_eq!(sandbox.run(&format!("{line} --strict")).code, Some(1));
}

#[test]
fn every_run_of_the_last_command_is_judged_with_its_own_baseline() {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.succeed("sample --skip-qa --limit 30 --profile bm25 --profile hybrid");
    }
    let names: Vec<String> = sandbox.runs().iter().map(|run| name(run)).collect();
    let line = format!(
        "gate --baseline {} --baseline {} --max-drop MRR@5=0.02",
        names[1], names[0]
    );
    let page = sandbox.succeed(&line);
    for (run, baseline) in [(&names[2], &names[0]), (&names[3], &names[1])] {
        let pair = format!("run: {run} (30 cases)\nbaseline: {baseline}");
        assert!(page.contains(&pair), "{page}");
    }
    let message = sandbox.refuse(&format!(
        "gate --baseline {} --max-drop MRR@5=0.02",
        names[0]
    ));
    assert!(
        message.contains(&format!("needs a baseline for run `{}`", names[3])),
        "{message}"
    );
}

fn in_github(sandbox: &Sandbox, line: &str) -> Ended {
    ended(
        sandbox
            .command(line)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", sandbox.work().join("summary.md")),
    )
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let sandbox = two_runs();
    let line = "gate latest --baseline main --max-drop nDCG@5=0.02";
    let failed = in_github(&sandbox, line);
    assert_eq!(failed.code, Some(1));
    assert!(
        failed.stdout.contains(
            "\n::error title=gate%3A nDCG@5 drop <= 0.02 failed::worse by 0.0633, 95 %25 interval"
        ),
        "{}",
        failed.stdout
    );
    in_github(&sandbox, line);
    let summary = fs::read_to_string(sandbox.work().join("summary.md")).unwrap();
    assert_eq!(
        summary
            .matches("**gate failed: 1 of 5 checks failed**")
            .count(),
        2,
        "{summary}"
    );
    let silent = in_github(&sandbox, &format!("{line} --github never"));
    assert!(!silent.stdout.contains("::error"), "{}", silent.stdout);
    let forced = sandbox.run(&format!("{line} --github always"));
    assert!(forced.stdout.contains("::error"), "{}", forced.stdout);
}

#[test]
fn a_baseline_holds_no_text_and_has_the_same_bytes_again() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 20");
    let runs = sandbox.runs();
    let answers = runs
        .iter()
        .find(|run| json(&run.join("manifest.json"))["benchmark"] == "qa")
        .unwrap();
    sandbox.succeed(&format!("baseline save one.json {}", name(answers)));
    sandbox.succeed(&format!(
        "baseline save baselines/two.json {}",
        name(answers)
    ));
    let read = |path: &str| fs::read_to_string(sandbox.work().join(path)).unwrap();
    assert_eq!(read("one.json"), read("baselines/two.json"));
    let report = json(&answers.join("report.json"));
    for case in report["cases"].as_array().unwrap() {
        let question = case["input"].as_str().unwrap_or_default();
        assert!(
            question.is_empty() || !read("one.json").contains(question),
            "{question}"
        );
    }
    let shown = sandbox.succeed("baseline show two");
    assert!(
        shown.contains("baseline: baselines/two.json") && shown.contains("cases: 20 cases"),
        "{shown}"
    );
    for percentile in ["p50", "p95", "p99"] {
        let name = format!("latency.generate.{percentile} ");
        assert!(shown.contains(&name), "{shown}");
    }
    let message = sandbox.refuse("baseline save two");
    assert!(
        message.contains("exists already; `--force` replaces it"),
        "{message}"
    );
    sandbox.succeed(&format!("baseline save two {} --force", name(answers)));
    let page = sandbox.succeed(&format!(
        "gate {} --baseline two --max-drop accuracy=0.02 --min accuracy=0.01 --max cost=0.01",
        name(answers)
    ));
    assert!(page.contains("accuracy >= 0.01"), "{page}");
    let rankings = runs.iter().find(|run| *run != answers).unwrap();
    let message = sandbox.refuse(&format!(
        "gate {} --baseline two --min R@5=0.1",
        name(rankings)
    ));
    assert!(
        message.contains("measures qa on sample with the profile")
            && message.contains("but the gate judges retrieval on sample with the profile"),
        "{message}"
    );
}

#[test]
fn a_damaged_baseline_is_an_error() {
    let sandbox = two_runs();
    let path = sandbox.work().join("baselines/main.json");
    let whole = fs::read_to_string(&path).unwrap();
    let gate = "gate latest --baseline main --max-drop nDCG@5=0.02";
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let message = sandbox.refuse(gate);
    assert!(
        message.contains("it is not JSON, or cut short"),
        "{message}"
    );
    assert!(
        message.contains("restore it, such as with `git restore -- baselines/main.json`, or save a run again with `evaluations runs baseline save main RUN --force`"),
        "{message}"
    );
    fs::write(
        &path,
        whole.replacen("\"values\":[1.0", "\"values\":[0.0", 1),
    )
    .unwrap();
    for line in [gate, "baseline show main"] {
        let message = sandbox.refuse(line);
        assert!(message.contains("its checksum does not match"), "{message}");
    }
    let message =
        sandbox.refuse("gate latest --baseline baselines/mian.json --max-drop nDCG@5=0.02");
    assert!(
        message.contains("there is no baseline `baselines/mian.json`"),
        "{message}"
    );
    let message = sandbox.refuse("gate latest --baseline mian --max-drop nDCG@5=0.02");
    assert!(
        message.contains("there is no baseline `baselines/mian.json` and no run `mian`; `evaluations runs baseline save mian RUN` saves a run as this baseline, and `evaluations runs` lists the runs; did you mean `main`?"),
        "{message}"
    );
}

#[test]
fn a_baseline_with_more_measures_or_other_questions_fails() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 40 --measure AP@5");
    sandbox.succeed("baseline save main");
    sandbox.succeed("sample --skip-qa --limit 30");
    let failed = sandbox.run("gate latest --baseline main --max-drop MRR@5=0.02 --out gate.json");
    assert_eq!(failed.code, Some(1));
    let verdicts = sandbox.work().join("gate.json");
    assert_eq!(check(&verdicts, "same measures")["verdict"], "failed");
    assert_eq!(check(&verdicts, "same dataset")["verdict"], "failed");
    sandbox.succeed(
        "gate latest --baseline main --max-drop MRR@5=0.02 --allow changed-dataset --allow missing-measure",
    );
    let gone =
        sandbox.run("gate latest --baseline main --max-drop MAP@5=0.02 --allow missing-measure");
    assert_eq!(
        gone.code,
        Some(1),
        "a rule about a measure that is gone fails: {}",
        gone.stdout
    );
}

#[test]
fn rules_and_runs_that_cannot_be_judged_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 5");
    let run = name(&sandbox.runs()[0]);
    let refused = |options: &str| sandbox.refuse(&format!("gate {run} --baseline {run} {options}"));
    for (options, message) in [
        ("", "a gate needs at least one rule"),
        ("--max-drop MRR@5=-0.1", "the tolerance of `MRR@5` is -0.1"),
        ("--max-drop MRR@5=NaN", "NaN is not a finite number"),
        ("--max-drop MRR@5", "not of the form NAME=NUMBER"),
        ("--max-drop MRR@4=0.1", "`MRR` has the cutoff 5"),
        ("--max-drop MRR@5=0.1 --level 95", "the level is 95"),
        ("--max-drop MRR@5=0.1 --level 0.05", "the level is 0.05"),
        ("--max MRR@5=0.1", "use `min`"),
        (
            "--max-drop MRR@5=2",
            "the rule never fails: the measure is from 0 to 1, and so is a drop; did you mean 0.02?",
        ),
        ("--min R@5=80", "did you mean 0.8?"),
        (
            "--max latency.p95=-1s",
            "`max` of `latency.p95` is -1 s, so the rule never holds",
        ),
        ("--max failed=0.5", "it counts cases: write a whole number"),
        ("--min cost=1", "`cost` is better when it is smaller"),
        ("--min failed=1", "use `max`"),
        (
            "--min MRR@5=0.1 --out gate.txt",
            "use a name that ends in .xml or .json or .md",
        ),
        ("--min MRR@5=0.1 --rules no.yaml", "no.yaml"),
    ] {
        let found = refused(options);
        assert!(found.contains(message), "`{options}`: {found}");
    }
    let long = refused(&format!("--min {}=1", "a".repeat(100_000)));
    assert!(
        long.contains("a measure of 100000 letters") && long.len() < 1_000,
        "{long}"
    );
    let message = sandbox.refuse(&format!("gate {run} --max-drop MRR@5=0.1"));
    assert!(message.contains("needs a baseline"), "{message}");
    fs::remove_file(sandbox.runs()[0].join("report.json")).unwrap();
    for line in [
        format!("gate {run} --min MRR@5=0.1"),
        format!("baseline save main {run}"),
        format!("aa {run} --max-drop MRR@5=0.1"),
    ] {
        let message = sandbox.refuse(&line);
        assert!(message.contains("is unfinished"), "{line}: {message}");
    }
}

#[test]
fn a_newer_unfinished_run_is_not_skipped() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 5");
    sandbox.succeed("sample --skip-qa --limit 5");
    fs::remove_file(sandbox.runs()[1].join("report.json")).unwrap();
    for run in ["", "latest "] {
        let message = sandbox.refuse(&format!("gate {run}--min MRR@5=0.1"));
        assert!(message.contains("a newer run is not finished"), "{message}");
    }
}

#[test]
fn one_question_and_no_common_question() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --limit 1 --profile bm25");
    sandbox.succeed("sample --skip-qa --limit 1 --profile unranked");
    let names: Vec<String> = sandbox.runs().iter().map(|run| name(run)).collect();
    let line = format!(
        "gate {} --baseline {} --max-drop MRR@5=0.01",
        names[1], names[0]
    );
    let one = sandbox.run(&line);
    let page = one.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        page.contains("too few cases changed") || page.contains("no case changed"),
        "{page}"
    );
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    let ids: Vec<String> = {
        sandbox.succeed("sample --skip-qa --limit 2 --profile bm25");
        let report = json(&sandbox.runs()[2].join("report.json"));
        let cases = report["cases"].as_array().unwrap();
        cases
            .iter()
            .map(|case| case["id"].as_str().unwrap().to_owned())
            .collect()
    };
    sandbox.succeed(&format!(
        "sample --skip-qa --profile bm25 --case {}",
        ids[1]
    ));
    let other = name(&sandbox.runs()[3]);
    let message = sandbox.refuse(&format!(
        "gate {other} --baseline {} --max-drop MRR@5=0.01",
        names[0]
    ));
    assert!(message.contains("have no case in common"), "{message}");
}

#[test]
fn a_gate_tests_itself() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa");
    let line = "aa latest --max-drop nDCG@5=0.05 --simulations 100 --out aa.json --out aa.md";
    let page = sandbox.succeed(line);
    assert!(page.contains("20 % of the clusters"), "{page}");
    let found = json(&sandbox.work().join("aa.json"));
    let rows = found["rows"].as_array().unwrap();
    let share = |row: usize| rows[row]["shares"]["failed"]["value"].as_f64().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(share(0) <= 0.1 && share(3) >= 0.9, "{found:#}");
    assert_eq!(sandbox.succeed(line), page, "the seed is fixed");
    let narrow = |columns: &str| {
        let done = ended(sandbox.command(line).env("COLUMNS", columns));
        let mut lines = done.stdout.lines();
        let head = lines.find(|it| it.starts_with("True drop")).unwrap();
        let rule = lines.next().unwrap();
        assert!(rule.chars().count() <= columns.parse().unwrap(), "{rule}");
        assert!(head.ends_with("Cannot tell"), "{}", done.stdout);
        let words: Vec<&str> = done.stdout.split_whitespace().collect();
        words.join(" ")
    };
    assert!(!narrow("80").contains("no room"), "{}", narrow("80"));
    assert_eq!(narrow("80").matches("] [").count(), 8, "{}", narrow("80"));
    let missing = "no room for Rule, Fails, Fails with --strict; widen";
    assert!(narrow("30").contains(missing), "{}", narrow("30"));
    sandbox.succeed("sample --skip-qa --profile bm25");
    let names: Vec<String> = sandbox.runs().iter().map(|run| name(run)).collect();
    let page = sandbox.succeed(&format!(
        "aa {} {} --max-drop nDCG@5=0.05 --simulations 50 --drop 0.2",
        names[0], names[1]
    ));
    assert!(page.contains("two of the 2 runs"), "{page}");
    for (options, message) in [
        ("--max-drop nDCG@5=0", "multiples of a tolerance of 0"),
        ("--max-drop nDCG@5=0.1 --drop -1", "a true drop of -1"),
        ("--max-drop nDCG@5=0.1 --changed 2", "2 is not a share"),
        ("--max failed=0", "no rule can be simulated"),
        (
            "--max-drop nDCG@5=0.1 --simulations 0",
            "has to be at least 1",
        ),
    ] {
        let found = sandbox.refuse(&format!("aa latest {options}"));
        assert!(found.contains(message), "`{options}`: {found}");
    }
}

/// On real data, if `EVALUATIONS_REAL_HF_HOME` names a Hugging Face home with `mteb/scifact`.
#[test]
fn a_gate_on_scifact() {
    let Some(home) = std::env::var_os("EVALUATIONS_REAL_HF_HOME") else {
        // The test harness hides the output of `eprintln!` when a test passes.
        let text =
            b"skipped: EVALUATIONS_REAL_HF_HOME names no Hugging Face home with beir:scifact\n";
        std::io::stderr().write_all(text).unwrap();
        return;
    };
    let sandbox = Sandbox::new();
    let line = "beir:scifact --skip-qa --limit 100 --profile bm25 --profile hybrid";
    let run = ended(sandbox.command(line).env("HF_HOME", home));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let names: Vec<String> = sandbox.runs().iter().map(|run| name(run)).collect();
    let (bm25, hybrid) = (&names[0], &names[1]);
    let failed = sandbox.run(&format!(
        "gate {hybrid} --baseline {bm25} --max-drop nDCG@10=0.02"
    ));
    assert_eq!(failed.code, Some(1), "{}", failed.stdout);
    let passed = sandbox.run(&format!(
        "gate {bm25} --baseline {hybrid} --max-drop nDCG@10=0.02 --strict"
    ));
    assert_eq!(passed.code, Some(0), "{}", passed.stdout);
    let unsure = sandbox.run(&format!(
        "gate {bm25} --baseline {hybrid} --max-drop R@100=0.005"
    ));
    assert_eq!(unsure.code, Some(0), "{}", unsure.stdout);
    assert!(unsure.stdout.contains("cannot tell"), "{}", unsure.stdout);
}

#[test]
fn a_newer_run_with_a_damaged_or_lost_manifest_is_named_with_the_remedy() {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.succeed("sample --skip-qa --limit 5 --profile bm25");
    }
    let [older, newer] = &sandbox.runs()[..] else {
        panic!("{:?}", sandbox.runs());
    };
    let manifest = newer.join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let refused = |name: &str, remedy: &str| {
        for run in ["", "latest"] {
            let message = sandbox.refuse(&format!("gate {run} --min MRR@5=0.1"));
            assert!(
                message.contains(name) && message.contains(remedy),
                "{message}"
            );
        }
    };
    fs::write(&manifest, &text[..300]).unwrap();
    refused(
        &manifest.display().to_string(),
        "restore it from a copy, or delete the folder of the run",
    );
    fs::remove_file(&manifest).unwrap();
    refused(&newer.display().to_string(), "no `manifest.json`");
    sandbox.succeed(&format!("gate {} --min MRR@5=0.1", older.display()));
    fs::remove_dir_all(older).unwrap();
    refused(&newer.display().to_string(), "delete the folder");
}

#[test]
fn a_run_that_no_rule_is_about_is_left_out() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --limit 20 --profile bm25");
    let gated = sandbox.run("gate --min R@5=0.01");
    assert_eq!(gated.code, Some(0), "{}", gated.stderr);
    assert!(gated.stderr.contains("left out `"), "{}", gated.stderr);
    assert!(gated.stdout.contains("R@5 >= 0.01"), "{}", gated.stdout);
    assert!(!gated.stdout.contains("_qa_"), "{}", gated.stdout);
}
