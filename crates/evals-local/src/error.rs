//! Why a local model could not be loaded.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

use evals_models::TextKind;

/// Why a model could not be loaded from its folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LocalError {
    /// A file of the model could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// A file of the model is not JSON, or not of the expected form.
    #[error("`{}` is not the JSON that describes a model", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        source: serde_json::Error,
    },
    /// The folder lacks a file that every model has.
    #[error("`{}` has no `{file}`", folder.display())]
    Missing {
        /// The folder that was opened.
        folder: PathBuf,
        /// Name of the file.
        file: &'static str,
    },
    /// The encoder is in a subfolder instead of beside `modules.json`.
    #[error(
        "`{}` names a subfolder for the encoder, `{encoder}`; move its files beside `modules.json` and set its `path` there to an empty string",
        path.display()
    )]
    EncoderFolder {
        /// The model's `modules.json`.
        path: PathBuf,
        /// The folder that it names.
        encoder: String,
    },
    /// The reference `main` of a repository in the hub's cache does not name a commit.
    #[error("`{}` names `{found}`, which is not a commit of 40 hexadecimal digits", path.display())]
    Commit {
        /// The file that names the commit.
        path: PathBuf,
        /// Its content.
        found: String,
    },
    /// The folder has no weights in either format.
    #[error(
        "`{}` has no weights: neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either",
        folder.display()
    )]
    NoWeights {
        /// The folder that was opened.
        folder: PathBuf,
    },
    /// The engine does not run this family of architectures. [`Family`](crate::Family) lists those that it runs.
    #[error("`{}` is of the family `{model_type}`; supported are {supported}", path.display())]
    Family {
        /// The model's `config.json`.
        path: PathBuf,
        /// Its `model_type`.
        model_type: String,
        /// The families that it runs, for the message.
        supported: String,
    },
    /// The engine does not run rerankers of this family of architectures.
    #[error(
        "`{}` is of the family `{model_type}`; supported as rerankers are {supported}",
        path.display()
    )]
    RerankerFamily {
        /// The model's `config.json`.
        path: PathBuf,
        /// Its `model_type`.
        model_type: String,
        /// The families that it runs, for the message.
        supported: String,
    },
    /// The model needs a step or a variant that the engine does not support.
    #[error("`{}` sets `{key}` to `{value}`, which is not supported", path.display())]
    Unsupported {
        /// The file that states it.
        path: PathBuf,
        /// The key in it.
        key: &'static str,
        /// Its value.
        value: String,
    },
    /// An embedder was requested, but the model has vectors only for tokens, not for texts.
    #[error(
        "`{}` holds a late-interaction model, which has no single vector for a text; use it as a reranker",
        folder.display()
    )]
    LateInteraction {
        /// The folder that was opened.
        folder: PathBuf,
    },
    /// An embedder was requested, but the model is a classifier, which was not trained to return vectors of texts.
    #[error(
        "`{}` holds a classifier, `{architecture}`, which has no vector for a text; use it as a reranker",
        folder.display()
    )]
    Classifier {
        /// The folder that was opened.
        folder: PathBuf,
        /// Its architecture in `config.json`.
        architecture: String,
    },
    /// A reranker was requested, but the model cannot score pairs.
    #[error("`{}` does not hold a reranker: {reason}", folder.display())]
    NoReranker {
        /// The folder that was opened.
        folder: PathBuf,
        /// The fact that shows it.
        reason: String,
    },
    /// An embedder was requested, but the model is a reranker, which was not trained to return vectors of texts.
    #[error(
        "`{}` holds a reranker, as {sign} shows; it has no vector for a text: use it as `reranking.model`",
        folder.display()
    )]
    Reranker {
        /// The folder that was opened.
        folder: PathBuf,
        /// The fact that shows it.
        sign: String,
    },
    /// A setting is only for rerankers that are language models.
    #[error(
        "`{}` holds a reranker that does not use `{setting}`; only language models do: remove the setting",
        folder.display()
    )]
    UnreadSetting {
        /// The folder that was opened.
        folder: PathBuf,
        /// The setting: `instruction` or `rerank_prompt`.
        setting: &'static str,
    },
    /// The weights do not match the configuration.
    #[error("`{}` does not hold the weights that `config.json` describes", path.display())]
    Weights {
        /// The file of weights.
        path: PathBuf,
        /// The first mismatch.
        #[source]
        source: WeightsError,
    },
    /// The tokenizer cannot be used.
    #[error("`{}` is not a usable tokenizer", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Nothing states the prompt of a language model that should rerank.
    #[error(
        "`{}` is of a language model, and neither `modules.json` nor the name `{name}` says which prompt it reranks with; set `rerank_prompt` to `qwen3` or `mxbai`",
        path.display()
    )]
    RerankPrompt {
        /// The model's `config.json`.
        path: PathBuf,
        /// The model's name.
        name: String,
    },
    /// The chat template for pairs cannot be used.
    #[error("`{}` has no usable chat template", path.display())]
    Template {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The limit leaves no room for a text.
    #[error(
        "the limit of {max_tokens} tokens leaves no room for a text: {special} of them are special tokens"
    )]
    Window {
        /// The limit in force.
        max_tokens: usize,
        /// Special tokens that the tokenizer adds to every text.
        special: usize,
    },
    /// The prompt leaves no room for a text, so that all texts would be equal.
    #[error(
        "the limit of {max_tokens} tokens leaves no room for a text after the prompt of {}",
        plural(*kind)
    )]
    Prompt {
        /// The limit in force.
        max_tokens: usize,
        /// The kind of text that has the prompt.
        kind: TextKind,
    },
    /// The limit is larger than the number of positions.
    #[error("the limit is {requested} tokens, but the model has only {available} positions")]
    Positions {
        /// The limit in the settings.
        requested: usize,
        /// The positions of the model.
        available: usize,
    },
    /// The operating system refused the threads that run the model.
    #[error("cannot start the threads of the model")]
    Threads(#[source] Box<dyn Error + Send + Sync>),
}

