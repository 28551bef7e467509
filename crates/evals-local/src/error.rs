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
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A file of the model is not the JSON it has to be.
    #[error("`{}` does not describe a model", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where it goes wrong.
        #[source]
        source: serde_json::Error,
    },
    /// The folder lacks a file without which there is no model.
    #[error("`{}` has no `{file}`", folder.display())]
    Missing {
        /// The folder that was opened.
        folder: PathBuf,
        /// Name of the file.
        file: &'static str,
    },
    /// The encoder, its tokenizer and its weights are not beside `modules.json`.
    #[error(
        "`{}` has the encoder in a folder of its own, `{encoder}`; move what is in it beside `modules.json` and empty its `path` there",
        path.display()
    )]
    EncoderFolder {
        /// The model's `modules.json`.
        path: PathBuf,
        /// The folder that it names.
        encoder: String,
    },
    /// A repository in the hub's cache does not say which commit is its `main`.
    #[error("`{}` names `{found}`, which is no commit of 40 hexadecimal digits", path.display())]
    Commit {
        /// The file that names the commit.
        path: PathBuf,
        /// What it holds.
        found: String,
    },
    /// The folder has no file of weights in either format.
    #[error(
        "`{}` has neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either",
        folder.display()
    )]
    NoWeights {
        /// The folder that was opened.
        folder: PathBuf,
    },
    /// The architecture is none of those that can be run here.
    #[error("`{}` is of the family `{model_type}`; supported are {supported}", path.display())]
    Family {
        /// The model's `config.json`.
        path: PathBuf,
        /// Its `model_type`.
        model_type: String,
        /// What could be run instead, as a list to read.
        supported: String,
    },
    /// The architecture is none of those that rerankers are run of here.
    #[error(
        "`{}` is of the family `{model_type}`; supported as rerankers are {supported}",
        path.display()
    )]
    RerankerFamily {
        /// The model's `config.json`.
        path: PathBuf,
        /// Its `model_type`.
        model_type: String,
        /// What could be run instead, as a list to read.
        supported: String,
    },
    /// The model asks for a step or a variant that cannot be run here.
    #[error("`{}` asks for `{key}` = `{value}`, which is not supported", path.display())]
    Unsupported {
        /// The file that asks.
        path: PathBuf,
        /// The key in it.
        key: &'static str,
        /// Its value.
        value: String,
    },
    /// The model has a vector for each token and none for a text, which is no use to an embedder.
    #[error(
        "`{}` holds a model of late interaction, which has no single vector for a text; use it as a reranker",
        folder.display()
    )]
    LateInteraction {
        /// The folder that was opened.
        folder: PathBuf,
    },
    /// The model scores pairs and was never trained to give vectors of texts.
    #[error(
        "`{}` holds a classifier, `{architecture}`, which has no vector for a text; use it as a reranker",
        folder.display()
    )]
    Classifier {
        /// The folder that was opened.
        folder: PathBuf,
        /// What `config.json` says it is.
        architecture: String,
    },
    /// The model has nothing that makes a score of a pair.
    #[error("`{}` holds no reranker: {reason}", folder.display())]
    NoReranker {
        /// The folder that was opened.
        folder: PathBuf,
        /// What shows it.
        reason: String,
    },
    /// The model is asked whether a text answers a query and was never trained to give vectors of texts.
    #[error(
        "`{}` holds a reranker, as {sign} shows; it has no vector for a text: use it as `reranking.model`",
        folder.display()
    )]
    Reranker {
        /// The folder that was opened.
        folder: PathBuf,
        /// What shows it.
        sign: String,
    },
    /// A setting asks of a reranker what only a language model can be asked.
    #[error(
        "`{}` holds a reranker that reads no `{setting}`; only language models do",
        folder.display()
    )]
    UnreadSetting {
        /// The folder that was opened.
        folder: PathBuf,
        /// The setting: `instruction` or `rerank_prompt`.
        setting: &'static str,
    },
    /// The weights do not fit the configuration.
    #[error("`{}` does not hold the weights that `config.json` describes", path.display())]
    Weights {
        /// The file of weights.
        path: PathBuf,
        /// The first disagreement.
        #[source]
        source: WeightsError,
    },
    /// The tokenizer cannot be used.
    #[error("`{}` is not a usable tokenizer", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Nothing says how a language model is to be asked whether a text answers a query.
    #[error(
        "`{}` is of a language model, and neither `modules.json` nor the name `{name}` tells how it reranks; state its prompt, `qwen3` or `mxbai`",
        path.display()
    )]
    RerankPrompt {
        /// The model's `config.json`.
        path: PathBuf,
        /// The model's name.
        name: String,
    },
    /// The chat template that makes a prompt of a pair cannot be used.
    #[error("`{}` has no usable chat template", path.display())]
    Template {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The limit leaves no room for a text.
    #[error("at most {max_tokens} tokens are to be read, of which {special} are special tokens")]
    Window {
        /// The limit in force.
        max_tokens: usize,
        /// Special tokens that the tokenizer adds to every text.
        special: usize,
    },
    /// A prompt takes up all that is read of a text, so that all texts would be the same.
    #[error(
        "at most {max_tokens} tokens are to be read, of which the prompt of {} leaves none for a text",
        plural(*kind)
    )]
    Prompt {
        /// The limit in force.
        max_tokens: usize,
        /// The texts that have the prompt.
        kind: TextKind,
    },
    /// The limit is beyond what the model has positions for.
    #[error("{requested} tokens are to be read, but the model has {available} positions")]
    Positions {
        /// The limit in the settings.
        requested: usize,
        /// The most the model can read.
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

/// How a file of weights disagrees with what a model needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file does not begin with a header as safetensors define it.
    #[error("the header is damaged: {0}")]
    Header(String),
    /// The file ends before the tensor does.
    #[error("the file ends before `{0}` does")]
    Truncated(String),
    /// A file of `PyTorch` is not the archive that it has to be.
    #[error("the archive is damaged: {0}")]
    Archive(String),
    /// The pickle of a file of `PyTorch` cannot be read.
    #[error("the pickle `data.pkl` is damaged: {0}")]
    Pickle(String),
    /// The pickle of a file of `PyTorch` asks for code of Python, which is never run.
    #[error("the pickle `data.pkl` refers to `{0}`, which is no part of a table of tensors")]
    Global(String),
    /// The file is in the format that `PyTorch` had before its version 1.6.
    #[error(
        "it is in the format that PyTorch wrote before version 1.6; convert it with \
         `torch.save(torch.load(file, weights_only=True), file)`"
    )]
    Legacy,
    /// A tensor that the architecture has is not in the file.
    #[error("there is no tensor `{0}`")]
    Missing(String),
    /// A tensor has another shape than the configuration implies.
    #[error("`{name}` has the shape {found:?} instead of {expected:?}")]
    Shape {
        /// The tensor.
        name: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration implies.
        expected: Vec<usize>,
    },
    /// A tensor of a file of `PyTorch` has more values than are stored, of which some stand for several.
    #[error("`{0}` has more values than are stored of it")]
    Repeated(String),
    /// A tensor holds numbers of a kind that is not used for weights.
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
