//! `runs trend`: how a measure moved over stored runs, where its level changed, and the files with the history.

use std::fmt::Write as _;
use std::fs;

use crate::sandbox::{Sandbox, json};

const CASES: usize = 50;

/// Runs the cases of a dataset file, of which the first `passing` pass.
fn run(sandbox: &Sandbox, dataset: &str, passing: usize) {
    let (mut file, mut outputs) = (format!("name: {dataset}\ncases:\n"), String::new());
    for number in 0..CASES {
        writeln!(
            file,
            "  - {{name: c{number}, inputs: q, expected_output: right}}"
        )
        .unwrap();
        let answer = if number < passing { "right" } else { "wrong" };
        writeln!(
            outputs,
            "{{\"id\": \"c{number}\", \"answer\": \"{answer}\"}}"
        )
        .unwrap();
    }
    file.push_str("evaluators:\n  - EqualsExpected\n");
    sandbox.write(&format!("{dataset}.yaml"), file);
    sandbox.write("answers.jsonl", outputs);
    sandbox.succeed(&format!(
        "eval {dataset}.yaml --target outputs:answers.jsonl --target-version v{passing}"
    ));
}

#[test]
fn a_step_in_a_measure_is_found_and_named_with_what_changed() {
    let sandbox = Sandbox::new();
    let error = sandbox.refuse("trend");
    assert!(error.contains("no finished run in"), "{error}");
    // The level falls from 0.8 to 0.6 with the seventh run.
    for passing in [40, 41, 39, 42, 40, 41, 30, 29, 31, 28, 30, 32] {
        run(&sandbox, "steady", passing);
    }
    run(&sandbox, "young", 25);
    let names: Vec<String> = sandbox
        .runs()
        .iter()
        .map(|run| run.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let printed = sandbox
        .succeed("trend --measure EqualsExpected --out t.csv --out t.json --out t.md --out t.html");
    let line = |dataset: &str| {
        let found = printed.lines().find(|line| line.starts_with(dataset));
        found.unwrap().split_whitespace().collect::<Vec<&str>>()
    };
    let steady = line("steady");
    assert_eq!(
        steady[5..10],
        ["EqualsExpected", "12", "0.8000", "0.6400", "-0.1600"]
    );
    let young = line("young");
    assert_eq!(
        young[5..10],
        ["EqualsExpected", "1", "0.5000", "0.5000", "–"]
    );
    assert_eq!(young[10..].join(" "), "– (fewer than 8 values)");
    let change = format!(
        "the level changed from 0.8100 to 0.6000 with run `{}` (p = 0.00",
        names[6]
    );
    assert!(printed.contains(&change), "{printed}");
    assert!(!printed.contains('▄'), "a pipe gets numbers only");

    let document = json(&sandbox.work().join("t.json"));
    let steady = &document["lines"][0];
    assert_eq!(steady["history"].as_array().unwrap().len(), 12);
    let changes = steady["level_changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["run"], names[6].as_str());
    assert!((changes[0]["before"].as_f64().unwrap() - 0.81).abs() < 1e-12);
    assert!(changes[0]["p_value"].as_f64().unwrap() < 0.05);
    assert!(document["lines"][1]["undefined"].is_string());

    let mut csv = csv::Reader::from_path(sandbox.work().join("t.csv")).unwrap();
    let titles = csv.headers().unwrap().clone();
    let column = |title: &str| titles.iter().position(|it| it == title).unwrap();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 13, "a row for each run");
    let values: Vec<&str> = rows.iter().map(|row| &row[column("value")]).collect();
    assert_eq!(values[..3], ["0.8", "0.82", "0.78"]);
    let marked = rows
        .iter()
        .filter(|row| !row[column("level_change_p")].is_empty());
    let marked: Vec<&str> = marked.map(|row| &row[column("run")]).collect();
    assert_eq!(marked, [names[6].as_str()]);
    // Markdown escapes the rest of the name.
    for file in ["t.md", "t.html"] {
        let text = fs::read_to_string(sandbox.work().join(file)).unwrap();
        assert!(
            text.contains(&names[6][..20]) && text.contains("0.6400"),
            "{file}"
        );
    }
}

#[test]
fn options_choose_runs_and_measures_and_narrow_terminals_drop_columns() {
    let sandbox = Sandbox::new();
    for (dataset, passing) in [("first", 40), ("second", 30), ("first", 20)] {
        run(&sandbox, dataset, passing);
    }
    let first = sandbox.succeed("trend --dataset first --since 2020-01-01");
    assert!(
        first.contains("first") && !first.contains("second"),
        "{first}"
    );
    let none = sandbox.refuse("trend --since 2999-01-01");
    assert!(none.contains("no finished run"), "{none}");
    let unknown = sandbox.refuse("trend --measure EqualExpected");
    assert!(
        unknown.contains("no run has the measure `EqualExpected`"),
        "{unknown}"
    );
    assert!(
        unknown.contains("did you mean `EqualsExpected`?"),
        "{unknown}"
    );
    let format = sandbox.refuse("trend --out trend.xlsx");
    assert!(
        format.contains("use a name that ends in .csv, .json, .md or .html"),
        "{format}"
    );
    let narrow = sandbox
        .command("trend")
        .env("COLUMNS", "60")
        .output()
        .unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.contains("no room for CASES, DATA"), "{narrow}");
    assert!(
        narrow
            .lines()
            .filter(|line| !line.starts_with("no room"))
            .all(|line| line.chars().count() <= 60),
        "{narrow}"
    );

    // Other questions under the same name make a line of their own.
    let file = fs::read_to_string(sandbox.work().join("first.yaml")).unwrap();
    sandbox.write("first.yaml", file.replace("name: c1,", "name: other,"));
    sandbox.succeed("eval first.yaml --target outputs:answers.jsonl --max-failures 50");
    let lines = sandbox.succeed("trend --dataset first");
    let lines = lines.lines().filter(|line| line.starts_with("first "));
    assert_eq!(lines.count(), 2);
}

