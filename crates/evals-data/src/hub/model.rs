//! Downloading a model: which files of its repository belong to it.

use super::globs::Globs;
use super::{DownloadObserver, Hub, HubError, HubFiles, Repository};

/// Files that every model needs.
const REQUIRED: [&str; 2] = ["config.json", "tokenizer.json"];

/// In one file, or in shards.
const SAFETENSORS: &str = "{model.safetensors,model-*-of-*.safetensors}";

/// The weights to fetch if there are no safetensors.
const PYTORCH: &str = "{pytorch_model.bin,pytorch_model-*-of-*.bin}";

/// Files in which a model's authors may say how it is used.
const OPTIONAL: [&str; 19] = [
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "artifact.metadata",
    "*_Dense/model.safetensors",
    "*_Dense/pytorch_model.bin",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
    "*/config.json",
];

impl Hub {
    /// Downloads the model repository `id` into the cache and verifies it, as [`fetch`](Self::fetch) does: configuration, tokenizer,
    /// weights as safetensors or else as `PyTorch` files, and the files about prompts and pooling. Only the last may be missing. Weights
    /// in other formats are not downloaded.
    pub async fn fetch_model(
        &self,
        id: &str,
        revision: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        let repo = Repository::model(id);
        let preferred = globs(SAFETENSORS)?;
        let fetched = match self
            .fetch_matching(&repo, revision, preferred, observer)
            .await
        {
            Err(error) if self.is_only_in_pytorch(&error, &repo, revision) => {
                let others = globs(PYTORCH)?;
                self.fetch_matching(&repo, revision, others, observer).await
            }
            fetched => fetched,
        };
        fetched.map_err(without_weights)
    }

    /// Whether the cache has the model, intact or not. Does not use the network.
    pub fn is_model_cached(&self, id: &str, revision: &str) -> bool {
        let repo = Repository::model(id);
        [SAFETENSORS, PYTORCH]
            .into_iter()
            .any(|weights| globs(weights).is_ok_and(|globs| self.is_there(&repo, revision, &globs)))
    }

    /// Whether the error means that the repository has no safetensors, so that `PyTorch` files are worth a try.
    fn is_only_in_pytorch(&self, error: &HubError, repo: &Repository, revision: &str) -> bool {
        let is_unlisted =
            matches!(error, HubError::NoFileMatches { glob, .. } if glob == SAFETENSORS);
        is_unlisted || globs(PYTORCH).is_ok_and(|globs| self.is_there(repo, revision, &globs))
    }
}

fn globs(weights: &'static str) -> Result<Globs, HubError> {
    let [config, tokenizer] = REQUIRED;
    Ok(Globs::new(&[config, tokenizer, weights])?.with_optional(&OPTIONAL)?)
}

/// Replaces the glob for weights by an error that lists their names.
fn without_weights(error: HubError) -> HubError {
    match error {
        HubError::NoFileMatches {
            repo,
            commit,
            glob,
            files,
        } if glob == PYTORCH => HubError::NoWeights {
            repo,
            commit,
            files,
        },
        other => other,
    }
}
