//! What the two layouts of late-interaction models state: how texts become tokens, and which tokens are compared.

use super::special_tokens::{FILE as TOKENIZER, SpecialTokens};
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;
use crate::model::LONGEST;

/// How texts become the tokens of a model of late interaction, and which of these count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conventions {
    pub(super) query: Side,
    pub(super) document: Side,
    pub(super) expansion: Expansion,
    /// Tokens of documents that are read but not compared.
    pub(super) skipped: Skipped,
    /// The padding token, where it means padding in a text too.
    pub(super) padding: Option<String>,
    pub(super) preparation: Preparation,
    pub(super) projection: Projected,
}

/// One of the two kinds of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// The token after a text's first one, which says of which kind the text is.
    pub(super) marker: Option<String>,
    /// Put before the text itself.
    pub(super) prompt: String,
    /// Tokens read, special ones and marker included.
    pub(super) tokens: usize,
}

/// What becomes of a text, its prompt included, before its tokens are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preparation {
    Nothing,
    /// White space is taken off both ends.
    Stripped,
    /// The same, and letters are made small.
    StrippedAndLowercased,
}

/// How short queries are filled up to their full length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expansion {
    Nothing,
    /// With this token, to which no other attends.
    Passive(String),
    /// With this token, to which others attend as to any.
    Attended(String),
}

/// What is written differently by the two libraries for the same end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Skipped {
    /// The first token of each of these texts.
    First(Vec<String>),
    /// Each of these tokens; in place of those that there are not, the unknown token.
    Tokens {
        tokens: Vec<String>,
        unknown: String,
    },
}

/// Where the map from the encoder's vectors to those that are compared is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Projected {
    /// It is among the model's own weights, by this name, and gives vectors of as many values.
    Tensor { name: &'static str, outputs: usize },
    /// It is the modules in these folders.
    Modules(Vec<String>),
}

impl Conventions {
    /// Refuses queries whose fillers would have other vectors than here: `DeBERTa` hides the tokens that are not attended to
    /// from themselves too, and fillers may stand before a query.
    pub(super) fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        if self.expansion == Expansion::Nothing {
            return Ok(());
        }
        let is_passive = matches!(self.expansion, Expansion::Passive(_));
        if is_passive && Family::read(folder)? == Family::DebertaV2 {
            let value =
                "deberta-v2 whose queries are filled up with tokens that are not attended to";
            return Err(folder.unsupported("config.json", "model_type", value));
        }
        match SpecialTokens::read(folder)?.padding_side() {
            None | Some("right") => Ok(()),
            Some(side) => Err(folder.unsupported(TOKENIZER, "padding_side", side)),
        }
    }
}

impl Preparation {
    /// The text as the tokenizer gets it.
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

/// What Python strips: the white space of Unicode, and four signs that separate parts of files.
fn is_python_space(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '\u{1c}'..='\u{1f}')
}

/// Refuses queries that would be filled up beyond what is read of any text.
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
