//! Labels: exported, filled in and imported, stale after another judge, and safe from processes that write at once or are killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::eval::judging::{judged, polite_judge, with_judge};
use crate::qa_server;
use crate::sandbox::{Sandbox, ended, json, wait_for};
use crate::viewer::Viewer;

const QUESTIONS: usize = 20;

/// A run of question answering, judged by word overlap.
fn sandbox() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    sandbox.succeed(&format!(
        "sample --skip-retrieval --profile bm25 --limit {QUESTIONS}"
    ));
    let run = sandbox.runs()[0].clone();
    (sandbox, run)
}

/// The judge's verdicts by case, as the report holds them.
pub(crate) fn verdicts(run: &Path) -> BTreeMap<String, bool> {
    let report = json(&run.join("report.json"));
    let cases = report["cases"].as_array().unwrap().iter();
    cases
        .filter_map(|case| {
            let outcomes = case["outcomes"].as_array().unwrap();
            let judged = outcomes.iter().find(|it| it["name"] == "equivalent")?;
            let passed = judged["value"]["assertion"].as_bool()?;
            Some((case["id"].as_str().unwrap().to_owned(), passed))
        })
        .collect()
}

/// The rows of an exported file by title, and its text.
fn rows(sandbox: &Sandbox, file: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(sandbox.work().join(file)).unwrap();
    let titles: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let records = reader.records().map(Result::unwrap);
    records
        .map(|record| {
            let cells = record.iter().map(str::to_owned);
            titles.iter().cloned().zip(cells).collect()
        })
        .collect()
}

/// Fills in the column of the verdict.
pub(crate) fn fill(sandbox: &Sandbox, file: &str, verdict: impl Fn(&str) -> &'static str) {
    let path = sandbox.work().join(file);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let titles = reader.headers().unwrap().clone();
    let column = |title: &str| titles.iter().position(|it| it == title).unwrap();
    let (id, filled) = (column("case_id"), column("verdict"));
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&path).unwrap();
    writer.write_record(&titles).unwrap();
    for record in records {
        let cells = record.iter().enumerate().map(|(column, cell)| {
            if column == filled {
                verdict(&record[id])
            } else {
                cell
            }
        });
        writer.write_record(cells.collect::<Vec<&str>>()).unwrap();
    }
    writer.flush().unwrap();
}

