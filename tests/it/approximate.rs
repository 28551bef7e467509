//! Approximate search: the setting `search.index`, and the command `evaluations bench index`.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json as read, wait_for};

const RUN: &str = "run sample --skip-qa --limit 40";

/// Questions, documents and ranks of the newest run, without the scores: the last bit of an index's scores may differ.
fn newest(sandbox: &Sandbox) -> Vec<String> {
    let run = sandbox.runs().pop().unwrap().join("run.trec");
    let rows = fs::read_to_string(run).unwrap();
    let rows = rows.lines().map(|row| {
        let fields: Vec<&str> = row.split(' ').take(4).collect();
        fields.join(" ")
    });
    rows.collect()
}

#[test]
fn a_run_with_an_approximate_search_says_so_everywhere() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&format!("{RUN} --profile semantic"));
    let exact = newest(&sandbox);
    sandbox.write(
        "evaluations.yaml",
        "search:\n  index: {type: ivf-flat, partitions: 4, probes: 4}\n",
    );
    let shown = sandbox.run(&format!(
        "{RUN} --profile semantic --out report.md --out report.html"
    ));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let said = "approximate, ivf-flat: partitions 4, probes 4";
    assert!(
        shown.stdout.contains(&format!("vector search: {said}\n")),
        "{}",
        shown.stdout
    );
    assert!(
        shown
            .stderr
            .contains("indexed the vectors for approximate search in "),
        "{}",
        shown.stderr
    );
    for file in ["report.md", "report.html"] {
        let text = fs::read_to_string(sandbox.work().join(file)).unwrap();
        assert!(text.contains(said), "{file}");
    }
    let folder = sandbox.runs().pop().unwrap();
    let manifest = read(&folder.join("manifest.json"));
    assert_eq!(
        manifest["index"]["approximate"],
        json!({"type": "ivf-flat", "partitions": 4, "probes": 4})
    );
    assert!(newest(&sandbox) == exact, "all partitions are read");

    let again = sandbox.run(&format!(
        "{RUN} --profile semantic --set search.index.probes=1"
    ));
    assert!(
        !again.stderr.contains("indexed the vectors"),
        "{}",
        again.stderr
    );
    assert!(newest(&sandbox) != exact, "one partition is read");
    let names: Vec<String> = sandbox
        .runs()
        .iter()
        .map(|run| run.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let compared = sandbox.run(&format!("compare {} {}", names[0], names[2]));
    let both = compared.stdout + &compared.stderr;
    assert!(both.contains("approximate.probes"), "{both}");
}

#[test]
fn an_answering_run_says_that_its_search_is_approximate_and_is_another_run() {
    let sandbox = Sandbox::new();
    let line = "run sample --skip-retrieval --limit 4";
    sandbox.succeed(line);
    let shown = sandbox.run(&format!("{line} --set search.index.type=hnsw-flat"));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown
            .stdout
            .contains("vector search: approximate, hnsw-flat: "),
        "{}",
        shown.stdout
    );
    assert_eq!(sandbox.runs().len(), 2, "nothing was resumed");
}

const IVF: &str = "search:\n  index: {type: ivf-flat, partitions: 4, probes: 1}\n";

#[test]
fn skip_db_builds_no_index_of_the_vectors() {
    let sandbox = Sandbox::new();
    sandbox.succeed("run sample --skip-qa --skip-retrieval");
    sandbox.write("evaluations.yaml", IVF);
    let before = listing(&sandbox.data().join("dbs"));
    let line = format!("{RUN} --profile semantic");
    let error = sandbox.refuse(&format!("{line} --skip-db"));
    assert!(
        error.contains("has no finished index of the vectors for approximate search: ivf-flat: partitions 4, probes 1")
            && error.contains("run without `--skip-db`"),
        "{error}"
    );
    assert_eq!(listing(&sandbox.data().join("dbs")), before);
    sandbox.succeed(&line);
    sandbox.succeed(&format!("{line} --skip-db --fresh"));
}

