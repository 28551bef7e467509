//! The tokens by which a language model answers whether a text is relevant.

use serde::Deserialize;

use crate::error::LocalError;
use crate::folder::{Folder, Module};

/// The tokens whose logits make the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) positive: u32,
    /// Its logit is subtracted. `None` means that the logit of `positive` is the score.
    pub(crate) negative: Option<u32>,
}

/// The last module of such a reranker in sentence-transformers.
#[derive(Debug, Deserialize)]
struct LogitScore {
    true_token_id: u32,
    false_token_id: Option<u32>,
}

/// The answers that `modules.json` states. Other steps than the transformer are refused.
pub(super) fn answers(folder: &Folder, modules: &[Module]) -> Result<Option<Answers>, LocalError> {
    let mut answers = None;
    for module in modules {
        match module.name() {
            "Transformer" => {}
            "LogitScore" => {
                let stated: LogitScore = folder.subfolder(&module.path)?.required("config.json")?;
                answers = Some(Answers {
                    positive: stated.true_token_id,
                    negative: stated.false_token_id,
                });
            }
            "Pooling" => {
                let reason = "`modules.json` makes it an embedder, which pools tokens to a vector";
                return Err(folder.no_reranker_error(reason));
            }
            _ => return Err(folder.unsupported("modules.json", "type", &module.kind)),
        }
    }
    Ok(answers)
}
