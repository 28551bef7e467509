//! Benchmarks that are split into shards, and their runs merged to the run of one machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json, wait_for};
use crate::selection::help_desk;
use crate::untimed_report::report;

/// The runs with this benchmark and this number of cases, oldest first.
fn runs(sandbox: &Sandbox, benchmark: &str, questions: u64) -> Vec<PathBuf> {
    let mut runs = sandbox.runs();
    runs.retain(|run| {
        let manifest = json(&run.join("manifest.json"));
        manifest["benchmark"] == benchmark && manifest["dataset"]["questions"] == questions
    });
    runs
}

/// The manifest without what tells one start of a run from another.
fn manifest(run: &Path) -> Value {
    let mut manifest = json(&run.join("manifest.json"));
    let members = manifest.as_object_mut().unwrap();
    for member in ["started", "command_line", "merged", "index"] {
        members.shift_remove(member);
    }
    manifest
}

/// Asserts that two runs are the same to the byte, apart from timings.
fn assert_same(one: &Path, merged: &Path, files: &[&str]) {
    assert_eq!(report(one), report(merged));
    assert_eq!(manifest(one), manifest(merged));
    for file in files {
        let [one, merged] = [one, merged].map(|run| fs::read(run.join(file)).unwrap());
        assert!(one == merged, "{file} differs");
    }
}

