//! Calibrations: labels of people against the verdicts of a judge, and the pass rates that they correct.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::docs::{blocks, page};
use crate::labels::{fill, verdicts};
use crate::sandbox::{Sandbox, ended, json as read_json, unwrapped};
use crate::viewer::Viewer;

const CASES: usize = 400;

/// How often the judge passes what people pass, and what they fail.
const PASSES_GOOD: f64 = 0.9;
const PASSES_BAD: f64 = 0.25;

/// A generator of random numbers from 0 to 1 (Knuth's MMIX constants), so that the data are the same on every machine.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / 4_294_967_296.0
    }
}

/// A run whose truth is known, and its truth by case.
struct KnownRun {
    truth: BTreeMap<String, bool>,
}

impl KnownRun {
    /// Runs `CASES` cases, of which people pass a share of about `good`, under a name. The judge compares with the expected output.
    fn of(sandbox: &Sandbox, name: &str, good: f64, seed: u64) -> Self {
        Self::judged(sandbox, name, good, PASSES_BAD, seed)
    }

    /// The same, by a judge that passes this share of what people fail.
    fn judged(sandbox: &Sandbox, name: &str, good: f64, passes_bad: f64, seed: u64) -> Self {
        let mut draws = Draws(seed);
        let mut truth = BTreeMap::new();
        let (mut file, mut outputs) = ("name: known\ncases:\n".to_owned(), String::new());
        for number in 0..CASES {
            let is_good = draws.next() < good;
            let passes = draws.next() < if is_good { PASSES_GOOD } else { passes_bad };
            let id = format!("c{number}");
            writeln!(
                file,
                "  - {{name: {id}, inputs: q{number}, expected_output: right}}"
            )
            .unwrap();
            let answer = if passes { "right" } else { "wrong" };
            writeln!(outputs, "{}", json!({"id": id, "answer": answer})).unwrap();
            truth.insert(id, is_good);
        }
        file.push_str("evaluators:\n  - EqualsExpected\n");
        sandbox.write("known.yaml", file);
        sandbox.write(&format!("{name}.jsonl"), outputs);
        sandbox.succeed(&format!(
            "eval known.yaml --target outputs:{name}.jsonl --name {name}"
        ));
        Self { truth }
    }

    fn rate(&self) -> f64 {
        let good = self.truth.values().filter(|good| **good).count();
        f64::from(u32::try_from(good).unwrap()) / f64::from(u32::try_from(CASES).unwrap())
    }

    /// Exports a sample and labels it by the truth.
    fn labelled(&self, sandbox: &Sandbox, name: &str, options: &str) -> String {
        let file = format!("labels-{name}-{}.csv", options.replace([' ', '-'], ""));
        sandbox.succeed(&format!(
            "labels {name} --measure EqualsExpected --export {file} {options}"
        ));
        fill(
            sandbox,
            &file,
            |id| if self.truth[id] { "pass" } else { "fail" },
        );
        file
    }
}

/// A run before a change, and one after it that people find no better and the judge does.
fn flattered(sandbox: &Sandbox) -> [KnownRun; 2] {
    [
        KnownRun::of(sandbox, "before", 0.5, 7),
        KnownRun::judged(sandbox, "after", 0.5, 0.6, 8),
    ]
}

/// Labels both runs by the truth, with the labels beside them.
fn label(sandbox: &Sandbox, runs: &[KnownRun; 2], options: &str) {
    for (run, name) in runs.iter().zip(["before", "after"]) {
        let file = run.labelled(sandbox, name, options);
        sandbox.succeed(&format!(
            "labels {name} --measure EqualsExpected --import {file} --labeller ada"
        ));
    }
}

