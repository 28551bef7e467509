//! Dataset files mean what they mean to pydantic-evals, and what is written here it reads.
//!
//! `tests/golden/dataset_files.py` makes the golden file by running that package.

use std::path::Path;

use evals::{Analysis, Dataset, EvaluatorOrigin, Experiment};
use evals_evaluators::{DatasetFile, FileFormat, Loaded, Problems, Registry, Resources, Untyped};
use serde::Deserialize;
use serde_json::{Value, json};

const GOLDEN: &str = include_str!("../golden/dataset_files/loads.json");
const SOURCE: &str = include_str!("../golden/dataset_files/source.yaml");
const WRITTEN_YAML: &str = include_str!("../golden/dataset_files/written.yaml");
const WRITTEN_JSON: &str = include_str!("../golden/dataset_files/written.json");

/// Differences that load here and not in pydantic-evals: dates are texts, and an array in JSON holds records. Numbers that JSON cannot hold
/// load there; the golden file has them as errors.
const DIFFERENCES: [&str; 2] = ["name: 2021-05-08\ncases: []\n", "[]"];

#[derive(Deserialize)]
struct Golden {
    written: Value,
    loads: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    format: Format,
    text: String,
    loaded: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Yaml,
    Json,
}

impl From<Format> for FileFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Yaml => Self::Yaml,
            Format::Json => Self::Json,
        }
    }
}

fn load(text: &str, format: impl Into<FileFormat>) -> Result<Loaded, Problems> {
    let path = Path::new("default.yaml");
    DatasetFile::read(
        text,
        format.into(),
        path,
        &Registry::built_in(),
        &Resources::default(),
    )
}

