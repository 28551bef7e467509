//! The smaller commands (`datasets`, `doctor`, `score` and others) and the command line itself.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::sandbox::{Sandbox, ended};

#[test]
fn help_and_version_go_to_stdout() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .succeed("--help")
            .contains("evaluations <DATASET> [OPTIONS]")
    );
    assert_eq!(
        sandbox.succeed("--version"),
        format!("evaluations {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = sandbox.succeed("run --help");
    for option in [
        "--skip-db",
        "--profile",
        "--measure",
        "--filter",
        "--limit",
        "--out",
        "--seed",
        "--set",
    ] {
        assert!(help.contains(option), "`{option}` is missing from:\n{help}");
    }
}

#[test]
fn the_help_lists_the_commands_of_the_first_day_first_and_leaves_out_former_names() {
    let help = Sandbox::new().succeed("--help");
    let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
    let order = [
        "Start here",
        "  init ",
        "  run ",
        "Use the results",
        "  gate ",
    ];
    let places = order.map(place);
    assert!(places.is_sorted(), "{help}");
    for hidden in ["  aa ", "  import ", "  merge ", "  man "] {
        assert!(!help.contains(hidden), "{hidden}: {help}");
    }
}

#[test]
fn a_former_name_of_a_command_does_what_its_present_one_does() {
    let sandbox = Sandbox::new();
    for (former, present) in [
        ("report", "runs report"),
        ("table", "runs table"),
        ("trend", "runs trend"),
        ("baseline save", "runs baseline save"),
        ("merge", "runs merge"),
        ("download", "datasets download"),
        ("export", "datasets export"),
        ("fuse", "score fuse"),
        ("calibrate", "labels calibrate"),
        ("aa", "gate"),
    ] {
        let [former, present] =
            [former, present].map(|name| sandbox.succeed(&format!("{name} --help")));
        assert_eq!(former, present);
    }
    assert!(sandbox.succeed("import --help").contains("--dataset"));
    let message = sandbox.refuse("aa --max-drop x=1");
    assert!(message.contains("<RUN>"), "{message}");
}

#[test]
fn datasets_lists_what_can_be_run() {
    let sandbox = Sandbox::new();
    let listed = sandbox.succeed("datasets");
    for name in [
        "sample",
        "sample-support",
        "repliqa",
        "wix",
        "wix-simulated",
        "wix-synthetic",
        "hotpotqa",
    ] {
        assert!(
            listed
                .lines()
                .any(|line| line.split_whitespace().next() == Some(name)),
            "no {name}: {listed}"
        );
    }
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.succeed("datasets --json")).unwrap();
    let sample = json
        .as_array()
        .unwrap()
        .iter()
        .find(|dataset| dataset["name"] == "sample")
        .unwrap();
    assert_eq!(sample["place"], "bundled");
    let tasks: Vec<(&str, &str, Option<u64>)> = ["sample", "frames", "nanobeir:nq", "ragtruth"]
        .into_iter()
        .map(|name| {
            let mut datasets = json.as_array().unwrap().iter();
            let dataset = datasets.find(|dataset| dataset["name"] == name).unwrap();
            (
                name,
                dataset["task"].as_str().unwrap(),
                dataset["model_calls"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        tasks,
        [
            ("sample", "retrieval-and-answers", Some(640)),
            ("frames", "answers", Some(1_648)),
            ("nanobeir:nq", "retrieval", Some(0)),
            ("ragtruth", "judges", Some(5_400)),
        ]
    );
    let place = |name: &str| {
        listed
            .lines()
            .position(|line| line.starts_with(name))
            .unwrap()
    };
    assert!(place("wix ") < place("frames ") && place("beir:fever") < place("ragtruth "));
    let scifact = json
        .as_array()
        .unwrap()
        .iter()
        .find(|dataset| dataset["name"] == "beir:scifact")
        .unwrap();
    assert_eq!(
        (scifact["place"].as_str(), scifact["documents"].as_u64()),
        (Some("hub"), Some(5183))
    );
}

#[test]
fn a_users_manifest_hides_the_built_in_one_of_the_same_name() {
    let sandbox = Sandbox::new();
    let manifest = "name: sample\ndescription: mine\nsource: {path: rows.csv}\n\
                    documents: {uri: id, text: text}\nquestions: {text: question, relevant: id}\n";
    sandbox.write("datasets/sample.yaml", manifest);
    let listed = sandbox.succeed("datasets");
    let rows: Vec<&str> = listed
        .lines()
        .filter(|line| line.split_whitespace().next() == Some("sample"))
        .collect();
    assert_eq!(rows.len(), 1, "{listed}");
    assert!(rows[0].ends_with("mine"), "{listed}");
}

#[test]
fn doctor_finds_a_data_folder_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    assert!(sandbox.succeed("doctor").contains("ok    data folder: "));
    let file = sandbox.write("a-file", "");
    let below = file.join("below");
    let examined = ended(
        sandbox
            .command("doctor")
            .env("EVALUATIONS_DATA_DIR", &below),
    );
    assert_eq!(examined.code, Some(1), "{examined:?}");
    assert!(
        examined
            .stdout
            .contains("bad   data folder: cannot write to "),
        "{}",
        examined.stdout
    );
    let run = ended(
        sandbox
            .command("sample --skip-qa")
            .env("EVALUATIONS_DATA_DIR", &below),
    );
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn doctor_and_config_show_report_unusable_settings() {
    let sandbox = Sandbox::new();
    let path = sandbox.write("evaluations.yaml", "search:\n  profile: splade\n");
    let place = format!("{}:2: bad value for `search.profile`", path.display());
    let examined = sandbox.run("doctor");
    assert_eq!(examined.code, Some(1));
    assert!(examined.stdout.contains(&place), "{}", examined.stdout);
    assert!(sandbox.refuse("config show").contains(&place));
    assert!(sandbox.refuse("sample --skip-qa").contains(&place));
}

#[test]
fn doctor_refuses_the_embedded_models_that_a_run_refuses() {
    let sandbox = Sandbox::new();
    let expected = [
        "bad value for `qa.model.name`: the only embedded answerer is `extractive`",
        "bad value for `evaluations.judge.name`: the only embedded judge is `overlap`",
    ];
    let examined = sandbox.run("doctor --model embedded:foo --judge embedded:bar");
    assert_eq!(examined.code, Some(1), "{examined:?}");
    for message in expected {
        assert!(examined.stdout.contains(message), "{}", examined.stdout);
    }
    for role in ["answering model", "judge"] {
        let good = format!("ok    {role}");
        assert!(!examined.stdout.contains(&good), "{}", examined.stdout);
    }
    let model = "--model embedded:foo --judge embedded:overlap";
    let judge = "--model embedded:extractive --judge embedded:bar";
    for (options, message) in [model, judge].into_iter().zip(expected) {
        let refused = sandbox.refuse(&format!("sample --skip-retrieval {options}"));
        assert!(refused.contains(message), "{refused}");
    }
    let sound = sandbox.run("doctor --model embedded:extractive --judge embedded:overlap");
    assert_eq!(sound.code, Some(0), "{sound:?}");
}

#[test]
fn a_misspelt_command_is_suggested() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .refuse("dataset")
            .contains("hint: did you mean the command `datasets`?")
    );
    assert!(
        sandbox
            .refuse("nothing-like-it")
            .contains("`evaluations datasets` lists the datasets")
    );
    assert!(
        sandbox
            .succeed("help")
            .contains("evaluations <DATASET> [OPTIONS]")
    );
}

#[test]
fn an_unknown_command_with_arguments_is_not_a_usage_error() {
    let sandbox = Sandbox::new();
    for (line, expected) in [
        (
            "show latest",
            "hint: did you mean one of the commands `targets show`, `runs show`, `runs baseline show`, `config show`?",
        ),
        (
            "runz show latest",
            "hint: did you mean one of the commands `run`, `runs`?",
        ),
        (
            "comparee a b --measure x",
            "hint: did you mean the command `compare`?",
        ),
        ("plot x", "`evaluations --help` the commands"),
        ("chart x", "`evaluations --help` the commands"),
        ("sampel --skip-qa", "did you mean `sample`"),
        ("-q --color never shwo latest", "`runs show`"),
    ] {
        let message = sandbox.refuse(line);
        assert!(message.contains(expected), "{line}: {message}");
        assert!(
            message.contains("is neither a command nor a dataset"),
            "{line}: {message}"
        );
        assert!(!message.contains("unexpected argument"), "{message}");
    }
    let message = sandbox.refuse("sample latest");
    assert!(
        message.contains("unexpected argument 'latest'"),
        "{message}"
    );
    let message = sandbox.refuse("run sampel");
    assert!(!message.contains("neither"), "{message}");
}

#[test]
fn the_help_of_table_explains_its_markers() {
    let sandbox = Sandbox::new();
    let help = sandbox.succeed("table --help");
    for marker in [
        "<!-- evaluations table: retrieval beir:scifact -->",
        "<!-- evaluations end -->",
    ] {
        assert!(help.lines().any(|line| line.trim() == marker), "{help}");
    }
}

#[test]
fn color_applies_to_help() {
    let sandbox = Sandbox::new();
    assert!(sandbox.succeed("--color always --help").contains('\u{1b}'));
    assert!(!sandbox.succeed("--color=never --help").contains('\u{1b}'));
    assert!(!sandbox.succeed("--help").contains('\u{1b}'));
}

#[test]
fn score_prints_trec_evals_figures() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\n");
    sandbox.write(
        "run",
        "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 a 1 1 t\n",
    );
    let printed = sandbox
        .succeed("score --qrels qrels --run run -m RR -m map --per-query --format trec_eval");
    assert_eq!(
        printed,
        "map                   \tq1\t0.5833\nrecip_rank            \tq1\t0.5000\n\
         map                   \tq2\t1.0000\nrecip_rank            \tq2\t1.0000\n\
         map                   \tall\t0.7917\nrecip_rank            \tall\t0.7500\n"
    );
    let printed = sandbox.succeed("score --qrels qrels --run run -m RR -m map --per-query");
    assert_eq!(
        printed,
        "query      RR      AP\n─────────────────────\nq1     0.5000  0.5833\nq2     1.0000  1.0000\nall    0.7500  0.7917\n"
    );
    let printed = sandbox.succeed("score --qrels qrels --run run -m RR -m num_ret");
    assert_eq!(
        printed,
        "measure     all\n───────────────\nRR       0.7500\nNumRet        4\nqueries       2\n"
    );
}