#[test]
fn a_change_that_people_do_not_see_is_corrected_and_warned_of() {
    let sandbox = Sandbox::new();
    let runs = flattered(&sandbox);
    let truth = runs[1].rate() - runs[0].rate();
    let before = ended(&mut sandbox.command("compare before after"));
    assert!(
        unwrapped(&before.stdout).contains("better") && !before.stdout.contains("by people"),
        "{}",
        before.stdout
    );

    label(&sandbox, &runs, "--sample 120");
    let compared = ended(&mut sandbox.command("compare before after --out change.json"));
    let printed = unwrapped(&compared.stdout);
    assert!(printed.contains("EqualsExpected by people: "), "{printed}");
    assert!(
        printed.contains("unclear (PPI++, labels of 120 questions in both runs)"),
        "{printed}"
    );
    let warning =
        "people's labels do not bear out the judge, whose verdict on the change is `better`";
    assert!(
        unwrapped(&compared.stderr).contains(warning),
        "{}",
        compared.stderr
    );
    let by_people = &read_json(&sandbox.work().join("change.json"))["by_people"][0];
    assert_eq!(
        (&by_people["judge"], &by_people["people"]),
        (&json!("better"), &json!("unclear"))
    );
    let interval = &by_people["corrected"]["interval"];
    let [low, high] = ["low", "high"].map(|end| interval[end].as_f64().unwrap());
    assert!(low <= truth && truth <= high, "{by_people} {truth}");

    let gated = ended(&mut sandbox.command(
        "gate after --baseline before --max-drop EqualsExpected=0.05 --out gate.json --out gate.md",
    ));
    assert_eq!(gated.code, Some(0), "{}{}", gated.stdout, gated.stderr);
    assert!(
        unwrapped(&gated.stdout).contains(warning),
        "{}",
        gated.stdout
    );
    assert!(
        unwrapped(&gated.stderr).contains(warning),
        "{}",
        gated.stderr
    );
    let markdown = fs::read_to_string(sandbox.work().join("gate.md")).unwrap();
    assert!(markdown.contains("by people"), "{markdown}");
    let report = read_json(&sandbox.work().join("gate.json"));
    assert_eq!(report["runs"][0]["by_people"][0]["people"], "unclear");
}

#[test]
fn a_change_is_not_corrected_by_few_or_picked_labels_and_the_reason_is_said() {
    let sandbox = Sandbox::new();
    let runs = flattered(&sandbox);
    label(&sandbox, &runs, "--sample 10");
    let few = unwrapped(&sandbox.succeed("compare before after"));
    assert!(
        few.contains(
            "EqualsExpected by people: not corrected: 10 questions with labels in both runs are fewer than the 20"
        ),
        "{few}"
    );
    label(&sandbox, &runs, "--sample 100 --stratified");
    let stratified = unwrapped(&sandbox.succeed("compare before after"));
    assert!(
        stratified.contains(
            "were drawn by verdict; label a random sample of the same questions in both runs"
        ),
        "{stratified}"
    );
}

#[test]
fn the_only_measure_of_a_run_without_a_judge_is_calibrated() {
    let sandbox = Sandbox::new();
    let run = KnownRun::of(&sandbox, "first", 0.5, 7);
    let labels = run.labelled(&sandbox, "first", "--sample 120");
    let named =
        format!("calibrate first --measure EqualsExpected --labels {labels} --labeller ada");
    let unnamed = format!("calibrate first --labels {labels} --labeller ada");
    assert_eq!(sandbox.succeed(&unnamed), sandbox.succeed(&named));
}

/// The value and the interval of a row of the printed table.
fn row(printed: &str, name: &str) -> (f64, f64, f64) {
    let line = printed.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no `{name}` in {printed}"));
    let mut numbers = line[name.len()..]
        .split([' ', '[', ']', ','])
        .filter_map(|word| word.parse::<f64>().ok());
    let mut next = || numbers.next().unwrap();
    (next(), next(), next())
}