/// The lines of a Markdown report without those that state times.
fn measures(run: &Path) -> String {
    let text = fs::read_to_string(run.join("report.md")).unwrap();
    let states_time = |line: &&str| {
        let mut cells = line.split(['|', '·', ',']).map(str::trim);
        cells.any(|cell| {
            [" s", "ms", "µs", "per second"]
                .iter()
                .any(|unit| cell.ends_with(unit))
        })
    };
    let lines = text.lines().filter(|line| !states_time(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn merged_shards_of_both_benchmarks_are_the_run_of_one_machine() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --group-by question_length --seed 7 --set search.latency_sample=30 --profile bm25 --profile hybrid");
    let whole = sandbox.runs();
    let questions = json(&whole[0].join("manifest.json"))["dataset"]["questions"].as_u64();
    for shard in ["3/4", "1/4", "4/4", "2/4"] {
        sandbox.succeed(&format!(
            "sample --group-by question_length --seed 7 --set search.latency_sample=30 --profile bm25 --profile hybrid --shard {shard}"
        ));
    }
    let printed = sandbox.run("merge");
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(!printed.stdout.contains("shard"), "{}", printed.stdout);
    let merged = &sandbox.runs()[whole.len() * 5..];
    assert_eq!(merged.len(), 3, "two profiles and the answers");
    for (one, merged) in whole.iter().zip(merged) {
        let is_ranked = one.join("run.trec").exists();
        let files: &[&str] = if is_ranked {
            &["run.trec", "qrels.trec"]
        } else {
            &[]
        };
        assert_same(one, merged, files);
        assert_eq!(measures(one), measures(merged));
        let record = &json(&merged.join("manifest.json"))["merged"];
        assert_eq!(record["of"], 4);
        assert_eq!(record["shards"].as_array().unwrap().len(), 4);
        assert!(merged.join("report.html").is_file());
    }
    let hybrid = fs::read_to_string(merged[1].join("report.md")).unwrap();
    let latency = "searches of 30 sampled questions of 320, seed 7";
    assert!(
        hybrid.contains(latency),
        "the shards time one sample:\n{hybrid}"
    );
    let cases = json(&merged[2].join("report.json"))["cases"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(Some(cases as u64), questions);

    // The same cases, as the same run: the whole benchmark finds nothing to do again, and its failures could be retried.
    let journal = fs::read_to_string(merged[2].join("journal.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), cases + 1);
    let again = sandbox.run("merge");
    assert_eq!(again.code, Some(0));
    assert!(
        again.stderr.contains("are merged already"),
        "{}",
        again.stderr
    );
    assert_eq!(sandbox.runs().len(), whole.len() * 6);
}

/// Twelve cases: every other answer is right, and one case brings an evaluator.
fn capitals() -> Sandbox {
    let sandbox = Sandbox::new();
    let cases = (0..12).map(|number| {
        let own = match number {
            5 => "  evaluators:\n  - EqualsExpected\n",
            _ => "",
        };
        format!("- name: c{number}\n  inputs: {number}\n  expected_output: 'yes'\n{own}")
    });
    let mut file = "name: capitals\ncases:\n".to_owned();
    file.extend(cases);
    file += "evaluators:\n- EqualsExpected\nreport_evaluators:\n- ConfusionMatrixEvaluator\n";
    sandbox.write("capitals.yaml", file);
    let outputs: String = (0..12)
        .map(|number| {
            let output = if number % 2 == 0 { "yes" } else { "no" };
            let usage = json!({"input_tokens": number, "output_tokens": 1});
            json!({"id": format!("c{number}"), "answer": output, "usage": usage}).to_string() + "\n"
        })
        .collect();
    sandbox.write("outputs.jsonl", outputs);
    sandbox
}

const EVAL: &str = "eval capitals.yaml --target outputs:outputs.jsonl --repeat 3";

#[test]
fn shards_of_a_dataset_file_with_repetitions_merge() {
    let sandbox = capitals();
    sandbox.succeed(EVAL);
    for shard in 1..=3 {
        sandbox.succeed(&format!("{EVAL} --shard {shard}/3"));
    }
    let printed = sandbox.succeed("merge capitals_eval");
    let runs = sandbox.runs();
    assert_same(&runs[0], &runs[4], &[]);
    let whole = json(&runs[4].join("report.json"));
    assert_eq!(whole["cases"].as_array().unwrap().len(), 36);
    assert_eq!(whole["analyses"][0]["type"], "confusion_matrix");
    assert!(printed.contains("36"), "{printed}");

    // The shards of one machine are those of another: folders and names lead to the same run.
    let names: Vec<String> = runs[1..4]
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let paths = format!("merge {} {} ../data/runs/{}", names[2], names[0], names[1]);
    sandbox.succeed(&paths);
    assert_same(&runs[0], sandbox.runs().last().unwrap(), &[]);
}

#[test]
fn shards_come_from_the_data_folders_of_several_machines() {
    let machines = [capitals(), capitals(), capitals()];
    for (machine, shard) in machines.iter().zip(1..) {
        machine.succeed(&format!("{EVAL} --shard {shard}/3"));
    }
    let one = capitals();
    one.succeed(EVAL);
    let mut command = one.command("merge");
    command.args(machines.iter().map(Sandbox::data));
    let merged = crate::sandbox::ended(&mut command);
    assert_eq!(merged.code, Some(0), "{}", merged.stderr);
    // The file of outputs has another path on each machine; its digest says that it is the same.
    let without_paths =
        |run: &Path, machine: &Sandbox| report(run).replace(machine.work().to_str().unwrap(), "");
    let runs = one.runs();
    assert_eq!(
        without_paths(&runs[0], &one),
        without_paths(&runs[1], &machines[0])
    );

    let other = &machines[2];
    let outputs = fs::read_to_string(other.work().join("outputs.jsonl")).unwrap();
    other.write("outputs.jsonl", outputs.replace("yes", "Yes"));
    other.succeed(&format!("{EVAL} --shard 3/3"));
    let mut command = one.command("merge");
    command.args(machines.iter().map(Sandbox::data));
    let refused = crate::sandbox::ended(&mut command);
    assert_eq!(refused.code, Some(2));
    let message = refused.stderr;
    assert!(message.contains("target.sha256"), "{message}");
}

#[test]
fn of_several_merges_at_once_one_writes_the_run_and_the_others_find_it() {
    let sandbox = capitals();
    for shard in 1..=3 {
        sandbox.succeed(&format!("{EVAL} --shard {shard}/3"));
    }
    let merging = |place: &str| {
        let mut command = sandbox.command(&format!("merge {place}"));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // A folder and a name lead to the same shards.
    let merges = ["", "", "../data", "capitals_eval"].map(merging);
    let merges = merges.map(|merge| merge.wait_with_output().unwrap());
    let found = merges.iter().filter(|merge| {
        assert!(merge.status.success(), "{merge:?}");
        let notes = String::from_utf8_lossy(&merge.stderr);
        notes.contains("the shards of `capitals` (eval) are merged already: `")
    });
    assert_eq!(found.count(), 3);
    assert_eq!(sandbox.runs().len(), 3 + 1);
}

#[test]
fn the_shards_of_several_folders_are_merged_once() {
    let machines = [capitals(), capitals()];
    for (machine, shard) in machines.iter().zip(1..) {
        machine.succeed(&format!("{EVAL} --shard {shard}/2"));
    }
    let one = capitals();
    for _ in 0..2 {
        let mut command = one.command("merge");
        command.args(machines.iter().map(Sandbox::data));
        assert_eq!(crate::sandbox::ended(&mut command).code, Some(0));
        assert_eq!(one.runs().len(), 1);
    }
}

#[test]
fn a_shard_says_that_it_is_one() {
    let sandbox = help_desk();
    let printed = sandbox.succeed("./mine.yaml --skip-qa --limit 3 --shard 2/2");
    let cases = json(&sandbox.runs()[0].join("report.json"))["cases"]
        .as_array()
        .unwrap()
        .len();
    let fact = format!("2 of 2: {cases} of 3 cases");
    assert!(printed.contains(&fact), "{printed}");
    let shown = sandbox.succeed("runs show latest");
    assert!(shown.contains(&fact), "{shown}");
    let listed = sandbox.succeed("runs list");
    assert!(listed.contains("shard 2 of 2"), "{listed}");
    let page = fs::read_to_string(sandbox.runs()[0].join("report.html")).unwrap();
    assert!(page.contains(&fact));
    let table = sandbox.run("table");
    assert_eq!(table.code, Some(2), "{}", table.stdout);
    let manifest = json(&sandbox.runs()[0].join("manifest.json"));
    let shard = &manifest["dataset"]["shard"];
    assert_eq!(
        (&shard["index"], &shard["of"], &shard["cases"]),
        (&json!(2), &json!(2), &json!(3))
    );
}

#[test]
fn the_shard_of_a_case_is_the_same_with_other_options() {
    let sandbox = capitals();
    let ids = |options: &str| {
        sandbox.succeed(&format!("{EVAL} {options}"));
        let report = json(&sandbox.runs().last().unwrap().join("report.json"));
        let cases = report["cases"].as_array().unwrap().clone();
        let ids = cases
            .iter()
            .map(|case| case["id"].as_str().unwrap().to_owned());
        ids.collect::<BTreeSet<String>>()
    };
    let all = [ids("--shard 1/2"), ids("--shard 2/2")];
    assert_eq!(all[0].len() + all[1].len(), 12);
    assert!(all[0].is_disjoint(&all[1]));
    assert!(
        ids("--shard 1/2 --limit 9").is_subset(&all[0]),
        "first the limit, then the shard"
    );
    let chosen = ids("--shard 2/2 --case c1 --case c2 --case c3 --case c4 --case c6");
    assert!(chosen.is_subset(&all[1]));
}

#[test]
fn a_shard_without_cases_runs_nothing_and_is_not_missed() {
    let sandbox = help_desk();
    let mut empty = Vec::new();
    for shard in 1..=9 {
        let ended = sandbox.run(&format!("./mine.yaml --shard {shard}/9"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        if ended.stderr.contains("so there is nothing to run") {
            assert_eq!(ended.stdout, "");
            empty.push(shard);
        }
    }
    assert!(empty.len() >= 5, "4 questions in 9 shards");
    assert_eq!(sandbox.runs().len(), 2 * (9 - empty.len()));
    sandbox.succeed("merge");
    sandbox.succeed("./mine.yaml");
    for benchmark in ["retrieval", "qa"] {
        let runs = runs(&sandbox, benchmark, 4);
        assert_same(&runs[1], &runs[0], &[]);
    }
    let evaluated = capitals();
    let shards =
        (1..=40).map(|shard| evaluated.run(&format!("{EVAL} --limit 1 --shard {shard}/40")));
    let notes: Vec<String> = shards.map(|ended| ended.stderr).collect();
    let empty = notes.iter().filter(|note| note.contains("nothing to run"));
    assert_eq!(empty.count(), 39);
}

#[test]
fn a_shard_that_cannot_be_is_refused() {
    let sandbox = help_desk();
    for (shard, why) in [
        ("3/2", "there is no shard 3 of 2"),
        ("0/4", "shards count from 1"),
        ("1/0", "there has to be at least 1 shard"),
        ("a/b", "write a shard as `I/N`"),
        ("-1/2", "write a shard as `I/N`"),
        ("2", "write a shard as `I/N`"),
    ] {
        let message = sandbox.refuse(&format!("./mine.yaml --shard {shard}"));
        assert!(message.contains(why), "{shard}: {message}");
    }
    assert!(sandbox.runs().is_empty());
}

#[test]
fn what_is_not_all_shards_of_one_run_is_refused_by_name() {
    let sandbox = capitals();
    let message = sandbox.refuse("merge");
    assert!(message.contains("there are no shards in"), "{message}");
    sandbox.succeed(EVAL);
    let whole = sandbox.runs()[0]
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let message = sandbox.refuse(&format!("merge {whole}"));
    assert!(
        message.contains(&format!("run `{whole}` is not a shard")),
        "{message}"
    );
    let message = sandbox.refuse("merge nowhere");
    assert!(message.contains("no run `nowhere`"), "{message}");

    sandbox.succeed(&format!("{EVAL} --shard 1/3"));
    sandbox.succeed(&format!("{EVAL} --shard 3/3"));
    let message = sandbox.refuse("merge");
    assert!(message.contains("shard 2 of 3 is missing"), "{message}");
    let command = format!("`evaluations {EVAL} --shard 2/3` runs shard 2");
    assert!(message.contains(&command), "{message}");

    sandbox.succeed(&format!("{EVAL} --shard 2/3 --seed 4"));
    let message = sandbox.refuse("merge");
    assert!(
        message.contains("shards of different runs; these values differ:"),
        "{message}"
    );
    assert!(message.contains("seed: 0 -> 4"), "{message}");

    sandbox.succeed(&format!("{EVAL} --shard 2/3"));
    sandbox.succeed("merge");
    let runs = sandbox.runs();
    let merged = runs.len();
    assert_same(&runs[0], &runs[merged - 1], &[]);

    sandbox.succeed(&format!("{EVAL} --shard 1/3 --fresh"));
    let names: Vec<String> = sandbox.runs()[1..]
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let message = sandbox.refuse(&format!(
        "merge {} {} {} {}",
        names[0], names[1], names[3], names[5]
    ));
    assert!(message.contains("shard 1 of 3 is there twice"), "{message}");
    assert!(
        message.contains(&names[0]) && message.contains(&names[5]),
        "{message}"
    );
    assert_eq!(sandbox.runs().len(), merged + 1, "nothing was written");

    sandbox.succeed(&format!("{EVAL} --shard 1/4 --name other"));
    let other = sandbox.runs().pop().unwrap();
    let other = other.file_name().unwrap().to_str().unwrap().to_owned();
    let message = sandbox.refuse(&format!("merge {other}"));
    assert!(
        message.contains("shards 2, 3, 4 of 4 are missing"),
        "{message}"
    );
}

#[test]
fn a_shard_whose_report_is_not_that_of_its_cases_is_refused() {
    let sandbox = capitals();
    sandbox.succeed(&format!("{EVAL} --shard 1/2"));
    sandbox.succeed(&format!("{EVAL} --shard 2/2"));
    let runs = sandbox.runs();
    let [one, other] = [0, 1].map(|place| json(&runs[place].join("report.json")));
    let path = runs[1].join("report.json");
    let refused = |report: &Value, expected: &str| {
        fs::write(&path, report.to_string()).unwrap();
        let message = sandbox.refuse("merge");
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("shard"), "{message}");
        assert_eq!(sandbox.runs().len(), 2, "nothing was written");
    };
    let mut interrupted = other.clone();
    interrupted["interrupted"] = true.into();
    refused(&interrupted, "this command resumes it");
    let mut not_run = other.clone();
    not_run["not_run"] = 1.into();
    refused(&not_run, "1 of");
    let mut foreign = other.clone();
    foreign["cases"][0] = one["cases"][0].clone();
    refused(&foreign, "are not those that were divided among them");
    let mut doubled = other.clone();
    let cases = doubled["cases"].as_array_mut().unwrap();
    let last = cases.len() - 1;
    cases[last] = cases[0].clone();
    refused(&doubled, "not those that were divided among them");
    let mut changed = fs::read(runs[0].join("report.json")).unwrap();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(&path, other.to_string()).unwrap();
    fs::write(runs[0].join("report.json"), changed).unwrap();
    let message = sandbox.refuse("merge");
    assert!(message.contains("its checksum does not match"), "{message}");
}

#[test]
fn shards_of_other_lists_of_cases_do_not_merge() {
    let sandbox = capitals();
    sandbox.succeed(&format!("{EVAL} --shard 1/2"));
    sandbox.succeed(&format!("{EVAL} --shard 2/2 --limit 11"));
    let message = sandbox.refuse("merge");
    assert!(message.contains("dataset.limit: none -> 11"), "{message}");
    sandbox.succeed(&format!("{EVAL} --shard 1/3 --name n"));
    sandbox.succeed(&format!("{EVAL} --shard 2/2 --name n"));
    let runs = sandbox.runs();
    let names = runs[2..]
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap());
    let names: Vec<&str> = names.collect();
    let message = sandbox.refuse(&format!("merge {}", names.join(" ")));
    assert!(message.contains("dataset.shard.of: "), "{message}");
}

/// A system that takes its time, so that a process can be killed in the middle of its work. The file `slow` makes it slow.
const SLOW: &str = r#"while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    printf '%s\n' "$id" >> asked.txt
    [ -e slow ] && sleep 0.2
    printf '{"id":"%s","answer":"yes"}\n' "$id"
done
"#;

fn start(sandbox: &Sandbox, line: &str, target: &[&str]) -> Child {
    let mut command = sandbox.command(line);
    command
        .args(target)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn a_killed_shard_is_named_and_resumes() {
    let sandbox = capitals();
    sandbox.write("system.sh", SLOW);
    sandbox.write("slow", "");
    let target = ["--target", "exec:sh system.sh", "--concurrency", "1"];
    let line = "eval capitals.yaml --repeat 4 --no-progress --shard";
    let mut children: Vec<Child> = (1..=4)
        .map(|shard| start(&sandbox, &format!("{line} {shard}/4"), &target))
        .collect();
    let journal_of = |shard: u64| {
        let runs = sandbox.runs().into_iter();
        let mut runs = runs.filter(|run| run.join("manifest.json").exists());
        let run = runs
            .find(|run| json(&run.join("manifest.json"))["dataset"]["shard"]["index"] == shard)?;
        Some(run.join("journal.jsonl"))
    };
    let written = |shard| {
        let journal = journal_of(shard).and_then(|journal| fs::read_to_string(journal).ok());
        journal.map_or(0, |journal| journal.lines().count())
    };
    wait_for("the first case of shard 2", || written(2) >= 2);
    children[1].kill().unwrap();
    for child in &mut children {
        child.wait().unwrap();
    }
    fs::remove_file(sandbox.work().join("slow")).unwrap();
    let runs_before = sandbox.runs().len();
    assert_eq!(runs_before, 4, "one for each shard");
    let message = sandbox.refuse("merge");
    assert!(message.contains("shard 2 of 4 (`"), "{message}");
    assert!(message.contains("is unfinished"), "{message}");
    let resume = "this command resumes it, where it was started: `evaluations eval capitals.yaml --repeat 4 --no-progress --shard 2/4 --target 'exec:sh system.sh' --concurrency 1`";
    assert!(message.contains(resume), "{message}");

    let mut again = sandbox.command(&format!("{line} 2/4"));
    let again = crate::sandbox::ended(again.args(target));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stderr.contains("resuming `"), "{}", again.stderr);
    sandbox.succeed("merge");
    assert_eq!(sandbox.runs().len(), runs_before + 1);
    let merged = sandbox.runs().pop().unwrap();
    let mut whole = sandbox.command("eval capitals.yaml --repeat 4 --no-progress --fresh");
    assert_eq!(crate::sandbox::ended(whole.args(target)).code, Some(0));
    assert_eq!(report(&sandbox.runs().pop().unwrap()), report(&merged));
}

#[test]
fn processes_on_one_data_folder_build_the_index_once() {
    let sandbox = Sandbox::new();
    let line = "sample --profile hybrid --no-progress --shard";
    let mut children: Vec<Child> = (1..=4)
        .map(|shard| start(&sandbox, &format!("{line} {shard}/4"), &[]))
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let runs = sandbox.runs();
    assert_eq!(runs.len(), 8);
    let builders: BTreeSet<u64> = runs
        .iter()
        .map(|run| json(&run.join("manifest.json")))
        .filter(|manifest| !manifest["index"]["build"].is_null())
        .map(|manifest| manifest["dataset"]["shard"]["index"].as_u64().unwrap())
        .collect();
    assert_eq!(builders.len(), 1, "one process built it");
    sandbox.succeed("merge");
    sandbox.succeed("sample --profile hybrid");
    let runs = sandbox.runs();
    for (merged, one) in [(8, 10), (9, 11)] {
        assert_same(&runs[one], &runs[merged], &[]);
        let build = &json(&runs[merged].join("manifest.json"))["index"]["build"];
        assert!(
            build.is_object(),
            "the merged run names what the build took"
        );
    }
}