fn annotations(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("annotations.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line.get("label").is_some())
        .collect()
}

#[test]
fn labels_travel_through_a_spreadsheet() {
    let (sandbox, run) = sandbox();
    let before = fs::read(run.join("report.json")).unwrap();
    let empty = sandbox.succeed("labels latest");
    assert!(empty.contains("no labels yet"), "{empty}");
    assert!(
        !run.join("annotations.jsonl").exists(),
        "looking writes nothing"
    );

    sandbox.succeed("labels latest --export all.csv --seed 5");
    let all = rows(&sandbox, "all.csv");
    let verdicts = verdicts(&run);
    assert_eq!(all.len(), verdicts.len());
    assert!(!all[0].contains_key("judge_verdict"));
    assert!(
        all.iter()
            .all(|row| row["verdict"].is_empty() && !row["question"].is_empty())
    );
    sandbox.succeed("labels latest --export again.csv --seed 5");
    let read = |file| fs::read(sandbox.work().join(file)).unwrap();
    assert_eq!(read("all.csv"), read("again.csv"), "the same bytes");

    // Ada contradicts the judge once in each direction, and cannot say once.
    let of = |wanted: bool| {
        verdicts
            .iter()
            .filter(move |(_, passed)| **passed == wanted)
    };
    let (false_pass, false_fail) = (of(true).next().unwrap().0, of(false).next().unwrap().0);
    let unclear = of(false).nth(1).unwrap().0;
    fill(&sandbox, "all.csv", |id| match id {
        id if id == unclear => "cannot say",
        id if id == false_pass => "fail",
        id if id == false_fail => "pass",
        id if verdicts[id] => "pass",
        _ => "fail",
    });
    let imported = sandbox.run("labels latest --import all.csv --labeller ada");
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let n = verdicts.len();
    assert!(
        imported.stderr.contains(&format!(
            "added {n} labels; 0 already known, 0 without a verdict"
        )),
        "{}",
        imported.stderr
    );
    assert_eq!(annotations(&run).len(), n);

    let (passes, fails) = (of(true).count(), of(false).count());
    let shown = sandbox.succeed("labels latest");
    assert_eq!(shown, imported.stdout);
    let row = |title: &str| {
        let line = shown.lines().find(|line| line.starts_with(title));
        let words = line
            .unwrap_or_else(|| panic!("{title}: {shown}"))
            .split_whitespace();
        words.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(
        row("ada passes")[2..],
        [(passes - 1).to_string(), "1".to_owned()]
    );
    assert_eq!(
        row("ada fails")[2..],
        ["1".to_owned(), (fails - 2).to_string()]
    );
    let share = |part: usize, whole: usize| {
        let [part, whole] = [part, whole].map(|n| f64::from(u32::try_from(n).unwrap()));
        format!("{:.4}", part / whole)
    };
    assert_eq!(row("statistic")[3..6], ["95", "%", "interval"]);
    assert_eq!(row("agreement")[1], share(n - 3, n - 1));
    assert_eq!(row("TPR")[1], share(passes - 1, passes));

    let again = sandbox.run("labels latest --import all.csv --labeller ada");
    assert!(
        again
            .stderr
            .contains(&format!("added 0 labels; {n} already known")),
        "{}",
        again.stderr
    );
    assert_eq!(annotations(&run).len(), n, "a second import adds nothing");
    assert_eq!(fs::read(run.join("report.json")).unwrap(), before);

    let ben = sandbox.run("labels latest --import all.csv --labeller ben");
    assert!(ben.stdout.contains("ben passes"), "{}", ben.stdout);
    assert_eq!(annotations(&run).len(), 2 * n);
}

#[test]
fn an_export_never_replaces_a_file_and_an_import_takes_all_or_nothing() {
    let (sandbox, run) = sandbox();
    sandbox.succeed("labels latest --export some.csv --sample 4 --stratified --seed 1");
    assert_eq!(rows(&sandbox, "some.csv").len(), 4);
    let kept = sandbox.refuse("labels latest --export some.csv");
    assert!(kept.contains("`some.csv` exists"), "{kept}");
    let empty = sandbox.refuse("labels latest --import some.csv --labeller ada");
    assert!(
        empty.contains("no row of `some.csv` has a verdict"),
        "{empty}"
    );

    let last = rows(&sandbox, "some.csv")[3]["case_id"].clone();
    fill(&sandbox, "some.csv", |id| {
        if id == last { "perhaps" } else { "pass" }
    });
    let wrong = sandbox.refuse("labels latest --import some.csv --labeller ada");
    assert!(
        wrong.contains("`perhaps` is not a verdict; write `pass`, `fail` or `cannot say`"),
        "{wrong}"
    );
    assert!(wrong.contains("column 9 (`verdict`)"), "{wrong}");
    assert!(!run.join("annotations.jsonl").exists());

    let unknown = fs::read_to_string(sandbox.work().join("some.csv")).unwrap();
    sandbox.write(
        "some.csv",
        unknown.replace("perhaps", "pass").replace(&last, "nobody"),
    );
    let wrong = sandbox.refuse("labels latest --import some.csv --labeller ada");
    assert!(wrong.contains("has no answer to case `nobody`"), "{wrong}");
    let nameless = sandbox.refuse("labels latest --import some.csv");
    assert!(nameless.contains("pass `--labeller NAME`"), "{nameless}");
}

#[test]
fn a_file_with_the_judges_verdicts_is_marked() {
    let (sandbox, run) = sandbox();
    let ended = sandbox.run("labels latest --export seen.csv --with-verdicts");
    assert!(ended.stderr.contains("not blind"), "{}", ended.stderr);
    assert!(
        rows(&sandbox, "seen.csv")
            .iter()
            .all(|row| !row["judge_verdict"].is_empty())
    );
    fill(&sandbox, "seen.csv", |_| "pass");
    let shown = sandbox.succeed("labels latest --import seen.csv --labeller ada");
    assert!(
        shown.contains("not blind: the judge's verdict had been shown"),
        "{shown}"
    );
    assert!(
        annotations(&run)
            .iter()
            .all(|line| line["label"]["blind"] == false)
    );
}

#[test]
fn labels_of_another_judge_are_stale_until_they_are_carried_over() {
    let (sandbox, first) = sandbox();
    sandbox.succeed("labels latest --export blind.csv");
    fill(&sandbox, "blind.csv", |_| "pass");
    let n = rows(&sandbox, "blind.csv").len();
    sandbox.succeed("labels latest --import blind.csv --labeller ada");

    let server = qa_server::right(Duration::ZERO);
    sandbox.write("settings.yaml", qa_server::settings(&server).to_string());
    let name = first.file_name().unwrap().to_str().unwrap();
    let again = ended(&mut qa_server::with_settings(
        &sandbox,
        &format!("rejudge {name}"),
    ));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let [_, second] = sandbox.runs().try_into().unwrap();
    assert!(!second.join("annotations.jsonl").exists());

    fs::copy(
        first.join("annotations.jsonl"),
        second.join("annotations.jsonl"),
    )
    .unwrap();
    let second_name = second.file_name().unwrap().to_str().unwrap();
    let stale = sandbox.succeed(&format!("labels {second_name}"));
    assert!(
        stale.contains(&format!(
            "labels: {n} stale, not counted: a different judge"
        )),
        "{stale}"
    );
    assert!(!stale.contains("ada passes"), "{stale}");

    sandbox.succeed(&format!("labels {name} --export carried.csv --with-labels"));
    let carried = sandbox.succeed(&format!("labels {second_name} --import carried.csv"));
    assert!(!carried.contains("stale"), "{carried}");
    assert!(carried.contains("ada passes"), "{carried}");
}

#[test]
fn a_changed_answer_is_refused_and_makes_its_label_stale() {
    let (sandbox, run) = sandbox();
    sandbox.succeed("labels latest --export blind.csv");
    fill(&sandbox, "blind.csv", |_| "fail");
    sandbox.succeed("labels latest --import blind.csv --labeller ada");
    let path = run.join("report.json");
    let mut report = json(&path);
    let case = &mut report["cases"][3];
    let id = case["id"].as_str().unwrap().to_owned();
    case["result"]["output"]["text"] = "Another answer.".into();
    fs::write(&path, report.to_string()).unwrap();
    let shown = sandbox.succeed("labels latest");
    assert!(
        shown.contains("labels: 1 stale, not counted: the answer has changed"),
        "{shown}"
    );
    let refused = sandbox.refuse("labels latest --import blind.csv --labeller ben");
    assert!(
        refused.contains("the answer has changed since the export"),
        "{refused}"
    );
    let line = rows(&sandbox, "blind.csv")
        .iter()
        .position(|row| row["case_id"] == id)
        .unwrap();
    assert_eq!(
        refused.matches("column 13 (`digest`)").count(),
        1,
        "{refused} {line}"
    );
}

/// Writes a file with many labels of one person, and starts to import it.
fn importing(sandbox: &Sandbox, labeller: &str) -> Child {
    let line = format!("labels latest --import many.csv --labeller {labeller}");
    let mut command = sandbox.command(&line);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn processes_that_write_at_once_or_are_killed_lose_nothing() {
    let (sandbox, run) = sandbox();
    let path = run.join("annotations.jsonl");
    sandbox.succeed("labels latest --export many.csv");
    fill(&sandbox, "many.csv", |_| "pass");
    let n = rows(&sandbox, "many.csv").len();

    let names = ["ada", "ben", "cleo"];
    let children: Vec<Child> = names.map(|name| importing(&sandbox, name)).into();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(annotations(&run).len(), names.len() * n);

    // A killed process leaves whole lines and at most one that is cut. Whoever imports the file again adds what is missing.
    for attempt in 0..6 {
        let length = || fs::metadata(&path).unwrap().len();
        let before = length();
        let mut child = importing(&sandbox, &format!("killed{attempt}"));
        wait_for("a label", || length() > before);
        thread::sleep(Duration::from_micros(attempt * 50));
        child.kill().unwrap();
        child.wait().unwrap();
        sandbox.succeed(&format!(
            "labels latest --import many.csv --labeller killed{attempt}"
        ));
    }
    let shown = sandbox.succeed("labels latest");
    assert!(!shown.contains("damaged"), "{shown}");
    for name in ["ada", "ben", "cleo", "killed0", "killed5"] {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(
            words[1..],
            [n.to_string().as_str(), "0", "0", "0"],
            "{line}"
        );
    }

    // A line cut in the middle, as a power failure or a full disk leaves it.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 40]).unwrap();
    let repaired = sandbox.run("labels latest --import many.csv --labeller killed5");
    assert!(
        repaired.stderr.contains("added 1 label;"),
        "{}",
        repaired.stderr
    );
}

#[test]
fn outputs_of_a_dataset_file_are_labelled_by_the_judges_rubric() {
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    judged(&sandbox, "");
    sandbox.succeed("labels latest --export outputs.csv");
    let outputs = rows(&sandbox, "outputs.csv");
    assert!(
        outputs
            .iter()
            .all(|row| row["criterion"] == "The output is polite.")
    );
    fill(&sandbox, "outputs.csv", |id| {
        if id == "a" { "pass" } else { "fail" }
    });
    let shown = sandbox.succeed("labels latest --import outputs.csv --labeller ada");
    assert!(
        shown.contains("`LLMJudge` by openai:judge: 1 passed, 1 failed"),
        "{shown}"
    );
    assert!(shown.contains("agreement"), "{shown}");
    let unknown = sandbox.refuse("labels latest --measure politeness");
    assert!(
        unknown.contains("no measure `politeness`") && unknown.contains("`LLMJudge`"),
        "{unknown}"
    );
}

#[test]
fn several_judges_are_labelled_apart() {
    let server = polite_judge();
    let sandbox = Sandbox::new();
    with_judge(&sandbox, &server);
    let judges = "- LLMJudge: {rubric: The output is polite., assertion: {evaluation_name: polite}}\n\
                  - LLMJudge: {rubric: The output is short., assertion: {evaluation_name: short}}\n";
    let cases =
        "name: judged\ncases:\n- {name: a, inputs: x}\n- {name: b, inputs: y}\nevaluators:\n";
    sandbox.write("judged.yaml", format!("{cases}{judges}"));
    judged(&sandbox, "");
    let refused = sandbox.refuse("labels latest --export outputs.csv");
    assert!(
        refused.contains("several judges; choose one with `--measure`: `polite`, `short`"),
        "{refused}"
    );
    sandbox.succeed("labels latest --measure short --export outputs.csv");
    let outputs = rows(&sandbox, "outputs.csv");
    assert!(
        outputs
            .iter()
            .all(|row| row["criterion"] == "The output is short.")
    );
    fill(&sandbox, "outputs.csv", |_| "pass");
    let shown =
        sandbox.succeed("labels latest --measure short --import outputs.csv --labeller ada");
    assert!(shown.contains("ada passes"), "{shown}");
    let other = sandbox.succeed("labels latest --measure polite");
    assert!(
        other.contains("2 of other measures than `polite`, not counted"),
        "{other}"
    );

    let viewer = Viewer::start(&mut sandbox.command("view --no-open"));
    let run = sandbox.runs()[0].clone();
    let name = run.file_name().unwrap().to_str().unwrap();
    let page = viewer.get(&format!("/run/{name}/label")).body;
    assert!(
        page.contains("for <code>polite</code>") && page.contains("measure=short"),
        "{page}"
    );
    let page = viewer.get(&format!("/run/{name}/label?measure=short")).body;
    assert!(page.contains("for <code>short</code>"), "{page}");
}

#[test]
fn a_run_without_a_judge_has_labels_and_no_agreement() {
    let sandbox = Sandbox::new();
    sandbox.write("checked.yaml", "name: checked\ncases:\n- {name: a, inputs: x}\nevaluators:\n- Contains: {value: thank, case_sensitive: false}\n");
    sandbox.write(
        "outputs.jsonl",
        "{\"id\": \"a\", \"answer\": \"Thank you.\"}\n",
    );
    sandbox.succeed("eval checked.yaml --target outputs:outputs.jsonl --no-progress");
    let refused = sandbox.refuse("labels latest --export s.csv --stratified");
    assert!(
        refused.contains("`--stratified` draws answers by the judge's verdict"),
        "{refused}"
    );
    sandbox.succeed("labels latest --export outputs.csv");
    fill(&sandbox, "outputs.csv", |_| "pass");
    let shown = sandbox.succeed("labels latest --import outputs.csv --labeller ada");
    assert!(
        shown.contains("the run has no judge, so agreement with one is undefined"),
        "{shown}"
    );
    assert!(shown.lines().any(|line| line.starts_with("ada")), "{shown}");

    let compared = sandbox.succeed("labels latest --measure Contains");
    assert!(
        compared.contains("1 of other measures than `Contains`, not counted"),
        "{compared}"
    );
}

#[test]
fn rankings_have_nothing_to_label() {
    let sandbox = Sandbox::new();
    sandbox.succeed("sample --skip-qa --profile bm25 --limit 3");
    let refused = sandbox.refuse("labels latest");
    assert!(
        refused.contains("is a retrieval run; labels are verdicts about answers"),
        "{refused}"
    );
    let report = sandbox.runs()[0].join("report.json");
    let lone = sandbox.write("lone.json", fs::read(report).unwrap());
    let refused = sandbox.refuse(&format!("labels {}", lone.display()));
    assert!(
        refused.contains("pass the run's folder instead"),
        "{refused}"
    );
}

#[test]
fn labels_in_a_terminal_are_gone_and_the_error_names_what_to_use() {
    let message = Sandbox::new().refuse("labels latest --in-terminal --labeller ada");
    for part in [
        "there is no `--in-terminal` any more",
        "`evaluations view RUN`",
        "--export FILE.csv`",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn options_of_an_export_or_an_import_need_one() {
    for line in ["labels latest --sample 3", "labels latest --labeller ada"] {
        let message = Sandbox::new().refuse(line);
        assert!(message.contains("required arguments"), "{message}");
    }
}
