//! What the figures of a run depend on, value by value, to tell runs apart by.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Parts of a manifest that the figures of any run depend on. How many questions were asked is not among them.
const PARTS: &[&str] = &[
    "benchmark",
    "profile",
    "filter",
    "k",
    "dataset.name",
    "dataset.provenance",
    "index.identity",
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

/// Parts that those of answers depend on.
const OF_ANSWERS: &[&str] = &[
    "settings.qa.context_tokens",
    "settings.search.context_radius",
];

/// The part that those of reranked results depend on.
const OF_RERANKING: &str = "settings.reranking";

/// How many questions the measures leave out because the corpus does not answer them. Runs of earlier versions, which measured
/// them, have none. How many there are depends on how many questions were asked, so that it only counts whether there are any.
const UNANSWERABLE: &str = "dataset.unanswerable";

/// Most differences that a row names.
const LISTED: usize = 3;

/// Most characters of a value that a row shows.
const SHOWN: usize = 24;

/// What tells one configuration from the others, as values by dotted paths into the manifest. Runs that agree in all of them
/// are repetitions of one another.
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
        // How texts are batched changes no score.
        values.remove("settings.reranking.batch_size");
        Self(values)
    }

    /// The same without what says which bytes the dataset had and which of its questions are measured.
    pub(crate) fn without_data(&self) -> Self {
        let of_data = |path: &str| is_of_data(path) || path == UNANSWERABLE;
        let values = self.0.iter().filter(|(path, _)| !of_data(path));
        Self(
            values
                .map(|(path, value)| (path.clone(), value.clone()))
                .collect(),
        )
    }

    /// Which bytes the dataset had.
    pub(crate) fn data(&self) -> Self {
        let values = self.0.iter().filter(|(path, _)| is_of_data(path));
        Self(
            values
                .map(|(path, value)| (path.clone(), value.clone()))
                .collect(),
        )
    }

    /// Whether questions that the corpus does not answer are left out of the measures.
    pub(crate) fn leaves_out_unanswerable(&self) -> bool {
        self.0.contains_key(UNANSWERABLE)
    }

    /// What tells this configuration from `others`, for people; empty where nothing does. What only digests tell apart is named
    /// with the time at which it was `seen`.
    pub(crate) fn distinction<'c>(
        &self,
        others: impl Iterator<Item = &'c Self>,
        seen: &str,
    ) -> String {
        let mut paths = BTreeSet::new();
        for other in others {
            paths.extend(self.differing(other));
        }
        let paths = told(&paths);
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

    /// Whether a value stands for the bytes of files, so that it says nothing to people.
    fn is_content(&self, path: &str) -> bool {
        is_of_data(path) || self.0.get(path).is_some_and(|value| is_digest(value))
    }

    fn differing<'c>(&'c self, other: &'c Self) -> impl Iterator<Item = &'c str> {
        let both = self.0.keys().chain(other.0.keys());
        both.filter(|path| self.0.get(*path) != other.0.get(*path))
            .map(String::as_str)
    }

    fn value(&self, path: &str) -> String {
        let absent = match path {
            UNANSWERABLE => "none left out",
            _ => "none",
        };
        short(self.0.get(path).map_or(absent, String::as_str))
    }
}

/// What two differ in, for people, as `path: old -> new`.
pub(crate) fn differences(old: &Configuration, new: &Configuration) -> Vec<String> {
    let paths = old.differing(new).collect();
    let mut lines: Vec<String> = Vec::new();
    for path in told(&paths) {
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

/// Whether a path leads to what says which bytes the dataset had.
fn is_of_data(path: &str) -> bool {
    path.starts_with("dataset.provenance.") || path == "index.identity.dataset"
}

/// What the digest at a path is of, for people.
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

/// Those of some paths that tell people something. What the index says of its embedder, and settings of a reranker, stand under
/// `models` as well, and a digest tells nothing more where a name or a setting of its model differs.
fn told<'p>(paths: &BTreeSet<&'p str>) -> Vec<&'p str> {
    let any = |start: &str| paths.iter().any(|path| path.starts_with(start));
    let is_told = |path: &&&str| {
        let stated_by = match **path {
            "models.embedder.digest" => "settings.embeddings.model.",
            "models.reranker.digest" => "settings.reranking.model.",
            _ => "",
        };
        let stated = !stated_by.is_empty() && any(stated_by);
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
    paths.iter().filter(is_told).copied().collect()
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
    fn what_a_benchmark_does_not_use_does_not_tell_its_runs_apart() {
        let one = Configuration::of(&manifest());
        let radius = with("/settings/search/context_radius", json!(1));
        assert_eq!(one, Configuration::of(&radius));
        let candidates = with("/settings/reranking/candidates", json!(20));
        assert_eq!(one, Configuration::of(&candidates));
        assert_ne!(one, Configuration::of(&with("/k", json!(10))));
    }

    #[test]
    fn what_tells_runs_apart_is_named_with_its_value() {
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
    fn files_that_changed_are_named_and_their_digests_are_not() {
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
        assert_ne!(one.data(), other.data());
        assert_ne!(one.without_data(), other.without_data(), "the prompt");
    }

    #[test]
    fn runs_that_measured_unanswerable_questions_are_told_from_those_that_leave_them_out() {
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
        assert_eq!(
            left_out,
            of(Some(3)),
            "how many depends on how many were asked"
        );
        assert_eq!(measured.without_data(), left_out.without_data());
        assert_eq!(measured.data(), left_out.data(), "the files are the same");
    }

    #[test]
    fn a_changed_model_is_told_once_by_its_name() {
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