const QRELS: &str = "q1 0 a 1\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\n";

#[test]
fn score_reads_json_csv_gzip_zstd_and_stdin() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", QRELS);
    let run = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 a 1 1 t\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(run.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    std::fs::write(sandbox.work().join("run.gz"), packed).unwrap();
    sandbox.write(
        "run.json",
        r#"{"q1": {"b": 3, "a": 2, "c": 1}, "q2": {"a": 1}}"#,
    );
    sandbox.write(
        "run.csv",
        "query-id,corpus-id,score\nq1,b,3\nq1,a,2\nq1,c,1\nq2,a,1\n",
    );
    for file in ["run.gz", "run.json", "run.csv"] {
        let line = format!("score --qrels qrels --run {file} -m RR --format csv");
        let expected = format!("run,query,measure,value\n{file},all,RR,0.75\n");
        assert_eq!(sandbox.succeed(&line), expected);
    }
    let message = sandbox.refuse("score --qrels - --run -");
    assert!(
        message.contains("`-` can stand for one file only"),
        "{message}"
    );
}

#[test]
fn score_compares_several_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", QRELS);
    sandbox.write("a.trec", "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 a 1 1 t\n");
    sandbox.write("b.trec", "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 a 1 1 t\n");
    let printed = sandbox.succeed("score --qrels qrels --run a.trec --run b.trec -m RR -m P@1");
    assert!(
        printed.starts_with(
            "run         RR       P@1  queries\n\
             a.trec  0.7500    0.5000        2\n\
             b.trec  1.0000 ★  1.0000 ★      2\n"
        ) || printed.contains("1.0000 ★"),
        "{printed}"
    );
    assert!(printed.contains("Changes from a.trec\n"), "{printed}");
    assert!(printed.contains("+0.2500"), "{printed}");
    let json = sandbox.succeed(
        "score --qrels qrels --run a.trec --run b.trec -m RR --format json --baseline best",
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["baseline"], "b.trec");
    assert_eq!(json["runs"][0]["all"]["RR"], 0.75);
    assert_eq!(json["changes"][0]["change"]["difference"], -0.25);
    // t = -1 with one degree of freedom.
    let p_value = json["changes"][0]["p_value_holm"].as_f64().unwrap();
    assert!((p_value - 0.5).abs() < 1e-9, "{p_value}");
}