fn plural(kind: TextKind) -> &'static str {
    match kind {
        TextKind::Query => "queries",
        TextKind::Document => "documents",
    }
}

/// Why a file of weights cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file does not begin with a valid safetensors header.
    #[error("the header is damaged: {0}")]
    Header(String),
    /// The file ends before the tensor does.
    #[error("the file ends before `{0}` does")]
    Truncated(String),
    /// A `PyTorch` file is not a valid archive.
    #[error("the archive is damaged: {0}")]
    Archive(String),
    /// The pickle in a `PyTorch` file cannot be read.
    #[error("the pickle `data.pkl` is damaged: {0}")]
    Pickle(String),
    /// The pickle in a `PyTorch` file refers to Python code, which is never run.
    #[error("the pickle `data.pkl` refers to `{0}`, which does not belong to a table of tensors")]
    Global(String),
    /// The file is in the format of `PyTorch` before version 1.6.
    #[error(
        "it is in the format that PyTorch wrote before version 1.6; convert it with \
         `torch.save(torch.load(file, weights_only=True), file)`"
    )]
    Legacy,
    /// A tensor of the architecture is not in the file.
    #[error("there is no tensor `{0}`")]
    Missing(String),
    /// A tensor does not have the shape that the configuration implies.
    #[error("`{name}` has the shape {found:?} instead of {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration implies.
        expected: Vec<usize>,
    },
    /// A tensor in a `PyTorch` file has more values than it stores: some are repeated.
    #[error("`{0}` has more values than the file stores of it")]
    Repeated(String),
    /// A tensor holds numbers of a type that weights do not have.
    #[error("`{name}` holds `{dtype}`; weights are `F32`, `F16` or `BF16`")]
    Dtype {
        /// The tensor.
        name: String,
        /// The type in the file.
        dtype: String,
    },
    /// A weight is infinite or not a number.
    #[error("`{0}` holds values that are not finite")]
    NotFinite(String),
}