#[test]
fn shards_that_searched_different_indexes_of_the_vectors_are_not_merged() {
    let sandbox = Sandbox::new();
    sandbox.write("evaluations.yaml", IVF);
    let shard = |shard: u32, db: &str| {
        sandbox.succeed(&format!(
            "{RUN} --profile semantic --shard {shard}/2 --db {db}"
        ));
    };
    shard(1, "one");
    shard(2, "other");
    let error = sandbox.refuse("merge");
    assert!(error.contains("index.vectors_build: "), "{error}");
    shard(2, "one");
    sandbox.succeed("merge");
}

#[test]
fn a_lexical_profile_builds_and_says_nothing() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&format!(
        "{RUN} --profile bm25 --set search.index.type=ivf-flat"
    ));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let both = shown.stdout + &shown.stderr;
    assert!(!both.contains("approximate"), "{both}");
}

#[test]
fn settings_that_no_index_has_are_refused_with_their_place() {
    let sandbox = Sandbox::new();
    let refused = |index: &str| {
        sandbox.write("evaluations.yaml", format!("search:\n  index:\n{index}"));
        let stderr = sandbox.refuse(&format!("{RUN} --profile semantic"));
        let line = stderr.lines().last().unwrap();
        line.replace(&format!("{}/", sandbox.work().display()), "")
    };
    for (index, message) in [
        (
            "    type: ivf-flat\n    m: 8\n",
            "error: evaluations.yaml:4: bad value for `search.index.m`: `ivf-flat` does not have this parameter; it has `partitions`, `probes`",
        ),
        (
            "    type: ivf-pq\n",
            "error: evaluations.yaml:3: bad value for `search.index.type`: the engine needs at least 256 chunks to train `ivf-pq`, and the index has 206",
        ),
        (
            "    [ivf-flat]\n",
            "error: evaluations.yaml:2: bad value for `search.index`: expected a mapping, found a list",
        ),
    ] {
        assert_eq!(refused(index), message);
    }
    let unknown = refused("    type: annoy\n");
    assert!(
        unknown.starts_with("error: evaluations.yaml:3: bad value for `search.index.type`: unknown value `annoy`, expected one of `exact`, `ivf-flat`"),
        "{unknown}"
    );
    let misspelt = refused("    type: ivf-flat\n    probe: 3\n");
    assert!(
        misspelt.contains("did you mean `search.index.probes`?"),
        "{misspelt}"
    );
    assert_eq!(sandbox.runs(), Vec::<std::path::PathBuf>::new());
}

fn bench(sandbox: &Sandbox, line: &str) -> Value {
    let line = format!("bench index --json --seconds 0.1 --concurrency 1,2 {line}");
    serde_json::from_str(&sandbox.succeed(&line)).unwrap()
}

/// The names in the data folder after a benchmark.
fn left_behind(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.data()).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.filter(|it| it.starts_with("bench-")).collect()
}