fn kept(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.data().join("calibrations");
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The seeds are fixed, so the number of intervals that contain the truth is too.
#[test]
fn corrected_rates_contain_the_known_truth_where_the_rate_as_judged_does_not() {
    let sandbox = Sandbox::new();
    let run = KnownRun::of(&sandbox, "first", 0.5, 7);
    let other = KnownRun::of(&sandbox, "second", 0.75, 8);
    let truth = run.rate();
    let mut covered = BTreeMap::new();
    for seed in 0..20 {
        let options = if seed % 2 == 0 {
            format!("--sample 120 --seed {seed}")
        } else {
            format!("--sample 120 --seed {seed} --stratified")
        };
        let labels = run.labelled(&sandbox, "first", &options);
        let printed = sandbox.succeed(&format!(
            "calibrate first --measure EqualsExpected --labels {labels} --labeller ada"
        ));
        let judged = row(&printed, "as judged");
        assert!(
            judged.1 > truth,
            "the judge is too kind: {judged:?}, {truth}"
        );
        let mut count = |name: &'static str, (_, low, high): (f64, f64, f64), truth: f64| {
            *covered.entry(name).or_insert(0) += u32::from(low <= truth && truth <= high);
        };
        count("own", row(&printed, "corrected (double sampling)"), truth);
        count("rates", row(&printed, "corrected (Rogan-Gladen)"), truth);
        if seed % 2 == 0 {
            count("predicted", row(&printed, "corrected (PPI++)"), truth);
        } else {
            let undefined = printed
                .lines()
                .find(|line| line.starts_with("corrected (PPI++) "));
            assert!(undefined.unwrap().ends_with(" –"), "{printed}");
        }
        let shown = sandbox.succeed("calibrate second --with Equals");
        count(
            "other",
            row(&shown, "corrected (Rogan-Gladen)"),
            other.rate(),
        );
    }
    assert_eq!(
        kept(&sandbox).len(),
        1,
        "each calibration replaces the one before"
    );
    assert!(
        covered["own"] >= 18 && covered["rates"] >= 18,
        "{covered:?}"
    );
    assert!(
        covered["predicted"] >= 9 && covered["other"] >= 18,
        "{covered:?}"
    );
}

#[test]
fn a_kept_calibration_is_shown_with_every_run_of_its_judge() {
    let sandbox = Sandbox::new();
    let run = KnownRun::of(&sandbox, "first", 0.5, 7);
    let labels = run.labelled(&sandbox, "first", "--sample 120");
    let before = sandbox.succeed("runs show first");
    assert!(!before.contains("corrected"), "{before}");
    let calibrate = format!(
        "calibrate first --measure EqualsExpected --labels {labels} --labeller ada --out kept.json"
    );
    let printed = sandbox.succeed(&calibrate);
    let files = kept(&sandbox);
    let bytes = fs::read(&files[0]).unwrap();
    assert_eq!(fs::read(sandbox.work().join("kept.json")).unwrap(), bytes);
    assert_eq!(sandbox.succeed(&calibrate), printed);
    assert_eq!(
        fs::read(&files[0]).unwrap(),
        bytes,
        "the same labels, the same bytes"
    );
    let id = read_json(&files[0])["id"].as_str().unwrap().to_owned();

    let corrected = row(&printed, "corrected (double sampling)");
    let shown = sandbox.succeed("runs show first");
    assert_eq!(row(&shown, "corrected (double sampling)"), corrected);
    assert!(shown.contains(&id), "{shown}");
    sandbox.succeed("report first --out first.md --out first.html --out first.json");
    let read = |name: &str| fs::read_to_string(sandbox.work().join(name)).unwrap();
    let value = format!("{:.4}", corrected.0);
    for name in ["first.md", "first.html"] {
        assert!(
            read(name).contains(&value) && read(name).contains(&id),
            "{name}"
        );
    }
    assert!(
        !read("first.json").contains(&id),
        "a report holds results only"
    );

    // A run that ends later has it in its own files.
    KnownRun::of(&sandbox, "second", 0.75, 8);
    let second = sandbox.runs().pop().unwrap();
    let report = fs::read_to_string(second.join("report.md")).unwrap();
    assert!(report.contains("corrected (Rogan-Gladen)"), "{report}");
    let page = fs::read_to_string(second.join("report.html")).unwrap();
    assert!(page.contains("corrected (Rogan-Gladen)"));
    let compared = sandbox.succeed("compare first second");
    assert!(
        compared.contains("before: `EqualsExpected` corrected:"),
        "{compared}"
    );
    assert!(
        compared.contains("after: `EqualsExpected` corrected:"),
        "{compared}"
    );

    // The viewer shows it too, and stops when it is deleted.
    let viewer = Viewer::start(&mut sandbox.command("view --no-open --port 0"));
    let second = second.file_name().unwrap().to_string_lossy().into_owned();
    let address = format!("/run/{second}");
    let shown = viewer.get(&address).body;
    assert!(shown.contains("corrected (Rogan-Gladen)"));

    let listed = sandbox.succeed("calibrate --list");
    assert!(listed.contains(&id) && listed.contains("ada"), "{listed}");
    sandbox.succeed(&format!("calibrate --delete {id}"));
    assert!(kept(&sandbox).is_empty());
    assert!(!viewer.get(&address).body.contains("corrected (Rogan"));
    assert!(!sandbox.succeed("runs show first").contains("corrected"));
    let of_file = sandbox.succeed("calibrate first --with kept.json");
    assert_eq!(row(&of_file, "corrected (double sampling)"), corrected);
}

