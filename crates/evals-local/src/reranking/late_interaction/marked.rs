//! The tokens of queries and documents, with their markers.

use super::conventions::{Conventions, Expansion, Preparation, Skipped, TextSide};
use crate::error::LocalError;
use crate::folder::Folder;
use crate::tokenizer::{Encoded, Tokens};

/// Turns queries and documents into the tokens that the model expects.
#[derive(Debug)]
pub(super) struct Marked {
    queries: MarkedSide,
    documents: MarkedSide,
    filler: Option<Filler>,
    /// Tokens of documents that are not compared, sorted.
    skipped: Vec<u32>,
    padding: Option<u32>,
}

/// One of the two kinds of text.
#[derive(Debug)]
struct MarkedSide {
    tokens: Tokens,
    marker: Option<u32>,
    prompt: String,
    preparation: Preparation,
}

/// The token and the length of query expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Filler {
    token: u32,
    is_attended: bool,
    length: usize,
}

impl Marked {
    pub(super) fn new(
        folder: &Folder,
        conventions: &Conventions,
        tokens: &Tokens,
    ) -> Result<Self, LocalError> {
        let id = |token: &String| tokens.required_id(folder, token);
        let filler = |expansion: &Expansion| {
            Ok(Filler {
                token: id(&expansion.token)?,
                is_attended: expansion.is_attended,
                length: conventions.query.tokens,
            })
        };
        let filler = conventions.expansion.as_ref().map(filler).transpose()?;
        let padding = conventions.padding.as_ref().map(id).transpose()?;
        let mut skipped = skipped(folder, &conventions.skipped, tokens)?;
        skipped.extend(padding);
        skipped.sort_unstable();
        let side = |side| MarkedSide::new(folder, side, conventions.preparation, tokens.clone());
        Ok(Self {
            queries: side(&conventions.query)?,
            documents: side(&conventions.document)?,
            filler,
            skipped,
            padding,
        })
    }

    /// The tokens of a query, padded to its full length if the model expects that.
    pub(super) fn query(&self, text: &str) -> Result<Encoded, tokenizers::Error> {
        let mut encoded = self.queries.encode(text)?;
        let Some(filler) = self.filler else {
            return Ok(encoded);
        };
        for id in &mut encoded.ids {
            if Some(*id) == self.padding {
                *id = filler.token;
            }
        }
        encoded.ids.resize(filler.length, filler.token);
        encoded.segments.resize(filler.length, 0);
        if filler.is_attended {
            encoded.attended = filler.length;
        }
        Ok(encoded)
    }

    /// The tokens of a document.
    pub(super) fn document(&self, text: &str) -> Result<Encoded, tokenizers::Error> {
        self.documents.encode(text)
    }

    /// Whether a token of a document is compared with those of queries.
    pub(super) fn is_compared(&self, token: u32) -> bool {
        self.skipped.binary_search(&token).is_err()
    }
}

impl MarkedSide {
    fn new(
        folder: &Folder,
        side: &TextSide,
        preparation: Preparation,
        tokens: Tokens,
    ) -> Result<Self, LocalError> {
        let id = |token: &String| tokens.required_id(folder, token);
        let marker = side.marker.as_ref().map(id).transpose()?;
        let room = side.tokens - usize::from(marker.is_some());
        Ok(Self {
            tokens: tokens.limited(folder, room, false)?,
            marker,
            prompt: side.prompt.clone(),
            preparation,
        })
    }

    /// The tokens of a text, with the marker after the first token.
    fn encode(&self, text: &str) -> Result<Encoded, tokenizers::Error> {
        let text = self.preparation.of(format!("{}{text}", self.prompt));
        let mut encoded = self.tokens.encode(&text)?;
        if let Some(marker) = self.marker {
            let second = encoded.ids.len().min(1);
            encoded.ids.insert(second, marker);
            encoded.segments.insert(second, 0);
            encoded.attended += 1;
        }
        Ok(encoded)
    }
}

fn skipped(folder: &Folder, skipped: &Skipped, tokens: &Tokens) -> Result<Vec<u32>, LocalError> {
    match skipped {
        Skipped::First(texts) => {
            let ids = texts.iter().map(|text| tokens.plain(text));
            let ids = ids.collect::<Result<Vec<_>, _>>();
            let ids = ids.map_err(|source| folder.tokenizer_error(source))?;
            Ok(ids.iter().filter_map(|ids| ids.first().copied()).collect())
        }
        Skipped::Tokens {
            tokens: skipped,
            unknown,
        } => {
            let id = |token: &String| tokens.id(token).or_else(|| tokens.id(unknown));
            Ok(skipped.iter().filter_map(id).collect())
        }
    }
}
