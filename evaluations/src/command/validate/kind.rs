//! Which kind of file a file is, by its name and by what it contains.

use std::path::Path;

use evals_evaluators::FileFormat;
use evals_yaml::{Content, yaml11};

/// A kind of file that can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Cases and evaluators.
    Dataset(FileFormat),
    /// A manifest, which says where documents and questions are.
    Manifest,
    /// The settings of the program.
    Settings,
    /// The settings of a target.
    Target,
    /// Judgements in TREC format.
    Qrels,
    /// Rankings in TREC format.
    Run,
    /// YAML whose root is no mapping: the kind of value that it is.
    NoMapping(&'static str),
    /// None of these.
    Unknown,
}

/// The keys that only a dataset file has.
const OF_DATASETS: [&str; 3] = ["cases", "evaluators", "report_evaluators"];

/// Tells the kind of a file. A YAML file without telling keys counts as settings.
pub(super) fn of(path: &Path, text: &str) -> FileKind {
    match FileFormat::of(path) {
        Some(FileFormat::Yaml) => yaml(path, text),
        Some(format) => FileKind::Dataset(format),
        None => trec(text),
    }
}

fn yaml(path: &Path, text: &str) -> FileKind {
    let named = |name: &str| path.file_stem().is_some_and(|stem| stem == name);
    if named("target") {
        return FileKind::Target;
    }
    match yaml11::read(text) {
        Ok(document) if !matches!(document.root.content, Content::Mapping(_)) => {
            FileKind::NoMapping(document.root.kind())
        }
        Ok(document) => of_keys(text, |key| document.root.member(key).is_some()),
        Err(_) => of_keys(text, |key| begins_a_line(text, key)),
    }
}

/// Whether a line begins with this key: the best guess at the keys of a file that cannot be parsed.
fn begins_a_line(text: &str, key: &str) -> bool {
    let mut after = text.lines().filter_map(|line| line.strip_prefix(key));
    after.any(|rest| rest.trim_start().starts_with(':'))
}

fn of_keys(text: &str, has: impl Fn(&str) -> bool) -> FileKind {
    if OF_DATASETS.into_iter().any(&has) {
        FileKind::Dataset(FileFormat::Yaml)
    } else if has("documents") || has("questions") || has("source") {
        FileKind::Manifest
    } else if has("address") {
        FileKind::Target
    } else if has("name") || names_dataset_schema(text) {
        FileKind::Dataset(FileFormat::Yaml)
    } else {
        FileKind::Settings
    }
}

/// Whether the first line names the schema that `config schema --dataset` and pydantic-evals write beside a dataset file.
fn names_dataset_schema(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with('#')
        && first.contains("$schema=")
        && first.trim_end().ends_with("_schema.json")
}

/// Tells judgements and rankings apart by the number of fields of the first line.
fn trec(text: &str) -> FileKind {
    let mut lines = text.split(['\n', '\r']).map(|line| {
        line.trim_start_matches('\u{feff}')
            .split_whitespace()
            .count()
    });
    match lines.find(|fields| *fields > 0) {
        Some(4) => FileKind::Qrels,
        Some(6) => FileKind::Run,
        _ => FileKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_tell_the_kind() {
        let kind = |name: &str, text: &str| of(Path::new(name), text);
        let dataset = FileKind::Dataset(FileFormat::Yaml);
        for (name, text, wanted) in [
            ("a.yaml", "cases: []", dataset),
            ("a.yml", "name: a\ndocuments: {}\n", FileKind::Manifest),
            ("a.yaml", "search: {limit: 3}", FileKind::Settings),
            ("a.yaml", "a: [", FileKind::Settings),
            ("a.yaml", "name: d\ncases:\n- inputs: \"a\"b\n", dataset),
            ("a.yaml", "documents: {\n", FileKind::Manifest),
            ("a.yaml", "casesof: [", FileKind::Settings),
            ("a.yaml", "evaluators: [Equals: 1]", dataset),
            ("a.yaml", "name: a", dataset),
            (
                "a.yaml",
                "# yaml-language-server: $schema=a_schema.json\nx: 1",
                dataset,
            ),
            ("a.yaml", "- inputs: 1", FileKind::NoMapping("a list")),
            ("a.yaml", "# nothing", FileKind::NoMapping("null")),
            ("target.yaml", "cases: []", FileKind::Target),
            ("a.yaml", "address: http://localhost", FileKind::Target),
            ("a.CSV", "", FileKind::Dataset(FileFormat::Csv)),
            ("a.jsonl", "", FileKind::Dataset(FileFormat::JsonLines)),
            ("qrels.trec", "\nq1 0 d1 1\n", FileKind::Qrels),
            ("run.txt", "q1 Q0 d1 1 2.5 tag", FileKind::Run),
            ("a.txt", "some text", FileKind::Unknown),
            ("a", "", FileKind::Unknown),
        ] {
            assert_eq!(kind(name, text), wanted, "{name}: {text}");
        }
    }
}
