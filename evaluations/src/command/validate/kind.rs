//! Which kind of file a file is, by its name and by what it contains.

use std::path::Path;

use evals_evaluators::FileFormat;
use evals_yaml::{Content, yaml11};

/// A kind of file that can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) fn of(path: &Path, text: &str) -> Kind {
    match FileFormat::of(path) {
        Some(FileFormat::Yaml) => yaml(path, text),
        Some(format) => Kind::Dataset(format),
        None => trec(text),
    }
}

fn yaml(path: &Path, text: &str) -> Kind {
    let named = |name: &str| path.file_stem().is_some_and(|stem| stem == name);
    if named("target") {
        return Kind::Target;
    }
    match yaml11::read(text) {
        Ok(document) if !matches!(document.root.content, Content::Mapping(_)) => {
            Kind::NoMapping(document.root.kind())
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

fn of_keys(text: &str, has: impl Fn(&str) -> bool) -> Kind {
    if OF_DATASETS.into_iter().any(&has) {
        Kind::Dataset(FileFormat::Yaml)
    } else if has("documents") || has("questions") || has("source") {
        Kind::Manifest
    } else if has("address") {
        Kind::Target
    } else if has("name") || names_dataset_schema(text) {
        Kind::Dataset(FileFormat::Yaml)
    } else {
        Kind::Settings
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
fn trec(text: &str) -> Kind {
    let mut lines = text.split(['\n', '\r']).map(|line| {
        line.trim_start_matches('\u{feff}')
            .split_whitespace()
            .count()
    });
    match lines.find(|fields| *fields > 0) {
        Some(4) => Kind::Qrels,
        Some(6) => Kind::Run,
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_keys_tell_the_kind() {
        let kind = |name: &str, text: &str| of(Path::new(name), text);
        let dataset = Kind::Dataset(FileFormat::Yaml);
        for (name, text, wanted) in [
            ("a.yaml", "cases: []", dataset),
            ("a.yml", "name: a\ndocuments: {}\n", Kind::Manifest),
            ("a.yaml", "search: {limit: 3}", Kind::Settings),
            ("a.yaml", "a: [", Kind::Settings),
            ("a.yaml", "name: d\ncases:\n- inputs: \"a\"b\n", dataset),
            ("a.yaml", "documents: {\n", Kind::Manifest),
            ("a.yaml", "casesof: [", Kind::Settings),
            ("a.yaml", "evaluators: [Equals: 1]", dataset),
            ("a.yaml", "name: a", dataset),
            (
                "a.yaml",
                "# yaml-language-server: $schema=a_schema.json\nx: 1",
                dataset,
            ),
            ("a.yaml", "- inputs: 1", Kind::NoMapping("a list")),
            ("a.yaml", "# nothing", Kind::NoMapping("null")),
            ("target.yaml", "cases: []", Kind::Target),
            ("a.yaml", "address: http://localhost", Kind::Target),
            ("a.CSV", "", Kind::Dataset(FileFormat::Csv)),
            ("a.jsonl", "", Kind::Dataset(FileFormat::JsonLines)),
            ("qrels.trec", "\nq1 0 d1 1\n", Kind::Qrels),
            ("run.txt", "q1 Q0 d1 1 2.5 tag", Kind::Run),
            ("a.txt", "some text", Kind::Unknown),
            ("a", "", Kind::Unknown),
        ] {
            assert_eq!(kind(name, text), wanted, "{name}: {text}");
        }
    }
}
