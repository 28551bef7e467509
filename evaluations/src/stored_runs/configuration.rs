//! The configuration of a run: every value of its manifest that its figures depend on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Parts of a manifest that the figures of any run depend on. The number of questions is not among them.
const PARTS: &[&str] = &[
    "benchmark",
    "profile",
    "filter",
    "k",
    "dataset.name",
    "dataset.provenance",
    "index.identity",
    "target.parameters",
    "settings.target.match",
    "models",
    "parameters",
    "prompts",
    "repeat",
    "settings.embeddings.model.dtype",
    "settings.embeddings.model.pooling",
    "settings.embeddings.model.max_tokens",
    "settings.embeddings.model.query_prefix",
    "settings.embeddings.model.document_prefix",
];

/// Further parts that the figures of answers depend on.
const OF_ANSWERS: &[&str] = &[
    "settings.qa.context_tokens",
    "settings.search.context_radius",
];

/// A further part that the figures of reranked results depend on.
const OF_RERANKING: &str = "settings.reranking";

/// The number of questions excluded from the measures because the corpus does not answer them. Earlier versions measured them, so
/// their runs exclude none. The number varies with `--limit`, so only its being zero or not belongs to the configuration.
const UNANSWERABLE: &str = "dataset.unanswerable";

/// Marks the configuration of a system under test, which has no index. Its name and version are part of the profile.
const IS_TARGET: &str = "target";

/// Parts that only our own pipeline has.
const OF_OUR_PIPELINE: &[&str] = &["index.", "settings.", "models.embedder", "models.reranker"];

/// Most differences listed in a row.
const LISTED: usize = 3;

/// Most characters of a value shown in a row.
const SHOWN: usize = 24;

/// The values that identify a configuration, by dotted paths into the manifest. Runs with equal configurations are repetitions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Configuration(BTreeMap<String, String>);

impl Configuration {
    pub(crate) fn of(manifest: &Value) -> Self {
        let mut values = BTreeMap::new();
        let mut parts = PARTS.to_vec();
        if manifest["benchmark"] == "qa" {
            parts.extend(OF_ANSWERS);
        }
        if !manifest["models"]["reranker"].is_null() {
            parts.push(OF_RERANKING);
        }
        for part in parts {
            let pointer = format!("/{}", part.replace('.', "/"));
            let value = manifest.pointer(&pointer).unwrap_or(&Value::Null);
            flatten(part, value, &mut values);
        }
        if manifest["dataset"]["unanswerable"].as_u64() > Some(0) {
            values.insert(UNANSWERABLE.to_owned(), "left out".to_owned());
        }
        if !manifest[IS_TARGET].is_null() {
            values.insert(IS_TARGET.to_owned(), "yes".to_owned());
            values.retain(|path, _| !path.starts_with("models.answerer."));
        }
        // The batch size changes no score.
        values.remove("settings.reranking.batch_size");
        Self(values)
    }

    /// The configuration without the dataset's digests and the treatment of unanswerable questions.
    pub(crate) fn without_data(&self) -> Self {
        let of_data = |path: &str| is_of_data(path) || path == UNANSWERABLE;
        let values = self.0.iter().filter(|(path, _)| !of_data(path));
        Self(
            values
                .map(|(path, value)| (path.clone(), value.clone()))
                .collect(),
        )
    }

    /// Whether two runs read the same files of the dataset.
    pub(crate) fn has_data_of(&self, other: &Self) -> bool {
        !self.differing(other).any(is_of_data)
    }

    /// Whether the measures exclude questions that the corpus does not answer.
    pub(crate) fn leaves_out_unanswerable(&self) -> bool {
        self.0.contains_key(UNANSWERABLE)
    }

