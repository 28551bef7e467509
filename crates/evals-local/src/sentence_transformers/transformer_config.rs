//! `sentence_bert_config.json`: how the module `Transformer` reads texts, and which output it returns.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::LocalError;
use crate::folder::Folder;

/// All names that the file has had, in the order in which sentence-transformers tries them.
const FILES: [&str; 7] = [
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
];

/// Arguments of model, tokenizer and configuration that change nothing in this engine.
const HARMLESS: [&str; 12] = [
    "_attn_implementation",
    "add_pooling_layer",
    "attn_implementation",
    "device_map",
    "dtype",
    "local_files_only",
    "low_cpu_mem_usage",
    "padding_side",
    "torch_dtype",
    "trust_remote_code",
    "use_cache",
    "use_fast",
];

/// Where the file has such arguments.
const ARGUMENTS: [&str; 6] = [
    "model_args",
    "model_kwargs",
    "tokenizer_args",
    "processor_kwargs",
    "config_args",
    "config_kwargs",
];

/// What this engine would read differently. Arguments of chat templates do not apply to plain texts.
const PERMITTED: [(&str, &[&str]); 6] = [
    ("query_length", &[]),
    ("document_length", &[]),
    ("query_expansion", &[]),
    ("tokenizer_name_or_path", &[]),
    ("processing_kwargs.common", &["{}"]),
    ("processing_kwargs.text", &["{}"]),
];

#[derive(Debug, Default, Deserialize)]
pub(crate) struct TransformerConfig {
    pub(crate) max_seq_length: Option<usize>,
    #[serde(default)]
    pub(crate) do_lower_case: bool,
}

/// The output that the module returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleOutput {
    /// A vector for each token.
    Tokens,
    /// The outputs of a classifier.
    Logits,
    /// The outputs of a language model for the token after a conversation.
    NextToken,
}

impl ModuleOutput {
    /// How the file names it.
    fn permitted(self) -> [(&'static str, &'static [&'static str]); 4] {
        match self {
            Self::Tokens => [
                ("transformer_task", &["feature-extraction"]),
                ("module_output_name", &["token_embeddings"]),
                ("modality_config.text.method", &["forward"]),
                (
                    "modality_config.text.method_output_name",
                    &["last_hidden_state"],
                ),
            ],
            Self::Logits => [
                ("transformer_task", &["sequence-classification"]),
                ("module_output_name", &["scores"]),
                ("modality_config.text.method", &["forward"]),
                ("modality_config.text.method_output_name", &["logits"]),
            ],
            Self::NextToken => [
                ("transformer_task", &["text-generation"]),
                ("module_output_name", &["causal_logits"]),
                ("modality_config.message.method", &["forward"]),
                ("modality_config.message.method_output_name", &["logits"]),
            ],
        }
    }

    /// Its source among those in `modality_config`.
    fn modality(self) -> &'static str {
        match self {
            Self::Tokens | Self::Logits => "text",
            Self::NextToken => "message",
        }
    }
}

impl TransformerConfig {
    /// Reads the first file that is not empty, and refuses everything that this engine would read or compute differently.
    pub(crate) fn read(folder: &Folder, output: ModuleOutput) -> Result<Self, LocalError> {
        let Some(file) = file(folder)? else {
            return Ok(Self::default());
        };
        folder.permit(file, &output.permitted())?;
        folder.permit(file, &PERMITTED)?;
        let stated: Map<String, Value> = folder.required(file)?;
        if let Some(modalities) = stated.get("modality_config")
            && !modalities.is_null()
            && modalities.get(output.modality()).is_none()
        {
            return Err(folder.unsupported(file, "modality_config", modalities.to_string()));
        }
        for key in ARGUMENTS {
            let given = stated.get(key).and_then(Value::as_object);
            let mut names = given.into_iter().flat_map(Map::keys);
            if let Some(other) = names.find(|name| !HARMLESS.contains(&name.as_str())) {
                return Err(folder.unsupported(file, key, other));
            }
        }
        folder.required(file)
    }
}

/// The first file that is not empty.
pub(crate) fn file(folder: &Folder) -> Result<Option<&'static str>, LocalError> {
    for file in FILES {
        let config: Option<Map<String, Value>> = folder.json(file)?;
        if config.is_some_and(|config| !config.is_empty()) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