#[test]
fn generated_vectors_are_measured_by_every_type() {
    let sandbox = Sandbox::new();
    let figures = bench(
        &sandbox,
        "--generated 1500x32 --queries 30 --quick --k 5,20 --rates 50 --out a.json --figures drawn",
    );
    assert_eq!(figures, read(&sandbox.work().join("a.json")));
    assert_eq!(figures["vectors"]["source"], "generated vectors, seed 0");
    let settings = figures["settings"].as_array().unwrap();
    let types: Vec<&Value> = settings.iter().map(|it| &it["settings"]["type"]).collect();
    assert_eq!(
        types,
        [
            "exact",
            "ivf-flat",
            "ivf-sq",
            "ivf-pq",
            "ivf-rq",
            "hnsw-flat",
            "hnsw-sq",
            "hnsw-pq"
        ]
    );
    for setting in settings {
        for k in ["5", "20"] {
            let recall = setting["recall"][k].as_f64().unwrap();
            assert!((0.3..=1.0).contains(&recall), "{setting}");
        }
        assert_eq!(setting["closed"][1]["concurrency"], 2);
        assert_eq!(setting["open"][0]["rate"], 50.0);
        assert_eq!(setting["open"][0]["searches"], 20);
        assert_eq!(setting["cold"]["n"], 20);
        assert!(setting["closed"][0]["seconds"]["p95"].as_f64().unwrap() > 0.0);
        assert_eq!(setting["ndcg"], Value::Null, "nothing is judged");
        let is_exact = setting["settings"]["type"] == "exact";
        assert_eq!(setting["build_seconds"].is_null(), is_exact);
        assert_eq!(setting["index_bytes"] == 0, is_exact);
    }
    assert_eq!(settings[0]["recall"], json!({"5": 1.0, "20": 1.0}));
    let cheapest = &settings[usize::try_from(figures["cheapest"].as_u64().unwrap()).unwrap()];
    assert!(cheapest["recall"]["5"].as_f64().unwrap() >= 0.99);
    for file in ["recall.svg", "recall.png"] {
        assert!(sandbox.work().join("drawn").join(file).is_file());
    }
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

/// Scalar quantization gives the same index of the same vectors, and finds only some of the neighbours.
#[test]
fn the_same_seed_gives_the_same_vectors() {
    let sandbox = Sandbox::new();
    let line = "--generated 300x8 --queries 40 --types ivf-sq --grid partitions=1 --grid refine=0 --k 5,10,50";
    let recall = |seed: &str| {
        let figures = bench(&sandbox, &format!("{line} --rates 200 --seed {seed}"));
        figures["settings"][1]["recall"].clone()
    };
    let first = recall("3");
    assert_eq!(first, recall("3"));
    assert_ne!(first, recall("4"));
}

#[test]
fn a_dataset_is_measured_with_its_judgements_and_its_index_stays_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&format!("{RUN} --profile semantic"));
    let store = sandbox.data().join("dbs/sample.lancedb");
    let before = listing(&store);
    let figures = bench(
        &sandbox,
        "sample --types ivf-flat --grid partitions=8 --grid probes=1,8 --k 10 --out page.html",
    );
    assert_eq!(listing(&store), before);
    assert_eq!(figures["vectors"]["count"], 206);
    assert_eq!(figures["vectors"]["questions"], 320);
    let [exact, narrow, wide] = &figures["settings"].as_array().unwrap()[..] else {
        panic!("{figures}");
    };
    assert_eq!(exact["ndcg"], Value::Null);
    assert_eq!(wide["recall"]["10"], 1.0);
    assert_eq!(wide["ndcg"]["difference"], 0.0);
    let change = &narrow["ndcg"];
    assert!(narrow["recall"]["10"].as_f64().unwrap() < 0.95, "{narrow}");
    assert_eq!(change["n"], 256, "the answerable questions");
    assert!(change["difference"].as_f64().unwrap() < 0.0, "{change}");
    assert!(change["interval"]["low"].as_f64().unwrap() < change["difference"].as_f64().unwrap());
    let page = fs::read_to_string(sandbox.work().join("page.html")).unwrap();
    assert!(page.contains("Indexes of vectors") && page.contains("ivf-flat probes 8"));
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

fn listing(folder: &std::path::Path) -> Vec<(std::path::PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let found = entry.metadata().unwrap();
        if found.is_dir() {
            files.extend(listing(&entry.path()));
        } else {
            files.push((entry.path(), found.len()));
        }
    }
    files.sort();
    files
}

/// Of 400 vectors, a graph and product quantization have one partition.
#[test]
fn a_combination_that_a_type_cannot_have_is_left_out_with_a_note() {
    let sandbox = Sandbox::new();
    let line = "bench index --json --generated 400x8 --queries 20 --seconds 0.1 --rates 200 --concurrency 1 --k 10";
    let shown = sandbox.run(&format!(
        "{line} --types ivf-flat,hnsw-sq --grid probes=1,4 --grid ef=50"
    ));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stderr.contains(
            "left out `{type: hnsw-sq, probes: 4, ef: 50}`: the index has no more partitions than 1"
        ),
        "{}",
        shown.stderr
    );
    let figures: Value = serde_json::from_str(&shown.stdout).unwrap();
    let settings = figures["settings"].as_array().unwrap();
    let labels: Vec<&Value> = settings.iter().map(|it| &it["label"]).collect();
    assert_eq!(
        labels,
        [
            "exact",
            "ivf-flat probes 1",
            "ivf-flat probes 4",
            "hnsw-sq ef 50 refine 2"
        ]
    );
    let stderr = sandbox.refuse(&format!("{line} --types ivf-flat,ivf-pq --grid probes=4"));
    assert!(
        stderr.contains("cannot measure `{type: ivf-pq, probes: 4}`"),
        "{stderr}"
    );
}

