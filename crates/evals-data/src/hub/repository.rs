use std::fmt;

use hf_hub::Repo;
use serde::{Serialize, Serializer};

/// A repository of the hub: its id, and what kind of repository that is, on which the hub's addresses and the folder in
/// the cache depend.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repository {
    kind: Kind,
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Dataset,
    Model,
}

impl Repository {
    /// The dataset repository `id`, which is `owner/name`, or `name` for a few old ones.
    pub fn dataset(id: impl Into<String>) -> Self {
        Self {
            kind: Kind::Dataset,
            id: id.into(),
        }
    }

    /// The model repository `id`, which is `owner/name`, or `name` for a few old ones.
    pub fn model(id: impl Into<String>) -> Self {
        Self {
            kind: Kind::Model,
            id: id.into(),
        }
    }

    /// The id, `owner/name`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// As hf-hub names it.
    pub(super) fn in_cache(&self) -> Repo {
        match self.kind {
            Kind::Dataset => Repo::dataset(self.id.clone()),
            Kind::Model => Repo::model(self.id.clone()),
        }
    }

    /// `dataset` or `model`.
    pub(super) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Dataset => "dataset",
            Kind::Model => "model",
        }
    }

    /// The parts of the address below which the hub describes it.
    pub(super) fn api_path(&self) -> Vec<&str> {
        let kind = match self.kind {
            Kind::Dataset => "datasets",
            Kind::Model => "models",
        };
        ["api", kind]
            .into_iter()
            .chain(self.id.split('/'))
            .collect()
    }

    /// The parts of the address below which it is shown and its files are: a model stands at the root.
    pub(super) fn page_path(&self) -> Vec<&str> {
        let kind = match self.kind {
            Kind::Dataset => Some("datasets"),
            Kind::Model => None,
        };
        kind.into_iter().chain(self.id.split('/')).collect()
    }

    /// The full name of the manifest's key that something about it is written under; models stand in no manifest.
    pub(super) fn key(&self, key: &str) -> Option<String> {
        match self.kind {
            Kind::Dataset => Some(format!("source.{key}")),
            Kind::Model => None,
        }
    }
}

/// The id in backticks, and what it is where that is no dataset.
impl fmt::Display for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Dataset => "",
            Kind::Model => "the model repository ",
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
        assert_eq!(model.in_cache().folder_name(), "models--owner--name");
        assert_eq!(model.api_path().join("/"), "api/models/owner/name");
        assert_eq!(model.page_path().join("/"), "owner/name");
        assert_eq!(model.to_string(), "the model repository `owner/name`");
        let old = Repository::model("bert-base-uncased");
        assert_eq!(old.in_cache().folder_name(), "models--bert-base-uncased");
        assert_eq!(old.page_path().join("/"), "bert-base-uncased");
    }

    #[test]
    fn a_dataset_stands_apart() {
        let dataset = Repository::dataset("owner/name");
        assert_eq!(dataset.in_cache().folder_name(), "datasets--owner--name");
        assert_eq!(dataset.api_path().join("/"), "api/datasets/owner/name");
        assert_eq!(dataset.page_path().join("/"), "datasets/owner/name");
        assert_eq!(dataset.to_string(), "`owner/name`");
    }
}
