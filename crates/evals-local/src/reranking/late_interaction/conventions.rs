//! The conventions of the two layouts of late-interaction models: how texts become tokens, and which tokens are compared.

use super::special_tokens::FILE as TOKENIZER;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::LONGEST;

/// How texts become tokens, and which tokens are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conventions {
    pub(super) query: TextSide,
    pub(super) document: TextSide,
    /// `None` if queries keep their length.
    pub(super) expansion: Option<Expansion>,
    /// Tokens of documents that are encoded but not compared.
    pub(super) skipped: Skipped,
    /// The padding token, if it counts as padding inside a text too.
    pub(super) padding: Option<String>,
    pub(super) preparation: Preparation,
    pub(super) projection: Projected,
}

/// How one of the two kinds of text is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextSide {
    /// The token after the first token of a text. It marks the kind of the text.
    pub(super) marker: Option<String>,
    /// Put before the text itself.
    pub(super) prompt: String,
    /// Number of tokens read, special tokens and marker included.
    pub(super) tokens: usize,
}

/// How a text is prepared, prompt included, before it is tokenized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preparation {
    Nothing,
    /// White space is stripped from both ends.
    Stripped,
    /// White space is stripped from both ends, and letters are lower-cased.
    StrippedAndLowercased,
}

/// How short queries are padded to their full length (query expansion).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expansion {
    /// The token that they are padded with.
    pub(super) token: String,
    /// Whether other tokens attend to it.
    pub(super) is_attended: bool,
}

/// The tokens that are not compared, as either library states them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// The first token of each of these texts.
    First(Vec<String>),
    /// Each of these tokens. Those that are not in the vocabulary stand for the unknown token.
    Tokens {
        tokens: Vec<String>,
        unknown: String,
    },
}

/// Where the map from the encoder's vectors to the compared ones is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Projected {
    /// Among the weights of the encoder, by this name. It has this many outputs.
    Tensor { name: &'static str, outputs: usize },
    /// In the modules in these subfolders.
    Modules(Vec<String>),
}

impl Conventions {
    /// Refuses query expansion that goes before the query.
    pub(super) fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        if self.expansion.is_none() {
            return Ok(());
        }
        folder.permit(TOKENIZER, &[("padding_side", &["right"])])
    }
}

impl Preparation {
    /// The text for the tokenizer.
    pub(super) fn of(self, text: String) -> String {
        match self {
            Self::Nothing => text,
            Self::Stripped => text.trim_matches(is_python_space).to_owned(),
            Self::StrippedAndLowercased => text.trim_matches(is_python_space).to_lowercase(),
        }
    }

    /// The name in identities.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "as-is",
            Self::Stripped => "stripped",
            Self::StrippedAndLowercased => "stripped-lowercase",
        }
    }
}

/// The characters that Python's `strip` removes: the white space of Unicode, and four control characters that separate parts of files.
fn is_python_space(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '\u{1c}'..='\u{1f}')
}

/// Refuses queries that would be padded beyond the longest window.
pub(super) fn check_query_length(
    folder: &Folder,
    file: &str,
    key: &'static str,
    tokens: usize,
) -> Result<(), LocalError> {
    if tokens > LONGEST {
        return Err(folder.unsupported(file, key, tokens.to_string()));
    }
    Ok(())
}
