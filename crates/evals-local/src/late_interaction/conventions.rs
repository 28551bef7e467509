use serde::Deserialize;
use serde_json::Value;

use super::{colbert, pylate};
use crate::error::LocalError;
use crate::families::Family;
use crate::folder::Folder;
use crate::model::LONGEST;

const TOKENIZER: &str = "tokenizer_config.json";

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

/// The keys by which a folder shows that it holds such a model.
#[derive(Debug, Default, Deserialize)]
struct Marks {
    architectures: Option<Vec<String>>,
}

impl Conventions {
    /// Reads them from the files of either library.
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        match pylate::conventions(folder)? {
            Some(conventions) => Ok(conventions),
            None => colbert::conventions(folder),
        }
    }
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
        match SpecialTokens::read(folder)?.padding_side.as_deref() {
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

/// Whether the folder says that it holds a model of late interaction.
pub(crate) fn is_late_interaction(folder: &Folder) -> Result<bool, LocalError> {
    let marks: Marks = folder.json("config.json")?.unwrap_or_default();
    let mut architectures = marks.architectures.iter().flatten();
    let is_colbert = architectures.any(|name| name == "HF_ColBERT");
    Ok(
        is_colbert
            || folder.path(colbert::FILE).is_file()
            || pylate::conventions(folder)?.is_some(),
    )
}

/// The names of special tokens, and where padding goes, from `tokenizer_config.json`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SpecialTokens {
    #[serde(rename = "mask_token")]
    mask: Option<Value>,
    #[serde(rename = "eos_token")]
    end: Option<Value>,
    #[serde(rename = "pad_token")]
    padding: Option<Value>,
    #[serde(rename = "unk_token")]
    unknown: Option<Value>,
    padding_side: Option<String>,
}

impl SpecialTokens {
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        Ok(folder.json(TOKENIZER)?.unwrap_or_default())
    }

    /// The token that queries are filled up with.
    pub(super) fn filler(&self) -> String {
        let names = [&self.mask, &self.end];
        let named = names.into_iter().find_map(|token| name(token.as_ref()));
        named.unwrap_or("[MASK]").to_owned()
    }

    pub(super) fn padding(&self) -> String {
        name(self.padding.as_ref()).unwrap_or("[PAD]").to_owned()
    }

    pub(super) fn unknown(&self) -> String {
        name(self.unknown.as_ref()).unwrap_or("[UNK]").to_owned()
    }
}

/// Special tokens are written as text, or as an object with how they are matched.
fn name(token: Option<&Value>) -> Option<&str> {
    match token? {
        Value::String(name) => Some(name),
        other => other.get("content")?.as_str(),
    }
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

/// The punctuation of ASCII, each sign by itself: what Python calls `string.punctuation`.
pub(super) fn punctuation() -> Vec<String> {
    let signs = ('!'..='~').filter(char::is_ascii_punctuation);
    signs.map(String::from).collect()
}
