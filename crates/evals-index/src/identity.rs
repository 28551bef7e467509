//! The identity of an index: the settings that its content depends on, and the name of its table.

use std::fmt;

use evals_models::ModelIdentity;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::full_text::ANALYZER;
use crate::full_text::FullText;

/// Version of the table's columns and of their content. Another version is another table.
const SCHEMA_VERSION: u32 = 1;
/// The names of all index tables, and of no other tables, start with this.
pub(crate) const NAME_PREFIX: &str = "index-";
/// The prefix of the names of all tables of vector indexes. No other table has it.
const VECTORS_PREFIX: &str = "vectors-";

/// Whether a table with this name belongs to an index of this program.
pub(crate) fn is_of_index(table: &str) -> bool {
    [NAME_PREFIX, VECTORS_PREFIX]
        .iter()
        .any(|prefix| table.starts_with(prefix))
}

/// Everything that the content of an index depends on.
///
/// The table's schema stores it and its hash names the table. One store therefore holds an index for each combination of settings, and
/// a search never uses an index that was built with other settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    schema: u32,
    dataset: String,
    chunking: ChunkingIdentity,
    embedder: Option<EmbedderIdentity>,
    full_text: FullText,
    /// The analyzer of the full-text index, with its version: another version may produce other terms.
    analyzer: String,
}

/// How documents were split: [`Identity`]'s record of a [`Chunker`](crate::Chunker).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChunkingIdentity {
    /// One chunk for each document.
    WholeDocuments,
    /// Chunks of at most `size` tokens.
    Tokens {
        /// Most tokens in a chunk.
        size: usize,
        /// Tokens that neighbours share.
        overlap: usize,
        /// The tokenizer that counts the tokens.
        tokenizer: String,
        /// The splitter that finds the boundaries, with its version: another version may split elsewhere.
        splitter: String,
    },
}

/// The embedder of the chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderIdentity {
    /// The model.
    pub model: ModelIdentity,
    /// Length of its vectors.
    pub dimension: usize,
}

/// One field in which the identity of an index and that of the settings differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The field, as in `embedder`.
    pub field: &'static str,
    /// The index's value.
    pub index: String,
    /// The settings' value.
    pub settings: String,
}

impl Identity {
    pub(crate) fn new(
        dataset: String,
        chunking: ChunkingIdentity,
        embedder: Option<EmbedderIdentity>,
        full_text: FullText,
    ) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            dataset,
            chunking,
            embedder,
            full_text,
            analyzer: ANALYZER.to_owned(),
        }
    }

    /// The model that embedded the chunks; `None` for an index without vectors, which serves lexical profiles only.
    pub fn embedder(&self) -> Option<&EmbedderIdentity> {
        self.embedder.as_ref()
    }

    /// The fingerprint of the dataset that the documents came from.
    pub fn dataset(&self) -> &str {
        &self.dataset
    }

    /// How documents were split.
    pub fn chunking(&self) -> &ChunkingIdentity {
        &self.chunking
    }

    /// The settings of the full-text index.
    pub fn full_text(&self) -> &FullText {
        &self.full_text
    }

    /// The analyzer of the full-text index, with its version.
    pub fn analyzer(&self) -> &str {
        &self.analyzer
    }

    /// Name of the table that holds this index: `index-` and 16 hexadecimal digits of the identity's SHA-256.
    pub fn table_name(&self) -> String {
        let digest = Sha256::digest(self.to_json());
        let first = digest.first_chunk().expect("SHA-256 has 32 bytes");
        format!("{NAME_PREFIX}{:016x}", u64::from_be_bytes(*first))
    }

    /// The prefix of the names of all vector indexes of this index. No other table has it.
    pub(crate) fn vectors_prefix(&self) -> String {
        let table = self.table_name();
        let digits = table.strip_prefix(NAME_PREFIX).unwrap_or(&table);
        format!("{VECTORS_PREFIX}{digits}-")
    }

    /// The fields in which an index with this identity differs from `settings`, in a fixed order.
    pub fn differences(&self, settings: &Self) -> Vec<Difference> {
        self.fields()
            .into_iter()
            .zip(settings.fields())
            .filter(|(index, settings)| index.1 != settings.1)
            .map(|((field, index), (_, settings))| Difference {
                field,
                index,
                settings,
            })
            .collect()
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self)
            .expect("an identity is strings and numbers, which JSON can hold")
    }

    fn fields(&self) -> [(&'static str, String); 5] {
        [
            ("table format", self.schema.to_string()),
            ("dataset", self.dataset.clone()),
            ("chunking", self.chunking.to_string()),
            (
                "embedder",
                self.embedder
                    .as_ref()
                    .map_or_else(|| "none".to_owned(), ToString::to_string),
            ),
            (
                "full text",
                format!("{}, {}", self.full_text, self.analyzer),
            ),
        ]
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: index has `{}`, settings ask for `{}`",
            self.field, self.index, self.settings
        )
    }
}

impl fmt::Display for ChunkingIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WholeDocuments => formatter.write_str("whole documents"),
            Self::Tokens {
                size,
                overlap,
                tokenizer,
                splitter,
            } => write!(
                formatter,
                "{size} tokens of {tokenizer}, overlap {overlap}, {splitter}"
            ),
        }
    }
}

impl fmt::Display for EmbedderIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.model)?;
        if let Some(digest) = &self.model.digest {
            write!(formatter, "@{digest}")?;
        }
        write!(formatter, " ({} dimensions)", self.dimension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(embedder: Option<&str>) -> Identity {
        Identity::new(
            "scifact@1a2b".to_owned(),
            ChunkingIdentity::WholeDocuments,
            embedder.map(|name| EmbedderIdentity {
                model: ModelIdentity::new("ollama", name),
                dimension: 4,
            }),
            FullText::default(),
        )
    }

    #[test]
    fn the_name_follows_the_content() {
        let name = identity(None).table_name();
        assert_eq!(name, identity(None).table_name());
        assert_eq!(name.len(), "index-".len() + 16);
        assert_ne!(name, identity(Some("qwen3")).table_name());
    }

    #[test]
    fn differences_name_field_and_both_values() {
        let index = identity(Some("qwen3-embedding"));
        assert_eq!(index.differences(&index), []);
        let settings = identity(None);
        let differences: Vec<_> = index
            .differences(&settings)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            differences,
            [
                "embedder: index has `ollama:qwen3-embedding (4 dimensions)`, settings ask for `none`"
            ]
        );
    }

    #[test]
    fn other_weights_are_a_difference() {
        let mut newer = identity(Some("qwen3"));
        newer.embedder.as_mut().unwrap().model.digest = Some("b2".to_owned());
        let differences = identity(Some("qwen3")).differences(&newer);
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].settings, "ollama:qwen3@b2 (4 dimensions)");
    }

    #[test]
    fn another_analyzer_is_a_difference() {
        let mut newer = identity(None);
        newer.analyzer = "lance 15.0.0".to_owned();
        let differences = identity(None).differences(&newer);
        assert_eq!(
            differences[0].to_string(),
            "full text: index has `English, stemmed, without stop words, lance 14.0.2`, \
             settings ask for `English, stemmed, without stop words, lance 15.0.0`"
        );
        assert_ne!(newer.table_name(), identity(None).table_name());
    }

    #[test]
    fn survives_its_json() {
        let identity = identity(Some("qwen3"));
        assert_eq!(
            serde_json::from_str::<Identity>(&identity.to_json()).unwrap(),
            identity
        );
    }
}