#[test]
fn score_refuses_what_it_cannot_score() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", QRELS);
    sandbox.write("twice", "q1 Q0 a 1 3 t\nq1 Q0 a 2 2 t\n");
    sandbox.write("other", "x Q0 a 1 3 t\n");
    for (line, expected) in [
        (
            "--run twice",
            "line 2: document `a` is listed a second time for query `q1`, first on line 1",
        ),
        ("--run other", "no query has both judgements and rankings"),
        ("--run other -m BLEU", "unknown measure `BLEU`"),
        ("--run other --relevance-level 0", "has to be at least 1"),
        (
            "--run other --run twice --format trec_eval",
            "prints one run",
        ),
    ] {
        let message = sandbox.refuse(&format!("score --qrels qrels {line}"));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn fuse_writes_a_run_that_score_reads() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", QRELS);
    sandbox.write("a.trec", "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 a 1 1 t\n");
    sandbox.write("b.trec", "q1 Q0 c 1 3 t\nq1 Q0 a 2 2 t\n");
    let printed = sandbox.succeed("fuse --run a.trec --run b.trec");
    assert_eq!(
        printed,
        "q1 Q0 a 1 0.032258064 rrf\nq1 Q0 c 2 0.016393442 rrf\nq1 Q0 b 3 0.016393442 rrf\n\
         q2 Q0 a 1 0.016393442 rrf\n"
    );
    sandbox.succeed(
        "fuse --run a.trec --run b.trec --method combsum --depth 1 --weights 1,2 -o fused.trec",
    );
    let fused = std::fs::read_to_string(sandbox.work().join("fused.trec")).unwrap();
    assert_eq!(fused, "q1 Q0 c 1 2.0 combsum\nq2 Q0 a 1 0.0 combsum\n");
    let scored = sandbox.succeed("score --qrels qrels --run fused.trec -m RR --format csv");
    assert!(scored.ends_with("all,RR,1.0\n"), "{scored}");
    let message = sandbox.refuse("fuse --run a.trec");
    assert!(message.contains("one run cannot be fused"), "{message}");
}

