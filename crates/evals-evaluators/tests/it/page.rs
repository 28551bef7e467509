//! The page `docs/evaluators.md` describes the registry as it is, and its examples load.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use evals::{Case, Context, Outcome};
use evals_evaluators::{DatasetFile, Entry, FileFormat, Loaded, Registry, Resources};
use serde_json::json;
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../../docs/evaluators.md");

/// The section below the heading of each evaluator.
fn sections() -> Vec<(&'static str, &'static str)> {
    let parts = PAGE.split("\n### ").skip(1);
    parts
        .map(|part| {
            let (name, rest) = part.split_once('\n').unwrap();
            (name, rest.split("\n## ").next().unwrap())
        })
        .collect()
}

/// The YAML examples of a text.
fn examples(text: &str) -> Vec<String> {
    let blocks = text.split("```yaml\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

/// The table of an evaluator's arguments.
fn table(entry: &Entry) -> String {
    let parameters = entry.signature().parameters();
    let mut table = String::new();
    if !parameters.is_empty() {
        table += "| argument | default | meaning |\n|---|---|---|\n";
    }
    for parameter in parameters {
        let default = parameter.default.as_ref();
        let default =
            default.map_or_else(|| "required".to_owned(), |default| format!("`{default}`"));
        let meaning = parameter.description;
        writeln!(table, "| `{}` | {default} | {meaning} |", parameter.name).unwrap();
    }
    table
}

fn load(example: &str) -> Loaded {
    let text = format!("cases: [{{inputs: why}}]\n{example}");
    let path = Path::new("example.yaml");
    let loaded = DatasetFile::read(
        &text,
        FileFormat::Yaml,
        path,
        &Registry::built_in(),
        &Resources::default(),
    );
    loaded.unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

#[test]
fn every_evaluator_has_a_section() {
    let described: Vec<&str> = sections().into_iter().map(|(name, _)| name).collect();
    let registry = Registry::built_in();
    let registered: BTreeSet<&str> = registry.entries().iter().map(Entry::name).collect();
    assert_eq!(
        described.iter().copied().collect::<BTreeSet<_>>(),
        registered
    );
    assert_eq!(described.len(), registered.len(), "a section comes twice");
}

#[test]
fn sections_have_the_description_and_the_arguments_of_the_registry() {
    let registry = Registry::built_in();
    for (name, section) in sections() {
        let entry = registry.entry(name).unwrap();
        let expected = format!("\n{}\n\n{}", entry.description(), table(entry));
        assert!(
            section.starts_with(&expected),
            "`{name}` should begin with\n{expected}"
        );
        let rows = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
        assert_eq!(
            rows(section),
            rows(&expected),
            "`{name}` has further arguments"
        );
    }
}

#[test]
fn examples_load_and_name_their_evaluator() {
    let intro = examples(PAGE.split("\n### ").next().unwrap());
    assert_eq!(intro.len(), 1);
    assert_eq!(load(&intro[0]).file.evaluators.len(), 5);
    for (name, section) in sections() {
        let examples = examples(section);
        assert!(!examples.is_empty(), "`{name}` has no example");
        for example in examples {
            let file = load(&example).file;
            let named = file.evaluators.iter().chain(&file.report_evaluators);
            let named: BTreeSet<&str> = named
                .map(|evaluator| evaluator.spec.name.as_str())
                .collect();
            assert_eq!(named, BTreeSet::from([name]), "{example}");
        }
    }
}

#[tokio::test]
async fn the_command_of_exec_judges() {
    let mut python = Command::new("python3");
    python.arg("--version").stdout(Stdio::null());
    if !python.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: `python3` is not installed");
        return;
    }
    let (_, section) = PAGE.split_once("\n### Exec\n").unwrap();
    let (_, script) = section.split_once("```python\n").unwrap();
    let (script, _) = script.split_once("```").unwrap();
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("grade.py"), script).unwrap();
    let text = format!("cases: [{{inputs: why}}]\n{}", examples(section)[0]);
    let path = folder.path().join("cases.yaml");
    std::fs::write(&path, text).unwrap();
    let resources = Resources::default();
    let loaded = DatasetFile::open(&path, &Registry::built_in(), &resources).unwrap();
    let case = Case::new("q1", json!("why"));
    for (output, passes, reason) in [
        ("so", true, "2 letters"),
        (&"so".repeat(50), false, "100 letters"),
    ] {
        let output = json!(output);
        let context = Context::new(&case, &output);
        let judged = loaded.dataset.evaluators()[0]
            .evaluate(&context)
            .await
            .unwrap();
        assert_eq!(
            judged,
            [Outcome::assertion("graded", passes).because(reason)]
        );
    }
    resources.workers.close().await;
}
