//! Why a local model could not be loaded.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

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
    /// The content of a file is damaged, or not of the expected form.
    #[error("`{}` {fault}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What it is not, or does not have.
        fault: &'static str,
        /// Where and why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The files hold no model, or one that cannot be run, or not as what it was opened.
    #[error("`{}` {reason}", path.display())]
    Unusable {
        /// The folder, or the file that shows it.
        path: PathBuf,
        /// What the folder lacks, or what the file states.
        reason: String,
    },
    /// A setting of the user does not suit the model, or the model needs one.
    #[error("{reason}")]
    Setting {
        /// The setting, as [`LocalSettings`](crate::LocalSettings) names it.
        setting: &'static str,
        /// Why the model cannot run with it.
        reason: String,
    },
    /// The operating system refused the threads that run the model.
    #[error("cannot start the threads of the model")]
    Threads(#[source] Box<dyn Error + Send + Sync>),
}

impl LocalError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Read { path, source }
    }

    /// A limit of tokens above the number of positions.
    pub(crate) fn positions(requested: usize, available: usize) -> Self {
        Self::Setting {
            setting: "max_tokens",
            reason: format!(
                "the limit is {requested} tokens, but the model has only {available} positions"
            ),
        }
    }

    /// A limit of tokens that leaves no room for a text. `reason` continues that sentence.
    pub(crate) fn no_room(max_tokens: usize, reason: &str) -> Self {
        Self::Setting {
            setting: "max_tokens",
            reason: format!("the limit of {max_tokens} tokens leaves no room for a text{reason}"),
        }
    }
}

/// Why a file of weights cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum WeightsError {
    #[error("the {part} is damaged: {fault}")]
    Damaged { part: &'static str, fault: String },
    #[error("the file ends before `{0}` does")]
    Truncated(String),
    /// Code, which is never run.
    #[error("the pickle `data.pkl` refers to `{0}`, which does not belong to a table of tensors")]
    Global(String),
    #[error(
        "it is in the format that PyTorch wrote before version 1.6; convert it with \
         `torch.save(torch.load(file, weights_only=True), file)`"
    )]
    Legacy,
    #[error("there is no tensor `{0}`")]
    Missing(String),
    #[error("`{name}` has the shape {found:?} instead of {expected:?}")]
    Shape {
        name: String,
        found: Vec<usize>,
        expected: Vec<usize>,
    },
    #[error("`{0}` has more values than the file stores of it")]
    Repeated(String),
    #[error("`{name}` holds `{dtype}`; weights are `F32`, `F16` or `BF16`")]
    Dtype { name: String, dtype: String },
    #[error("`{0}` holds values that are not finite")]
    NotFinite(String),
}