#[test]
fn score_uses_singular_and_plural() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq2 0 a 1\nq3 0 a 0\n");
    sandbox.write(
        "run",
        "q1 Q0 a 1 1 t\nq3 Q0 a 1 1 t\nq8 Q0 a 1 1 t\nq9 Q0 a 1 1 t\n",
    );
    let ended = sandbox.run("score --qrels qrels --run run --measure mrr@5");
    assert_eq!(
        ended.stderr,
        "warning: 2 queries of the run have no judgements and are skipped, the first is `q8`\n\
         warning: query `q2` has judgements but is missing from the run and is skipped (--complete counts it as 0)\n\
         warning: 1 query without relevant documents counts as 0, as in trec_eval\n"
    );
    assert!(ended.stdout.contains("\nRR@5 "), "{}", ended.stdout);
}

#[test]
fn score_names_the_malformed_line() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q1 0 a 1\nq1 0 b\n");
    sandbox.write("run", "q1 Q0 b 1 3 t\n");
    let message = sandbox.refuse("score --qrels qrels --run run");
    assert!(
        message.starts_with("error: `qrels` does not hold judgements in a form that can be read")
            && message.contains("caused by: line 2: expected 4 fields"),
        "{message}"
    );
    let message = sandbox.refuse("score --qrels missing --run run");
    assert!(
        message.starts_with("error: cannot read `missing`\n"),
        "{message}"
    );
}

#[test]
fn an_unknown_run_is_an_error_and_an_empty_list_is_not() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run("runs");
    assert_eq!((listed.code, listed.stdout.as_str()), (Some(0), ""));
    assert!(
        sandbox
            .refuse("runs show latest")
            .starts_with("error: there are no runs in ")
    );
    assert!(
        sandbox
            .refuse("report nope --out a.md")
            .starts_with("error: no run `nope` in ")
    );
}

#[test]
fn a_closed_pipe_is_a_normal_end() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command("config schema")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_closed_pipe_does_not_stop_the_work() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("sample --limit 5 --out report.csv");
    command.stdout(std::process::Stdio::piped());
    let mut process = command.spawn().unwrap();
    drop(process.stdout.take());
    assert!(process.wait().unwrap().success());
    for name in ["report.csv", "report.qa.csv"] {
        assert!(sandbox.work().join(name).is_file(), "no `{name}`");
    }
}