#[test]
fn versions_of_a_target_are_points_of_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("documents.jsonl", "{\"id\": \"d\", \"text\": \"topic\"}\n");
    sandbox.write(
        "questions.jsonl",
        "{\"id\": 1, \"question\": \"topic\", \"relevant\": \"d\"}\n",
    );
    sandbox.write(
        "topic.yaml",
        "name: topic\n\
         documents: {source: {path: documents.jsonl}, uri: id, text: text}\n\
         questions: {source: {path: questions.jsonl}, id: id, text: question, relevant: relevant}\n\
         retrieval: {headline: RR, measures: []}\n",
    );
    sandbox.write("run.trec", "1 Q0 d 1 0.5 s\n");
    for version in ["2.0", "2.1", "2.2"] {
        sandbox.succeed(&format!(
            "topic.yaml --skip-qa --target trec:run.trec --target-version {version}"
        ));
    }
    let printed = sandbox.succeed("trend --out t.json --out t.md");
    let lines = printed.lines().filter(|line| line.starts_with("topic "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 1, "{printed}");
    assert!(lines[0].contains("run.trec  MRR      3 "), "{printed}");
    let document = json(&sandbox.work().join("t.json"));
    let history = document["lines"][0]["history"].as_array().unwrap();
    let of_runs = |member: &str| -> Vec<String> {
        let members = history.iter().map(|run| run[member].to_string());
        members.collect()
    };
    assert_eq!(of_runs("version"), ["\"2.0\"", "\"2.1\"", "\"2.2\""]);
    assert_eq!(
        of_runs("changed")[1..],
        [
            "[\"target.version: 2.0 -> 2.1\"]",
            "[\"target.version: 2.1 -> 2.2\"]"
        ]
    );
    let profile = sandbox.work().join("run.trec");
    let chosen = sandbox.succeed(&format!("trend --profile trec:{}", profile.display()));
    assert!(chosen.contains("MRR      3 "), "{chosen}");
}

#[test]
fn a_drop_of_the_newest_runs_fails() {
    let sandbox = Sandbox::new();
    let trend = |options: &str| {
        sandbox.run(&format!(
            "trend --measure EqualsExpected --window 4 {options}"
        ))
    };
    for passing in [40, 41, 39, 42, 30, 29, 31] {
        run(&sandbox, "steady", passing);
    }
    let few = trend("--fail-on-drop 5%");
    assert_eq!(few.code, Some(0), "{few:?}");
    assert!(
        few.stdout.contains(
            "cannot tell: EqualsExpected of steady, eval, outputs: 7 runs with a value, and two windows of 4 need 8"
        ),
        "{}",
        few.stdout
    );
    assert!(
        few.stderr.contains("too few to tell whether it dropped"),
        "{few:?}"
    );

    run(&sandbox, "steady", 28);
    let dropped = trend("--fail-on-drop 5% --out t.json");
    assert_eq!(dropped.code, Some(1), "{dropped:?}");
    assert!(
        dropped.stdout.contains(
            "failed: EqualsExpected of steady, eval, outputs: 0.8100 in 4 runs, 0.5900 in the 4 newest (-27.2 %, p = 0.0286): worse by \
             more than 5 %"
        ),
        "{}",
        dropped.stdout
    );
    let document = json(&sandbox.work().join("t.json"));
    assert_eq!(document["checks"][0]["verdict"], "failed");
    assert_eq!(trend("--fail-on-drop 0.5").code, Some(0));
    let refused = sandbox.refuse("trend --fail-on-drop 5% --window 3");
    assert!(refused.contains("4..=1000"), "{refused}");
}
