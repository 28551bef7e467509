//! Models in the layout of `PyLate`, which extends that of sentence-transformers: GTE-ModernColBERT-v1.
//!
//! Defaults and reading follow `pylate/models/colbert.py` of the package pylate 1.6.0.

use serde::Deserialize;

use super::conventions::{
    Conventions, Expansion, Preparation, Projected, Skipped, TextSide, check_query_length,
};
use super::special_tokens::{SpecialTokens, punctuation};
use crate::error::LocalError;
use crate::folder::{Folder, modules};
use crate::sentence_transformers::{ModuleOutput, Prompts, TransformerConfig};

const FILE: &str = "config_sentence_transformers.json";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PylateConfig {
    model_type: Option<String>,
    similarity_fn_name: Option<String>,
    query_prefix: Option<String>,
    document_prefix: Option<String>,
    query_length: Option<usize>,
    document_length: Option<usize>,
    attend_to_expansion_tokens: Option<bool>,
    do_query_expansion: Option<bool>,
    skiplist_words: Option<Vec<String>>,
}

/// Reads the conventions. `None` if the folder is not in this layout.
pub(super) fn conventions(folder: &Folder) -> Result<Option<Conventions>, LocalError> {
    let config: PylateConfig = folder.json(FILE)?.unwrap_or_default();
    let modules = modules(folder)?;
    match config.model_type.as_deref() {
        Some("MultiVectorEncoder") => {
            return Err(folder.unsupported(FILE, "model_type", "MultiVectorEncoder"));
        }
        Some("ColBERT") if !modules.is_empty() => {}
        _ if config.similarity_fn_name.as_deref() == Some("MaxSim") && !modules.is_empty() => {}
        _ => return Ok(None),
    }
    let (mut lowercase, mut dense) = (false, Vec::new());
    for module in modules {
        match module.name() {
            "Transformer" => {
                lowercase = TransformerConfig::read(folder, ModuleOutput::Tokens)?.do_lower_case;
            }
            "Dense" => dense.push(module.path),
            _ => return Err(folder.unsupported("modules.json", "type", module.kind)),
        }
    }
    let prompts = Prompts::read(folder)?;
    let special = SpecialTokens::read(folder)?;
    let query_length = config.query_length.unwrap_or(32);
    check_query_length(folder, FILE, "query_length", query_length)?;
    Ok(Some(Conventions {
        query: side(
            prompts.named("query").or_else(|| prompts.default()),
            config.query_prefix.as_deref().unwrap_or("[Q] "),
            query_length,
        ),
        document: side(
            prompts.named("document").or_else(|| prompts.default()),
            config.document_prefix.as_deref().unwrap_or("[D] "),
            config.document_length.unwrap_or(180),
        ),
        expansion: config
            .do_query_expansion
            .unwrap_or(true)
            .then(|| Expansion {
                token: special.filler(),
                is_attended: config.attend_to_expansion_tokens.unwrap_or(false),
            }),
        skipped: Skipped::Tokens {
            tokens: config.skiplist_words.unwrap_or_else(punctuation),
            unknown: special.unknown(),
        },
        padding: None,
        preparation: if lowercase {
            Preparation::StrippedAndLowercased
        } else {
            Preparation::Stripped
        },
        projection: Projected::Modules(dense),
    }))
}

/// The marker is inserted separately, so it is removed from a prompt that repeats it.
fn side(prompt: Option<&String>, prefix: &str, tokens: usize) -> TextSide {
    let prompt = prompt.map_or("", String::as_str);
    TextSide {
        marker: (!prefix.is_empty()).then(|| prefix.to_owned()),
        prompt: prompt.strip_prefix(prefix).unwrap_or(prompt).to_owned(),
        tokens,
    }
}