    /// Describes how this configuration differs from `others`; empty if it does not. A difference in digests is described by the
    /// time `seen`.
    pub(crate) fn distinction<'c>(
        &self,
        others: impl Iterator<Item = &'c Self>,
        seen: &str,
    ) -> String {
        let mut paths = BTreeSet::new();
        for other in others {
            paths.extend(self.differing(other));
        }
        let paths = significant(&paths);
        let (contents, settings): (Vec<&str>, Vec<&str>) =
            paths.iter().partition(|path| self.is_content(path));
        let mut named: Vec<String> = settings
            .iter()
            .take(LISTED)
            .map(|path| format!("{}={}", shown(path), self.value(path)))
            .collect();
        if settings.len() > LISTED {
            named.push(format!("{} more", settings.len() - LISTED));
        }
        let contents: BTreeSet<&str> = contents.into_iter().map(content).collect();
        if !contents.is_empty() {
            let contents: Vec<&str> = contents.into_iter().collect();
            named.push(format!("{} as of {seen}", contents.join(" and ")));
        }
        named.join(", ")
    }

    /// Whether a value is a digest of files, which is meaningless to people.
    fn is_content(&self, path: &str) -> bool {
        is_of_data(path) || self.0.get(path).is_some_and(|value| is_digest(value))
    }

    fn differing<'c>(&'c self, other: &'c Self) -> impl Iterator<Item = &'c str> {
        let both = self.0.keys().chain(other.0.keys()).map(String::as_str);
        let crosses = self.is_target() != other.is_target();
        both.filter(|path| self.0.get(*path) != other.0.get(*path))
            // That only one side has an index goes without saying.
            .filter(move |path| !crosses || !is_of_one_side(path))
    }

    fn is_target(&self) -> bool {
        self.0.contains_key(IS_TARGET)
    }

    fn value(&self, path: &str) -> String {
        let absent = match path {
            UNANSWERABLE => "none left out",
            _ => "none",
        };
        short(self.0.get(path).map_or(absent, String::as_str))
    }
}

/// The differences of two configurations as `path: old -> new`.
pub(crate) fn differences(old: &Configuration, new: &Configuration) -> Vec<String> {
    let paths = old.differing(new).collect();
    let mut lines: Vec<String> = Vec::new();
    for path in significant(&paths) {
        let values = [old, new].map(|side| side.value(path));
        let line = if old.is_content(path) && new.is_content(path) {
            format!("{}: other content", content(path))
        } else {
            format!("{}: {} -> {}", shown(path), values[0], values[1])
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Whether a path says nothing about the difference of our own pipeline and a system under test.
fn is_of_one_side(path: &str) -> bool {
    let mut ours = OF_OUR_PIPELINE.iter();
    path == IS_TARGET || ours.any(|start| path.starts_with(start))
}

/// Whether a path leads to a digest of the dataset's files.
fn is_of_data(path: &str) -> bool {
    path.starts_with("dataset.provenance.") || path == "index.identity.dataset"
}

/// Names the content whose digest is at a path.
fn content(path: &str) -> &str {
    if is_of_data(path) {
        return "dataset files";
    }
    let path = path.strip_suffix(".digest").unwrap_or(path);
    let path = path.strip_prefix("prompts.").unwrap_or(path);
    shown(path)
}

/// Whether a value is a hash in hexadecimal.
fn is_digest(value: &str) -> bool {
    let digits = value.strip_prefix("sha256:").unwrap_or(value);
    digits.len() >= 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The paths without redundant ones. The index's embedder and the reranker's settings appear under `models` too, and a digest adds
/// nothing if the name or a setting of its model differs.
fn significant<'p>(paths: &BTreeSet<&'p str>) -> Vec<&'p str> {
    let any = |start: &str| paths.iter().any(|path| path.starts_with(start));
    let is_significant = |path: &&&str| {
        let settings = match **path {
            "models.embedder.digest" => "settings.embeddings.model.",
            "models.reranker.digest" => "settings.reranking.model.",
            _ => "",
        };
        let stated = !settings.is_empty() && any(settings);
        let named = path
            .strip_suffix(".digest")
            .is_some_and(|model| paths.contains(&*format!("{model}.name")));
        let twice = path.starts_with("index.identity.embedder.model")
            || matches!(
                **path,
                "settings.reranking.model.name" | "settings.reranking.model.provider"
            );
        !stated && !named && !twice
    };
    paths.iter().filter(is_significant).copied().collect()
}

fn shown(path: &str) -> &str {
    match path {
        UNANSWERABLE => "unanswerable questions",
        path => path.strip_prefix("settings.").unwrap_or(path),
    }
}

fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                flatten(&format!("{path}.{member}"), value, into);
            }
        }
        Value::Array(items) => {
            for (place, value) in items.iter().enumerate() {
                flatten(&format!("{path}[{place}]"), value, into);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            into.insert(path.to_owned(), text.clone());
        }
        other => {
            into.insert(path.to_owned(), json!(other).to_string());
        }
    }
}

