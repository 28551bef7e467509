//! Repositories of the hub, and their addresses.

use std::fmt;

use serde::{Serialize, Serializer};

/// A repository of the hub: its kind and its id, which determine its addresses and its folder in the cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    /// `dataset` or `model`.
    pub(super) kind: &'static str,
    id: String,
}

impl Repository {
    /// The dataset repository `id`, which is `owner/name`, or `name` for a few old ones.
    pub fn dataset(id: impl Into<String>) -> Self {
        Self {
            kind: "dataset",
            id: id.into(),
        }
    }

    /// The model repository `id`, which is `owner/name`, or `name` for a few old ones.
    pub fn model(id: impl Into<String>) -> Self {
        Self {
            kind: "model",
            id: id.into(),
        }
    }

    /// The id, `owner/name`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of its folder in the cache.
    pub(super) fn folder_name(&self) -> String {
        format!("{}s--{}", self.kind, self.id.replace('/', "--"))
    }

    /// The path of the hub's API for the repository.
    pub(super) fn api_path(&self) -> Vec<&str> {
        let kind = if self.is_dataset() {
            "datasets"
        } else {
            "models"
        };
        let id = self.id.split('/');
        ["api", kind].into_iter().chain(id).collect()
    }

    /// The path of the repository's page and files. Models are at the root.
    pub(super) fn page_path(&self) -> Vec<&str> {
        let kind = self.is_dataset().then_some("datasets");
        kind.into_iter().chain(self.id.split('/')).collect()
    }

    /// The full name of the manifest's key for a property of the repository; manifests do not name models.
    pub(super) fn key(&self, key: &str) -> Option<String> {
        self.is_dataset().then(|| format!("source.{key}"))
    }

    fn is_dataset(&self) -> bool {
        self.kind == "dataset"
    }
}

/// The id in backticks; for a model, with its kind in front.
impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_dataset() {
            ""
        } else {
            "the model repository "
        };
        write!(formatter, "{kind}`{}`", self.id)
    }
}

/// As the id.
impl Serialize for Repository {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_stands_where_the_hub_and_its_clients_have_it() {
        let model = Repository::model("owner/name");
        assert_eq!(model.folder_name(), "models--owner--name");
        assert_eq!(model.api_path().join("/"), "api/models/owner/name");
        assert_eq!(model.page_path().join("/"), "owner/name");
        assert_eq!(model.to_string(), "the model repository `owner/name`");
        let old = Repository::model("bert-base-uncased");
        assert_eq!(old.folder_name(), "models--bert-base-uncased");
        assert_eq!(old.page_path().join("/"), "bert-base-uncased");
    }

    #[test]
    fn a_dataset_stands_apart() {
        let dataset = Repository::dataset("owner/name");
        assert_eq!(dataset.folder_name(), "datasets--owner--name");
        assert_eq!(dataset.api_path().join("/"), "api/datasets/owner/name");
        assert_eq!(dataset.page_path().join("/"), "datasets/owner/name");
        assert_eq!(dataset.to_string(), "`owner/name`");
    }
}
