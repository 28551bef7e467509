//! Which files make a model.

use std::path::PathBuf;

use super::cache::RepositoryCache;
use super::globs::Globs;
use super::{DownloadObserver, FetchedFile, Hub, HubError, HubFiles, HubWarning, Repository};

/// Without these there is nothing to run.
const REQUIRED: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

/// In one file, or in shards.
const WEIGHTS: &str = "{model.safetensors,model-*-of-*.safetensors}";

/// These say how a model is used, where its authors wrote that down.
const OPTIONAL: [&str; 7] = [
    "model.safetensors.index.json",
    "tokenizer_config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "*/config.json",
    "*/sentence_bert_config.json",
];

/// A model's files of one commit, verified and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// The commit's folder in the cache, laid out as the repository is.
    pub folder: PathBuf,
    /// The commit that the revision pointed to.
    pub commit: String,
    /// The files, ordered by path.
    pub files: Vec<FetchedFile>,
    /// What went otherwise than asked for.
    pub warnings: Vec<HubWarning>,
}

impl Hub {
    /// Brings the model repository `id` into the cache and verifies it, as [`fetch`](Self::fetch) does: configuration,
    /// tokenizer, weights in safetensors, and what says how texts are prompted and tokens pooled. Only the last may be
    /// missing. Weights in other formats are left on the hub.
    pub async fn fetch_model(
        &self,
        id: &str,
        revision: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<ModelFiles, HubError> {
        let repo = Repository::model(id);
        let fetched = self
            .fetch_matching(&repo, revision, globs()?, observer)
            .await;
        let HubFiles {
            commit,
            files,
            warnings,
        } = fetched.map_err(without_weights)?;
        let cache = RepositoryCache::new(&self.settings.cache_dir, &repo);
        Ok(ModelFiles {
            folder: cache.snapshot(&commit),
            commit,
            files,
            warnings,
        })
    }

    /// Whether the cache holds the model, whole or not, without the network.
    pub fn is_model_cached(&self, id: &str, revision: &str) -> bool {
        let repo = Repository::model(id);
        globs().is_ok_and(|globs| self.is_there(&repo, revision, &globs))
    }
}

fn globs() -> Result<Globs, HubError> {
    Ok(Globs::new(REQUIRED)?.with_optional(OPTIONAL)?)
}

/// Says in words which files were looked for.
fn without_weights(error: HubError) -> HubError {
    match error {
        HubError::NoFileMatches {
            repo,
            commit,
            glob,
            files,
        } if glob == WEIGHTS => HubError::NoWeights {
            repo,
            commit,
            files,
        },
        other => other,
    }
}