#[test]
fn the_table_names_the_cheapest_setting_and_the_lines_that_choose_it() {
    let sandbox = Sandbox::new();
    let line = "bench index --generated 400x8 --queries 20 --types ivf-flat --grid partitions=2 --grid probes=2 --seconds 0.1 --k 10 --recall 1";
    let shown = sandbox.succeed(&format!("{line} --out table.md --out table.json"));
    for part in [
        "generated vectors, seed 0: 400 vectors of 8 dimensions",
        "SETTING",
        "RECALL@10",
        "cheapest setting with recall@10 >= 1 (lowest p95, 1 caller):",
        "\nsearch:\n  index: {type: ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let table = fs::read_to_string(sandbox.work().join("table.md")).unwrap();
    assert!(table.contains("| exact | 1.0000 |"), "{table}");
    let written = fs::read_to_string(sandbox.work().join("table.json")).unwrap();
    assert!(written.contains("\"schema_version\""), "{written}");
    // A settings file with these lines works.
    let lines = shown.split("\n\n").last().unwrap();
    let lines = lines.split("\nwrote").next().unwrap();
    sandbox.write("evaluations.yaml", lines);
    sandbox.succeed("config show");
}

#[test]
fn bad_input_of_a_benchmark_is_refused_before_it_begins() {
    let sandbox = Sandbox::new();
    for (line, message) in [
        ("", "<DATASET|--generated <NxD>>"),
        ("sample --generated 100x8", "cannot be used with"),
        (
            "--generated 100",
            "not a number of vectors and of dimensions",
        ),
        ("--generated 3x8", "has to be from 20 to "),
        (
            "--generated 100x8 --types annoy",
            "no such type; the types are ivf-flat, ",
        ),
        (
            "--generated 100x8 --types exact",
            "exact search is always measured",
        ),
        ("--generated 100x8 --grid prob=1", "no parameter `prob`"),
        ("--generated 100x8 --grid probes=a", "whole numbers"),
        (
            "--generated 100x8 --types ivf-flat,ivf-sq --grid ef=50",
            "no type of `--types` takes the parameter `ef` of `--grid`; `hnsw-flat`, `hnsw-sq`, `hnsw-pq` take it",
        ),
        ("--generated 100x8 --recall 2", "has to be from 0 to 1"),
        ("--generated 100x8 --rates 0", "has to be from 0.01"),
        (
            "--generated 100x8 --out table.csv",
            "its name has to end in .html, .json or .md",
        ),
        (
            "--generated 100x8 --out no/such/a.md",
            "folder `no/such` does not exist",
        ),
        (
            "--generated 100x8 --types ivf-pq",
            "the engine needs at least 256 chunks to train `ivf-pq`, and the index has 100",
        ),
        (
            "--generated 100x8 --types ivf-flat --grid partitions=101",
            "`ivf-flat` has at most 100 for the 100 chunks of the index",
        ),
        ("no-such-dataset", "no-such-dataset"),
    ] {
        let stderr = sandbox.refuse(&format!("bench index {line}"));
        assert!(stderr.contains(message), "{line}: {stderr}");
    }
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

#[test]
fn an_interrupted_benchmark_leaves_no_vectors_behind() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("bench index --generated 20000x64 --queries 200 --seconds 5");
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("the vectors", || {
        let folder = left_behind(&sandbox).pop();
        folder.is_some_and(|it| sandbox.data().join(it).join("vectors.lance/data").exists())
    });
    let process = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &process]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    assert_eq!(left_behind(&sandbox), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn a_benchmark_searches_with_as_many_threads_as_a_run() {
    let sandbox = Sandbox::new();
    for line in [
        "bench index --generated 20000x64 --queries 200 --seconds 5",
        RUN,
    ] {
        let mut child = sandbox.command(line).stdout(Stdio::null()).spawn().unwrap();
        let environment = format!("/proc/{}/environ", child.id());
        let threads = std::thread::available_parallelism().unwrap();
        let expected = format!("LANCE_CPU_THREADS={threads}\0");
        wait_for(&format!("{expected:?} in {line}"), || {
            let variables = fs::read(&environment).unwrap();
            String::from_utf8(variables).unwrap().contains(&expected)
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
