//! Models in the layout of `ColBERT`: colbert-ir/colbertv2.0, answerai-colbert-small-v1.
//!
//! Defaults follow `colbert/infra/config/settings.py` of the package colbert-ai 0.2.22, and reading follows its
//! `colbert/modeling/colbert.py` and `colbert/modeling/tokenization`.

use serde::Deserialize;

use super::conventions::{
    Conventions, Expansion, Preparation, Projected, Skipped, TextSide, check_query_length,
};
use super::special_tokens::{SpecialTokens, punctuation};
use crate::error::LocalError;
use crate::folder::Folder;

pub(super) const FILE: &str = "artifact.metadata";

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Metadata {
    dim: usize,
    query_maxlen: usize,
    doc_maxlen: usize,
    mask_punctuation: bool,
    attend_to_mask_tokens: bool,
    query_token_id: String,
    doc_token_id: String,
}

impl Default for Metadata {
    fn default() -> Self {
        Self {
            dim: 128,
            query_maxlen: 32,
            doc_maxlen: 220,
            mask_punctuation: true,
            attend_to_mask_tokens: false,
            query_token_id: "[unused0]".to_owned(),
            doc_token_id: "[unused1]".to_owned(),
        }
    }
}

pub(super) fn conventions(folder: &Folder) -> Result<Conventions, LocalError> {
    let metadata: Metadata = folder.json(FILE)?.unwrap_or_default();
    folder.permit(
        FILE,
        &[("interaction", &["colbert"]), ("similarity", &["cosine"])],
    )?;
    if metadata.dim == 0 {
        return Err(folder.unsupported(FILE, "dim", metadata.dim.to_string()));
    }
    check_query_length(folder, FILE, "query_maxlen", metadata.query_maxlen)?;
    let special = SpecialTokens::read(folder)?;
    let side = |marker, tokens| TextSide {
        marker: Some(marker),
        prompt: String::new(),
        tokens,
    };
    Ok(Conventions {
        query: side(metadata.query_token_id, metadata.query_maxlen),
        document: side(metadata.doc_token_id, metadata.doc_maxlen),
        expansion: Some(Expansion {
            token: special.filler(),
            is_attended: metadata.attend_to_mask_tokens,
        }),
        skipped: Skipped::First(if metadata.mask_punctuation {
            punctuation()
        } else {
            Vec::new()
        }),
        padding: Some(special.padding()),
        preparation: Preparation::Nothing,
        projection: Projected::Tensor {
            name: "linear",
            outputs: metadata.dim,
        },
    })
}
