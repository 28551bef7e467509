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

/// The arguments that a table lists for several evaluators.
fn shared() -> BTreeSet<&'static str> {
    let (intro, parts) = PAGE.split_once("\n### ").unwrap();
    let after_sections = parts
        .split("\n### ")
        .filter_map(|part| part.split_once("\n## "));
    let tables = after_sections.map(|(_, between)| between);
    std::iter::once(intro)
        .chain(tables)
        .flat_map(str::lines)
        .filter(|line| line.starts_with("| `"))
        .collect()
}

/// The list of an evaluator's own arguments, and the names of those that it shares.
fn arguments(entry: &Entry) -> (String, Vec<&'static str>) {
    let shared = shared();
    let (mut own, mut names) = (String::new(), Vec::new());
    for parameter in entry.signature().parameters() {
        let (name, meaning) = (parameter.name, parameter.description);
        let default = parameter.default.as_ref();
        let default =
            default.map_or_else(|| "required".to_owned(), |default| format!("`{default}`"));
        if shared.contains(format!("| `{name}` | {default} | {meaning} |").as_str()) {
            names.push(name);
        } else {
            let default = default.replacen('`', "default `", 1);
            writeln!(own, "- `{name}`, {default}: {meaning}").unwrap();
        }
    }
    (own, names)
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
        let (own, _) = arguments(entry);
        let expected = format!("{}\n\n{own}", entry.description());
        let expected = expected.trim_end();
        assert!(
            section.trim_start().starts_with(expected),
            "`{name}` should begin with\n{expected}"
        );
        let listed = |text: &str| {
            let is_argument = |line: &&str| {
                line.starts_with("- `")
                    && (line.contains("`, required: ") || line.contains("`, default `"))
            };
            text.lines().filter(is_argument).count()
        };
        assert_eq!(
            listed(section),
            listed(expected),
            "`{name}` has further arguments"
        );
    }
}

#[test]
fn shared_arguments_are_named_in_the_section_or_above_its_group() {
    let registry = Registry::built_in();
    for group in PAGE.split("\n## ") {
        let mut parts = group.split("\n### ");
        let above = parts.next().unwrap();
        for part in parts {
            let (name, section) = part.split_once('\n').unwrap();
            let (_, shared) = arguments(registry.entry(name).unwrap());
            for argument in shared {
                let written = format!("`{argument}`");
                assert!(
                    above.contains(&written) || section.contains(&written),
                    "`{name}` does not name {written}"
                );
            }
        }
    }
}

#[test]
fn examples_load_and_name_their_evaluator() {
    let intro = examples(PAGE.split("\n### ").next().unwrap());
    assert_eq!(intro.len(), 1);
    assert_eq!(load(&intro[0]).file.evaluators.len(), 5);
    for (name, section) in sections() {
        for example in examples(section) {
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
