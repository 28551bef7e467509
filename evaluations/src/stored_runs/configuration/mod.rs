//! The configuration of a run: every value of its manifest that its figures depend on.

mod difference;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use evals_index::Profile;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

pub(crate) use self::difference::differences;
use crate::run_folder::system;
use crate::settings::RERANK;

/// Parts of a manifest that the figures of any run depend on. The number of questions is not among them.
const PARTS: &[&str] = &[
    "benchmark",
    "profile",
    "filter",
    "k",
    "dataset.name",
    "dataset.provenance",
    "dataset.shard.index",
    "dataset.shard.of",
    "index.approximate",
    "index.identity",
    "target.parameters",
    VERSION,
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

/// The version of a system under test, which is part of its profile, too.
const VERSION: &str = "target.version";

/// Marks the configuration of a system under test, which has no index. Its name is part of the profile.
const IS_TARGET: &str = "target";

/// Parts that only our own pipeline has.
const OF_OUR_PIPELINE: &[&str] = &["index.", "settings.", "models.embedder", "models.reranker"];

/// Parts that only a profile which compares embeddings depends on.
const OF_EMBEDDINGS: &[&str] = &[
    "index.identity.embedder.",
    "models.embedder.",
    "settings.embeddings.",
];

/// Parts that only a profile with full-text search depends on.
const OF_FULL_TEXT: &[&str] = &["index.identity.analyzer", "index.identity.full_text."];

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
            let version = values.get(VERSION).map(String::as_str);
            let name = values
                .get("profile")
                .map(|it| system(it, version).to_owned());
            values.extend(name.map(|name| ("profile".to_owned(), name)));
        }
        // The batch size changes no score.
        values.remove("settings.reranking.batch_size");
        let mut found = Self(values);
        let unused = found.unused();
        found.0.retain(|path, _| !starts_with_any(path, &unused));
        found
    }

    /// The parts that the search profile does not depend on, though the index of the run may have them for other profiles.
    fn unused(&self) -> Vec<&'static str> {
        let profile = self.0.get("profile").map_or("", String::as_str);
        let base = profile.strip_suffix(RERANK).unwrap_or(profile);
        let of = |parts: &[&'static str]| parts.to_vec();
        match base.parse() {
            Ok(Profile::Unranked) => [OF_EMBEDDINGS, OF_FULL_TEXT].concat(),
            Ok(Profile::Bm25) => of(OF_EMBEDDINGS),
            Ok(Profile::Semantic) => of(OF_FULL_TEXT),
            Ok(Profile::Hybrid(_)) | Err(_) => Vec::new(),
        }
    }

    /// The configuration with these values, by dotted path.
    pub(crate) fn of_values(values: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// The values by dotted path.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(path, value)| (path.as_str(), value.as_str()))
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

    /// Identifies the files of the dataset: the beginning of a SHA-256.
    pub(crate) fn data_digest(&self) -> String {
        const DIGITS: usize = 8;
        let mut hash = Sha256::new();
        for (path, value) in self.0.iter().filter(|(path, _)| is_provenance(path)) {
            hash.update(format!("{path}={value}\n"));
        }
        hex::encode(hash.finalize())[..DIGITS].to_owned()
    }

    /// The version of the system under test.
    pub(crate) fn target_version(&self) -> Option<&str> {
        self.0.get(VERSION).map(String::as_str)
    }

    /// The number of the shard and of all shards, each if the run is one.
    pub(crate) fn shard(&self) -> [Option<&str>; 2] {
        ["dataset.shard.index", "dataset.shard.of"].map(|path| self.0.get(path).map(String::as_str))
    }

    /// Whether the measures exclude questions that the corpus does not answer.
    pub(crate) fn leaves_out_unanswerable(&self) -> bool {
        self.0.contains_key(UNANSWERABLE)
    }

    fn differing<'c>(&'c self, other: &'c Self) -> impl Iterator<Item = &'c str> {
        let both = self.0.keys().chain(other.0.keys()).map(String::as_str);
        let crosses = self.is_target() != other.is_target();
        // The profiles say already that only one of them uses these parts.
        let unused = [self.unused(), other.unused()].concat();
        both.filter(|path| self.0.get(*path) != other.0.get(*path))
            // A target never has an index, so its absence is no difference worth a line.
            .filter(move |path| !crosses || !is_of_one_side(path))
            .filter(move |path| !starts_with_any(path, &unused))
    }

    fn is_target(&self) -> bool {
        self.0.contains_key(IS_TARGET)
    }
}

/// Whether a path says nothing about the difference of our own pipeline and a system under test.
fn is_of_one_side(path: &str) -> bool {
    path == IS_TARGET || starts_with_any(path, OF_OUR_PIPELINE)
}

fn starts_with_any(path: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| path.starts_with(start))
}

/// Whether a path leads to a digest of the dataset's files.
fn is_of_data(path: &str) -> bool {
    is_provenance(path) || path == "index.identity.dataset"
}

fn is_provenance(path: &str) -> bool {
    path.starts_with("dataset.provenance.")
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
