//! Rerankers: models that score a text for a query.

mod classifier;
mod cross_encoder;
mod last_token;
mod late_interaction;
mod pair_reading;
mod prompt;
mod scorer;

use std::path::Path;
use std::sync::Arc;

pub(crate) use late_interaction::is_late_interaction;

use crate::error::LocalError;
use crate::folder::Folder;
use crate::settings::LocalSettings;
use cross_encoder::CrossEncoder;
use evals_models::Reranker;
use late_interaction::LateInteraction;
use scorer::LocalReranker;

/// Opens the reranker in a folder as the hub lays it out, or in a repository in the hub's cache: a late-interaction model if its
/// files say so, else a cross-encoder.
///
/// A cross-encoder is either a classifier with one output: ms-marco-MiniLM (BERT), bge-reranker (XLM-RoBERTa),
/// gte-reranker-modernbert (`ModernBERT`). Or it is a language model that is asked whether the text answers the query:
/// Qwen3-Reranker (Qwen3), mxbai-rerank v2 (Qwen2). Scores are the output of the classifier, or the log-odds of the language model's
/// answers: the logit of `yes` minus that of `no`. No sigmoid is applied, which would crowd high scores together; the sigmoid of a
/// score is the probability that model cards state.
///
/// A late-interaction model is in the layout of `ColBERT` (colbertv2.0, answerai-colbert-small-v1) or of `PyLate`
/// (GTE-ModernColBERT-v1). Query and text are encoded separately, as one vector of length 1 for each token. The score is `MaxSim`:
/// for each token of the query, the highest cosine with a token of the text, summed over the query. It is exact: nothing is
/// compressed or looked up in an index.
///
/// The score of a text is the same to the last bit in every batch.
///
/// It uses `name`, `max_tokens`, `dtype` and `threads` of `settings`. Language models also use `instruction` and `rerank_prompt`,
/// which are errors with others. `max_tokens` limits a whole pair: truncation cuts the longer text first, or the document in the
/// prompt of a language model. In late interaction it limits texts; the model sets the length of queries.
pub fn open_reranker(
    path: impl AsRef<Path>,
    settings: &LocalSettings,
) -> Result<Arc<dyn Reranker>, LocalError> {
    let folder = Folder::open(path.as_ref())?;
    Ok(if is_late_interaction(&folder)? {
        let (scorer, digest) = LateInteraction::open(&folder, settings)?;
        Arc::new(LocalReranker::start(&folder, settings, scorer, digest)?)
    } else {
        let (scorer, digest) = CrossEncoder::open(&folder, settings)?;
        Arc::new(LocalReranker::start(&folder, settings, scorer, digest)?)
    })
}