#[test]
fn a_damaged_calibration_is_named_and_left_out_of_every_report() {
    let sandbox = Sandbox::new();
    let run = KnownRun::of(&sandbox, "first", 0.5, 7);
    let labels = run.labelled(&sandbox, "first", "--sample 120");
    sandbox.succeed(&format!(
        "calibrate first --measure EqualsExpected --labels {labels} --labeller ada"
    ));
    let sound = &kept(&sandbox)[0];
    let text = fs::read_to_string(sound).unwrap();
    let damaged = sound.with_file_name("damaged.json");
    let count = text.find("\"true_passes\": ").unwrap() + "\"true_passes\": ".len();
    let digits = text[count..].find(',').unwrap();
    let (start, end) = (&text[..count], &text[count + digits..]);
    for content in [
        format!("{start}18446744073709551615{end}"),
        format!("{start}4294967296{end}"),
        format!("{start}-1{end}"),
        text.replace("\"not_blind\": 0", "\"not_blind\": 18446744073709551615"),
        text.replace("\"passes\": ", "\"passes\": 99999999999"),
        text[..text.len() / 2].to_owned(),
        "[".repeat(100_000),
        String::new(),
    ] {
        fs::write(&damaged, content).unwrap();
        for line in ["runs show first", "report first --out first.html"] {
            let shown = sandbox.run(line);
            assert_eq!(shown.code, Some(0), "{line}: {}", shown.stderr);
            assert!(!shown.stderr.contains("panicked"), "{}", shown.stderr);
            let named = "warning: left out a calibration: ";
            assert!(shown.stderr.contains(named), "{}", shown.stderr);
            assert!(shown.stderr.contains("damaged.json`"), "{}", shown.stderr);
        }
        let shown = sandbox.succeed("runs show first");
        assert!(shown.contains("corrected (double sampling)"), "{shown}");
    }
    fs::write(&damaged, format!("{start}18446744073709551615{end}")).unwrap();
    KnownRun::of(&sandbox, "second", 0.75, 8);
}