fn short(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Value {
        json!({
            "benchmark": "retrieval", "profile": "bm25", "k": 5, "models": {"embedder": {"name": "m"}},
            "settings": {
                "search": {"context_radius": 0},
                "qa": {"context_tokens": 4096},
                "reranking": {"model": null, "candidates": 50, "batch_size": 32},
            },
        })
    }

    fn with(path: &str, value: Value) -> Value {
        let mut manifest = manifest();
        *manifest.pointer_mut(path).unwrap() = value;
        manifest
    }

    #[test]
    fn settings_that_a_benchmark_does_not_use_are_ignored() {
        let one = Configuration::of(&manifest());
        let radius = with("/settings/search/context_radius", json!(1));
        assert_eq!(one, Configuration::of(&radius));
        let candidates = with("/settings/reranking/candidates", json!(20));
        assert_eq!(one, Configuration::of(&candidates));
        assert_ne!(one, Configuration::of(&with("/k", json!(10))));
    }

    #[test]
    fn differing_settings_are_listed_with_their_values() {
        let answers = |radius: u32| {
            let mut manifest = with("/settings/search/context_radius", json!(radius));
            manifest["benchmark"] = "qa".into();
            Configuration::of(&manifest)
        };
        let (near, far) = (answers(0), answers(2));
        let seen = "2026-05-01 12:00:00";
        let names = |one: &Configuration, other| one.distinction([other].into_iter(), seen);
        assert_eq!(names(&near, &far), "search.context_radius=0");
        assert_eq!(names(&far, &near), "search.context_radius=2");
        assert_eq!(names(&far, &far), "");
        let mut other = manifest();
        other["benchmark"] = "qa".into();
        other["models"]["embedder"]["digest"] = "0123456789abcdef0123456789abcdef".into();
        other["settings"]["qa"]["context_tokens"] = 100.into();
        other["repeat"] = 3.into();
        other["filter"] = "x".into();
        assert_eq!(
            names(&Configuration::of(&other), &far),
            "filter=x, repeat=3, qa.context_tokens=100, 1 more, models.embedder as of 2026-05-01 12:00:00"
        );
    }

    #[test]
    fn a_target_and_our_pipeline_differ_in_their_profile() {
        let ours = Configuration::of(&manifest());
        let mut theirs = manifest();
        theirs.as_object_mut().unwrap().remove("index");
        theirs["models"] = json!({});
        theirs["profile"] = "http://localhost".into();
        theirs["target"] = json!({"kind": "http", "name": "http://localhost"});
        let theirs = Configuration::of(&theirs);
        assert_eq!(
            differences(&ours, &theirs),
            ["profile: bm25 -> http://localhost"]
        );
        assert!(ours.has_data_of(&theirs) && theirs.has_data_of(&ours));
    }

    #[test]
    fn changed_files_are_named_without_their_digests() {
        let of = |digit: char| {
            let digest: String = std::iter::repeat_n(digit, 64).collect();
            let mut manifest = manifest();
            manifest["dataset"]["provenance"]["documents"]["files"] =
                json!([{"path": "rows.csv", "sha256": digest}]);
            manifest["index"]["identity"]["dataset"] = digest.clone().into();
            manifest["prompts"] = json!({"answer.md.jinja": digest});
            Configuration::of(&manifest)
        };
        let (one, other) = (of('1'), of('2'));
        assert_eq!(
            one.distinction([&other].into_iter(), "2026-05-01 12:00:00"),
            "answer.md.jinja and dataset files as of 2026-05-01 12:00:00"
        );
        assert_eq!(
            differences(&one, &other),
            [
                "dataset files: other content",
                "answer.md.jinja: other content"
            ]
        );
        assert!(!one.has_data_of(&other));
        assert_ne!(one.without_data(), other.without_data(), "the prompt");
    }

    #[test]
    fn measuring_unanswerable_questions_makes_another_configuration() {
        let of = |unanswerable: Option<u32>| {
            let mut manifest = manifest();
            manifest["dataset"]["unanswerable"] = json!(unanswerable);
            Configuration::of(&manifest)
        };
        let (measured, left_out) = (of(None), of(Some(64)));
        assert_eq!(
            differences(&measured, &left_out),
            ["unanswerable questions: none left out -> left out"]
        );
        assert_eq!(measured, of(Some(0)));
        assert_eq!(left_out, of(Some(3)), "the number varies with `--limit`");
        assert_eq!(measured.without_data(), left_out.without_data());
        assert!(measured.has_data_of(&left_out), "the files are the same");
    }

    #[test]
    fn a_changed_model_is_listed_once_by_its_name() {
        let of = |name: &str, digest: &str| {
            let mut manifest = with("/k", json!(5));
            let model = json!({"name": name, "digest": digest});
            manifest["index"]["identity"]["embedder"]["model"] = model.clone();
            manifest["models"]["embedder"] = model;
            Configuration::of(&manifest)
        };
        assert_eq!(
            differences(&of("a", "1"), &of("b", "2")),
            ["models.embedder.name: a -> b"]
        );
        assert_eq!(
            differences(&of("a", "1"), &of("a", "2")),
            ["models.embedder.digest: 1 -> 2"]
        );
    }
}
