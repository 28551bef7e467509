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

#[derive(Debug, Default, Deserialize)]
pub(crate) struct TransformerConfig {
    pub(crate) max_seq_length: Option<usize>,
    #[serde(default)]
    pub(crate) do_lower_case: bool,
    transformer_task: Option<String>,
    modality_config: Option<Map<String, Value>>,
    module_output_name: Option<String>,
    processing_kwargs: Option<Map<String, Value>>,
    query_length: Option<u64>,
    document_length: Option<u64>,
    query_expansion: Option<Value>,
    tokenizer_name_or_path: Option<String>,
    model_args: Option<Map<String, Value>>,
    model_kwargs: Option<Map<String, Value>>,
    tokenizer_args: Option<Map<String, Value>>,
    processor_kwargs: Option<Map<String, Value>>,
    config_args: Option<Map<String, Value>>,
    config_kwargs: Option<Map<String, Value>>,
}

/// The output that the module returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// A vector for each token.
    Tokens,
    /// The outputs of a classifier.
    Logits,
    /// The outputs of a language model for the token after a conversation.
    NextToken,
}

impl Output {
    /// Its source, as a key of the file and as a key of `modality_config`.
    fn modality(self) -> (&'static str, &'static str) {
        match self {
            Self::Tokens | Self::Logits => ("modality_config.text", "text"),
            Self::NextToken => ("modality_config.message", "message"),
        }
    }

    /// Its `transformer_task`, its `method_output_name`, and its `module_output_name`.
    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Tokens => [
                "feature-extraction",
                "last_hidden_state",
                "token_embeddings",
            ],
            Self::Logits => ["sequence-classification", "logits", "scores"],
            Self::NextToken => ["text-generation", "logits", "causal_logits"],
        }
    }
}

impl TransformerConfig {
    /// Reads the first file that is not empty, and refuses everything that this engine would read or compute differently.
    pub(crate) fn read(folder: &Folder, output: Output) -> Result<Self, LocalError> {
        let Some(file) = file(folder)? else {
            return Ok(Self::default());
        };
        let config: Self = folder.required(file)?;
        let refused = |key, value: String| Err(folder.unsupported(file, key, value));
        if let Some((key, value)) = config.other_output(output) {
            return refused(key, value);
        }
        if let Some((key, argument)) = config.argument() {
            return refused(key, argument.to_owned());
        }
        let lengths = [
            ("query_length", config.query_length),
            ("document_length", config.document_length),
        ];
        if let Some((key, length)) = lengths.into_iter().find_map(|(key, on)| Some((key, on?))) {
            return refused(key, length.to_string());
        }
        if let Some(expansion) = &config.query_expansion {
            return refused("query_expansion", expansion.to_string());
        }
        if let Some(other) = &config.tokenizer_name_or_path {
            return refused("tokenizer_name_or_path", other.clone());
        }
        Ok(config)
    }

    /// The first key that states another output.
    fn other_output(&self, output: Output) -> Option<(&'static str, String)> {
        let [task, part, name] = output.names();
        let other = |stated: &Option<String>, expected: &str| {
            stated.clone().filter(|stated| stated != expected)
        };
        if let Some(other) = other(&self.transformer_task, task) {
            return Some(("transformer_task", other));
        }
        if let Some(other) = other(&self.module_output_name, name) {
            return Some(("module_output_name", other));
        }
        let (key, modality) = output.modality();
        let modalities = self.modality_config.as_ref()?;
        let stated = modalities.get(modality).unwrap_or(&Value::Null);
        let is_this = stated["method"] == "forward" && stated["method_output_name"] == part;
        (!is_this).then(|| (key, stated.to_string()))
    }

    /// The first argument that would change how texts are read or computed. Arguments of chat templates do not apply to plain texts.
    fn argument(&self) -> Option<(&'static str, &str)> {
        let all = [
            ("model_args", &self.model_args),
            ("model_kwargs", &self.model_kwargs),
            ("tokenizer_args", &self.tokenizer_args),
            ("processor_kwargs", &self.processor_kwargs),
            ("config_args", &self.config_args),
            ("config_kwargs", &self.config_kwargs),
        ];
        let mut arguments = all.into_iter().flat_map(|(key, given)| {
            let names = given.iter().flat_map(Map::keys);
            names.map(move |name| (key, name.as_str()))
        });
        let loading = arguments.find(|(_, name)| !HARMLESS.contains(name));
        loading.or_else(|| {
            let calls = ["common", "text"];
            let given = self.processing_kwargs.iter().flatten();
            let mut given = given.filter(|(kind, _)| calls.contains(&kind.as_str()));
            let (kind, _) = given.find(|(_, given)| **given != Value::Object(Map::new()))?;
            Some(("processing_kwargs", kind.as_str()))
        })
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