/// The contents of a file, with evaluators in the short form of the registry.
fn contents(file: &DatasetFile) -> Value {
    let text = file.to_json(&Registry::built_in(), None);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn files_load_as_in_pydantic_evals() {
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    assert!(golden.loads.len() > 90);
    let mut differences = Vec::new();
    for entry in &golden.loads {
        let loaded = load(&entry.text, entry.format);
        match (&entry.loaded, &loaded) {
            (Some(wanted), Ok(loaded)) => {
                assert_eq!(contents(&loaded.file), *wanted, "{}", entry.text);
            }
            (None, Err(_)) => {}
            (Some(_), Err(problems)) => panic!("{}: {problems}", entry.text),
            (None, Ok(_)) => differences.push(entry.text.as_str()),
        }
    }
    assert_eq!(differences, DIFFERENCES);
}

#[test]
fn what_is_written_is_what_pydantic_evals_reads() {
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    let registry = Registry::built_in();
    let schema = Some("written_schema.json");
    let file = load(SOURCE, FileFormat::Yaml).unwrap().file;
    assert_eq!(file.to_yaml(&registry, schema), WRITTEN_YAML);
    assert_eq!(file.to_json(&registry, schema), WRITTEN_JSON);
    assert_eq!(contents(&file), golden.written);
}

#[test]
fn loading_saving_and_loading_again_changes_nothing() {
    let registry = Registry::built_in();
    let file = load(SOURCE, FileFormat::Yaml).unwrap().file;
    let yaml = file.to_yaml(&registry, None);
    let json = file.to_json(&registry, None);
    for (text, format) in [(&yaml, FileFormat::Yaml), (&json, FileFormat::Json)] {
        let again = load(text, format).unwrap();
        assert_eq!(again.warnings, []);
        assert_eq!(again.file.to_yaml(&registry, None), yaml);
        assert_eq!(again.file.to_json(&registry, None), json);
        for (case, before) in again.file.cases.iter().zip(&file.cases) {
            assert_eq!(
                (&case.id, &case.inputs, &case.metadata, &case.expected),
                (
                    &before.id,
                    &before.inputs,
                    &before.metadata,
                    &before.expected
                )
            );
        }
    }
}

/// The problems of a file, without its name.
fn problems(text: &str) -> Vec<String> {
    let found = load(text, FileFormat::Yaml).unwrap_err();
    let lines = found.problems.iter();
    let lines = lines.map(|problem| problem.at(Path::new("f")));
    lines
        .map(|line| line.trim_start_matches("f:").to_owned())
        .collect()
}

#[test]
fn all_mistakes_are_reported_at_once_where_they_stand() {
    let text = "\
nmae: n
cases:
- name: a
  inputs: .nan
- name: a
  input: 2
  evaluators:
  - Equals: {a: 1}
  - Contians: x
  - Contains: {value: x, case_sensitiv: false}
  - IsInstance
  - {name: EqualsExpected}
  - {Equals: 1, Contains: 2}
  - {name: Equals, arguments: [1, 2]}
  - Python: {expression: x}
- 5
evaluators: null
report_evaluators:
- Equals: 1
";
    let wanted = [
        "1:1: a dataset file has no key `nmae`; did you mean `name`?",
        "4:11: `.nan` is not a finite number, and JSON, in which cases are sent and stored, has only finite ones; write `null`, or put it into quotes",
        "5:3: the case has no `inputs`; it may be null, but it has to be there",
        "5:9: duplicate case name `a`, which line 3 has too; rename one of them",
        "6:3: a case has no key `input`; did you mean `inputs`?",
        "8:14: `Equals` has no argument `a`; it has `value`, `evaluation_name`; a mapping holds arguments by name, so one that is the argument itself is written `Equals: {value: {…}}`",
        "9:5: no evaluator is called `Contians`; did you mean `Contains`?",
        "10:26: `Contains` has no argument `case_sensitiv`; did you mean `case_sensitive`?",
        "11:5: `IsInstance` needs the argument `type_name`",
        "12:6: no evaluator is called `name`; the long form needs `arguments` too: `{name: …, arguments: null}`",
        "13:17: one evaluator has the keys `Equals`, `Contains`; start a new list item for each evaluator, such as `- Contains: text`, or write `{name: …, arguments: …}`",
        "14:31: `arguments` is a list of 2; it is null, a list of one value, or a mapping of arguments by name",
        "15:5: no evaluator is called `Python`; pydantic-evals removed it, write an `Exec` evaluator instead",
        "16:3: a case is a number, where a mapping with the key `inputs` is needed",
        "17:13: `evaluators` is null; leave it out, or write `evaluators: []`",
        "19:3: `Equals` judges cases; name it under `evaluators`",
    ];
    assert_eq!(problems(text), wanted);
}

#[test]
fn an_unnamed_case_does_not_take_the_name_of_another() {
    let text = "cases:\n- {name: Case 2, inputs: 1}\n- {inputs: 2}\n- {name: '', inputs: 3}\n";
    let loaded = load(text, FileFormat::Yaml).unwrap();
    let ids: Vec<&str> = loaded
        .dataset
        .cases()
        .iter()
        .map(|case| case.id.as_str())
        .collect();
    assert_eq!(ids, ["Case 2", "Case 2 (2)", "Case 3"]);
    let warnings: Vec<String> = loaded
        .warnings
        .iter()
        .map(|warning| warning.at(Path::new("f")))
        .collect();
    assert_eq!(
        warnings,
        [
            "f:3:3: this unnamed case is called `Case 2 (2)`, because another case has the name `Case 2`"
        ]
    );
    assert_eq!(loaded.dataset.name(), "default");
}

#[test]
fn surprises_are_warnings() {
    let text = "cases:\n- inputs: {q: 1, q: 2}\n  evaluators:\n  - {name: Equals, arguments: [1], argument: 2}\n";
    let loaded = load(text, FileFormat::Yaml).unwrap();
    let warnings: Vec<String> = loaded
        .warnings
        .iter()
        .map(|warning| warning.at(Path::new("f")))
        .collect();
    assert_eq!(
        warnings,
        [
            "f:2:18: duplicate key `q`: this value replaces the one of line 2",
            "f:4:36: `argument` beside `name` and `arguments` has no effect",
        ]
    );
    assert_eq!(loaded.dataset.cases()[0].input, json!({"q": 2}));
}

#[test]
fn the_target_keeps_its_places() {
    let text = "cases: []\ntarget:\n  address: http://localhost\n  headers: {a: b}\n";
    let file = load(text, FileFormat::Yaml).unwrap().file;
    let target = file.target.as_ref().unwrap();
    assert_eq!(
        target.to_value(),
        json!({"address": "http://localhost", "headers": {"a": "b"}})
    );
    assert_eq!(
        target.member("headers").unwrap().key.place.to_string(),
        "4:3"
    );
    assert!(file.to_yaml(&Registry::built_in(), None).ends_with(
        "report_evaluators: []\ntarget:\n  address: http://localhost\n  headers:\n    a: b\n"
    ));
}

#[test]
fn a_wrong_setting_of_the_target_is_reported_at_its_key() {
    let text = "cases: 1\ntarget:\n  address: http://localhost\n  response: {anwser: $.text}\n";
    assert_eq!(
        problems(text),
        [
            "1:8: `cases` is a number, where a list is needed; without any, write `cases: []`",
            "4:14: `target.response.anwser`: unknown key; did you mean `answer`?",
        ]
    );
}

const OWN_EVALUATOR: &str = "
cases:
- {name: a, inputs: {text: ab, s: 9}}
- {name: b, inputs: {text: b, s: 1}}
- {name: c, inputs: {text: a, s: 0.5}, evaluators: [Contains: z]}
evaluators: [Contains: a]
report_evaluators:
- ROCAUCEvaluator: {score_key: s, score_from: metrics, positive_from: assertions, positive_key: Contains}
";

/// The area is that of pydantic-evals 2.62.0, where `Contains` of the case `c` is the case's own evaluator. Were it the file's,
/// `c` would be positive and the area 0.5.
#[tokio::test]
async fn report_evaluators_find_results_as_pydantic_evals_numbers_them() {
    let (registry, resources) = (Registry::built_in(), Resources::default());
    let path = Path::new("own.yaml");
    let file =
        DatasetFile::read(OWN_EVALUATOR, FileFormat::Yaml, path, &registry, &resources).unwrap();
    let experiment = Experiment::new(file.dataset, async |case, scope| {
        scope.metric("s", case.input["s"].as_f64().unwrap());
        Ok(case.input["text"].clone())
    });
    let report = experiment.run().await;
    let area = report.analyses.iter().find_map(|analysis| match analysis {
        Analysis::Scalar { value, .. } => *value,
        _ => None,
    });
    assert_eq!(area, Some(1.0));
    let names = report.cases[2].outcomes.iter();
    let names: Vec<_> = names
        .map(|outcome| (outcome.name.as_str(), outcome.origin))
        .collect();
    let (own, of_file) = (EvaluatorOrigin::Case(1), EvaluatorOrigin::Dataset(1));
    assert_eq!(names, [("Contains_2", own), ("Contains", of_file)]);
}

#[test]
fn a_file_that_was_read_gets_other_evaluators_without_its_text() {
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    let (registry, resources) = (Registry::built_in(), Resources::default());
    let path = Path::new("default.yaml");
    let read = golden.loads.iter();
    let read: Vec<Loaded> = read
        .filter_map(|entry| load(&entry.text, entry.format).ok())
        .collect();
    assert!(read.iter().any(|loaded| loaded.dataset.len() > 1));
    for Loaded { file, dataset, .. } in read {
        let again = file.clone().load(path, &registry, &resources).unwrap();
        assert_eq!(again.file, file);
        let evaluators = |dataset: &Dataset<Untyped>| {
            let own = dataset.cases().iter().map(|case| case.evaluators.len());
            let own: Vec<usize> = own.collect();
            (
                own,
                dataset.evaluators().len(),
                dataset.report_evaluators().len(),
            )
        };
        assert_eq!(evaluators(&again.dataset), evaluators(&dataset));
    }
}

fn mistakes(text: &str) -> Vec<String> {
    let (registry, resources) = (Registry::built_in(), Resources::default());
    let path = Path::new("f.yaml");
    let refused = DatasetFile::read(text, FileFormat::Yaml, path, &registry, &resources);
    let problems = refused.unwrap_err().problems.into_iter();
    problems.map(|problem| problem.message).collect()
}

#[test]
fn a_suggestion_is_an_evaluator_of_the_wanted_kind() {
    let own = "evaluators of your own are commands, named by `Exec`, or registered in Rust";
    let text = "
cases: [{inputs: 1}]
evaluators: [MockEvaluator, NotAnEvaluator: 1, ConfusionMatrix, MaxDurationEvaluator: 1]
report_evaluators: [ConfusionMatrix, EqualExpected]
";
    assert_eq!(
        mistakes(text),
        [
            format!("no evaluator is called `MockEvaluator`; {own}"),
            format!("no evaluator is called `NotAnEvaluator`; {own}"),
            format!("no evaluator is called `ConfusionMatrix`; {own}"),
            "no evaluator is called `MaxDurationEvaluator`; did you mean `MaxDuration`?".to_owned(),
            "no evaluator is called `ConfusionMatrix`; did you mean `ConfusionMatrixEvaluator`?"
                .to_owned(),
            "no evaluator is called `EqualExpected`; evaluators of your own are registered in Rust"
                .to_owned(),
        ]
    );
}

#[test]
fn a_refusal_is_told_once_and_without_a_form_that_does_not_fit() {
    let text = "
cases: [{inputs: 1}]
evaluators: [GEval: {criteria: c, evaluation_steps: [s], score_range: [5, 1]}]
report_evaluators: [ConfusionMatrixEvaluator: {labels: [a]}]
";
    let mistakes = mistakes(text);
    let [refused, unknown] = &mistakes[..] else {
        panic!("{mistakes:?}");
    };
    assert_eq!(refused.matches("score_range").count(), 1, "{refused}");
    assert!(refused.starts_with("`GEval`: "), "{refused}");
    assert!(unknown.contains("has no argument `labels`"), "{unknown}");
    assert!(!unknown.contains("a mapping holds"), "{unknown}");
}