#[test]
fn labels_that_cannot_calibrate_are_refused_and_nothing_is_kept() {
    let sandbox = Sandbox::new();
    let run = KnownRun::of(&sandbox, "first", 0.5, 7);
    let calibrate = "calibrate first --measure EqualsExpected --labeller ada --labels";
    let none = sandbox.refuse("calibrate first --measure EqualsExpected");
    assert!(none.contains("has no labels"), "{none}");
    let few = run.labelled(&sandbox, "first", "--sample 19");
    let few = sandbox.refuse(&format!("{calibrate} {few}"));
    assert!(
        few.contains("19 answers") && few.contains("at least 20"),
        "{few}"
    );

    // Rows about other answers are left out and named; with none left, nothing is calibrated.
    let labels = run.labelled(&sandbox, "first", "--sample 60");
    let text = fs::read_to_string(sandbox.work().join(&labels)).unwrap();
    let changed: String = text
        .lines()
        .enumerate()
        .map(|(number, line)| match number {
            1 => line.replacen('c', "unknown", 1) + "\n",
            2 => line[..line.len() - 4].to_owned() + "0000\n",
            _ => line.to_owned() + "\n",
        })
        .collect();
    sandbox.write("changed.csv", &changed);
    let printed = sandbox.succeed(&format!("{calibrate} changed.csv"));
    assert!(printed.contains("labels of ada: 58 answers"), "{printed}");
    assert!(printed.contains("1 label left out, because the run has no such answer: `unknown"));
    assert!(printed.contains("1 label left out, because the answer has changed: `c"));
    sandbox.succeed("calibrate --delete Equals");
    sandbox.write("gone.csv", text.replace("sha-", "sha-0"));
    let gone = sandbox.refuse(&format!("{calibrate} gone.csv"));
    assert!(
        gone.contains("60 labels left out, because the answer has changed"),
        "{gone}"
    );
    sandbox.write(
        "empty.csv",
        text.replace(",pass,", ",,").replace(",fail,", ",,"),
    );
    let empty = sandbox.refuse(&format!("{calibrate} empty.csv"));
    assert!(
        empty.contains("no row of `empty.csv` has a verdict"),
        "{empty}"
    );

    // Two people who disagree about the first answer.
    let named = text.replace(",,random", ",ada,random");
    let first = named.lines().nth(1).unwrap().replace(",ada,", ",ben,");
    let opposite = if first.contains(",pass,") {
        first.replace(",pass,", ",fail,")
    } else {
        first.replace(",fail,", ",pass,")
    };
    sandbox.write("two.csv", format!("{named}{opposite}\n"));
    let everybody = "calibrate first --measure EqualsExpected --labels two.csv";
    let divided = sandbox.refuse(everybody);
    assert!(
        divided.contains("people disagree about 1 answer"),
        "{divided}"
    );
    assert!(
        divided.contains("the judge agrees with ben about"),
        "{divided}"
    );
    let ada = sandbox.succeed(&format!("{everybody} --labeller ada"));
    assert!(ada.contains("labels of ada: 60 answers"), "{ada}");
    let majority = sandbox.succeed(&format!("{everybody} --majority"));
    assert!(
        majority.contains("labels of ada, ben: 59 answers"),
        "{majority}"
    );
    assert!(
        majority.contains("people are divided equally"),
        "{majority}"
    );
    for line in [
        "calibrate first --with nowhere",
        "calibrate --delete nowhere",
    ] {
        let unknown = sandbox.refuse(line);
        assert!(
            unknown.contains("there is no calibration `nowhere`"),
            "{unknown}"
        );
    }
    sandbox.write("no.json", "{}");
    let damaged = sandbox.refuse("calibrate first --with no.json");
    assert!(
        damaged.contains("`no.json` is not a calibration"),
        "{damaged}"
    );
}

#[test]
fn a_calibration_of_another_judge_or_dataset_is_refused_with_the_difference() {
    let sandbox = Sandbox::new();
    let run = KnownRun::of(&sandbox, "first", 0.5, 7);
    let labels = run.labelled(&sandbox, "first", "--sample 120");
    sandbox.succeed(&format!(
        "calibrate first --measure EqualsExpected --labels {labels} --labeller ada --out kept.json"
    ));
    let kept = read_json(&sandbox.work().join("kept.json"));
    let other = fs::read_to_string(sandbox.work().join("known.yaml")).unwrap();
    sandbox.write("other.yaml", other.replace("inputs: q7,", "inputs: other,"));
    sandbox.succeed("eval other.yaml --target outputs:first.jsonl --name other");
    let refused = sandbox.refuse("calibrate other --with Equals");
    assert!(
        refused.contains("other data (dataset files: other content)"),
        "{refused}"
    );
    assert!(refused.contains("`--other-data`"), "{refused}");
    let accepted = sandbox.succeed("calibrate other --with Equals --other-data");
    assert!(
        accepted.contains("accepted with `--other-data`"),
        "{accepted}"
    );

    let edited = |change: &dyn Fn(&mut Value)| {
        let mut kept = kept.clone();
        change(&mut kept);
        sandbox.write("edited.json", kept.to_string());
        sandbox.refuse("calibrate first --with edited.json")
    };
    let judge = edited(&|kept| kept["judge"]["measure"] = "Contains".into());
    assert!(judge.contains("`id` does not fit"), "{judge}");
    let version = edited(&|kept| kept["schema_version"] = 1.into());
    assert!(version.contains("has schema version 1"), "{version}");
}

/// Ada's labels are drawn here: the judge passes good answers and fails bad ones at known rates.
#[test]
fn the_example_of_the_guide_prints_what_the_page_shows_and_finds_the_truth() {
    let guide = page("docs/calibration.md");
    let commands = blocks(&guide, "bash").swap_remove(0);
    let commands: Vec<&str> = commands
        .lines()
        .map(|line| line.strip_prefix("evaluations ").unwrap())
        .collect();
    let [run, export, calibrate] = commands.as_slice() else {
        panic!("{commands:?}");
    };
    let sandbox = Sandbox::new();
    sandbox.succeed(run);
    let mut draws = Draws(1);
    let truth: BTreeMap<String, bool> = verdicts(&sandbox.runs()[0])
        .into_iter()
        .map(|(id, passed)| (id, draws.next() < if passed { 0.92 } else { 0.25 }))
        .collect();
    sandbox.succeed(export);
    fill(&sandbox, "labels.csv", |id| {
        if truth[id] { "pass" } else { "fail" }
    });
    let printed = sandbox.succeed(calibrate);

    let narrow = ended(sandbox.command(calibrate).env("COLUMNS", "60")).stdout;
    for missing in ["no room for meaning; widen", "no room for n; widen"] {
        assert!(narrow.contains(missing), "{narrow}");
    }
    // The rule below the heads is as wide as its table. Texts of disagreements are cut only where they are very long.
    let (_, rates) = narrow.split_once("equivalent (pass rate)").unwrap();
    let rules = narrow.lines().filter(|line| line.starts_with('─'));
    for line in rules.chain(rates.lines()) {
        assert!(line.chars().count() <= 60, "{line}");
    }

    let good = truth.values().filter(|good| **good).count();
    let share = |n: usize| f64::from(u32::try_from(n).unwrap());
    let (all, share) = (truth.len(), share(good) / share(truth.len()));
    let (_, low, high) = row(&printed, "corrected (double sampling)");
    assert!(
        low <= share && share <= high,
        "{share} is not in [{low}, {high}]"
    );
    let (_, low, high) = row(&printed, "as judged");
    assert!(share < low || high < share, "{share} is in [{low}, {high}]");
    let said = format!("{:.1} % of all {all} answers", 100.0 * share);
    assert!(guide.contains(&said), "the guide does not say `{said}`");

    let id = read_json(&kept(&sandbox)[0])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let printed = printed.replace(&id, "equivalent-overlap-1a2b3c4d");
    let shown = blocks(&guide, "text").swap_remove(0);
    for part in shown.split("…\n") {
        assert!(
            printed.contains(part.trim_end()),
            "the page shows\n{part}\nand not\n{printed}"
        );
    }
}
