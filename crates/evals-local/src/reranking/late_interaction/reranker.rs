//! The reranker of late interaction.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use super::conventions::{Conventions, Projected};
use super::marked::Marked;
use super::max_sim::{QueryVectors, normalize_rows};
use crate::digest;
use crate::encoder::{Encoder, Scratch};
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::{Model, Parts, named, numbers, threads};
use crate::reranking::scores::{comparable, reranked};
use crate::role;
use crate::settings::LocalSettings;
use crate::tokenizer::Encoded;
use crate::vectors::{Dense, Projection, Subject};
use crate::workers::{Timed, Workers};
use evals_models::wording::truncation_note;
use evals_models::{ModelIdentity, RerankError, Reranked, Reranker, TextKind};

/// Files that state how texts are read and compared. All of them are part of the identity.
const FILES: [&str; 6] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "artifact.metadata",
    "modules.json",
    "config_sentence_transformers.json",
];

/// A late-interaction model run in the process, in the layout of `ColBERT` (colbertv2.0, answerai-colbert-small-v1) or of `PyLate`
/// (GTE-ModernColBERT-v1).
///
/// Query and text are encoded separately, as one vector of length 1 for each token. The score is `MaxSim`: for each token of the
/// query, the highest cosine with a token of the text, summed over the query. It is exact: nothing is compressed or looked up in an
/// index.
///
/// Every call encodes all of its texts, which takes as long as embedding them with the same encoder. The comparison takes less than
/// a thousandth of that. The score of a text is the same to the last bit in every batch.
#[derive(Debug)]
pub struct LateInteractionReranker {
    identity: ModelIdentity,
    scorer: Arc<Scorer>,
    workers: Workers,
    /// Number of truncated texts.
    cut: AtomicU64,
}

/// Computes the vectors of the tokens of a text.
#[derive(Debug)]
struct Scorer {
    encoder: Encoder,
    projection: Projection,
    marked: Marked,
}

impl LateInteractionReranker {
    /// Loads a model from a folder as the hub lays it out, or from a repository in the hub's cache.
    ///
    /// It uses `name`, `max_tokens`, `dtype` and `threads` of `settings`. `max_tokens` limits texts, special tokens included; the
    /// model sets the length of queries. `instruction` and `rerank_prompt` are errors.
    pub fn open(path: impl AsRef<Path>, settings: &LocalSettings) -> Result<Self, LocalError> {
        let folder = Folder::open(path.as_ref())?;
        role::check_unprompted(&folder, settings)?;
        let mut conventions = Conventions::read(&folder)?;
        conventions.check(&folder)?;
        let (model, projection) = Model::open(&folder, settings.dtype, |parts| {
            projection(&folder, &conventions, parts)
        })?;
        let stated = Some(conventions.document.tokens);
        conventions.document.tokens = model.window(settings, stated, false)?;
        for kind in [TextKind::Query, TextKind::Document] {
            check_room(&folder, &conventions, kind, &model)?;
        }
        let identity = identity(&folder, settings, &conventions, &model, &projection)?;
        let Model {
            encoder, tokens, ..
        } = model;
        Ok(Self {
            identity,
            scorer: Arc::new(Scorer {
                encoder,
                projection,
                marked: Marked::new(&folder, &conventions, tokens)?,
            }),
            workers: Workers::start(threads(settings))?,
            cut: AtomicU64::new(0),
        })
    }

    async fn scores(
        &self,
        query: &str,
        texts: &[&str],
    ) -> Result<Timed<Vec<f32>>, Box<dyn Error + Send + Sync>> {
        let query = self.query(query).await?;
        let (query, before) = (Arc::new(query.value), query.took);
        let scorer = Arc::clone(&self.scorer);
        let encode = move |text: &str| scorer.marked.document(text);
        let encoded = self.workers.tokenize(texts, encode).await?;
        let cut = encoded.value.iter().filter(|pair| pair.is_cut).count();
        self.cut.fetch_add(cut as u64, Ordering::Relaxed);
        let scorer = Arc::clone(&self.scorer);
        let score = move |texts: &[&Encoded], scratch: &mut Scratch| {
            let documents = scorer.documents(texts, scratch);
            let scores = documents.iter().map(|text| query.score(text, scratch));
            scores.collect()
        };
        let scores = self.workers.compute(encoded.value, score).await?;
        comparable(scores.after(before + encoded.took))
    }

    async fn query(
        &self,
        query: &str,
    ) -> Result<Timed<QueryVectors>, Box<dyn Error + Send + Sync>> {
        let (scorer, query) = (Arc::clone(&self.scorer), query.to_owned());
        let task = move |scratch: &mut Scratch| scorer.query(&query, scratch);
        let Timed { value, took } = self.workers.run(vec![task]).await?;
        let query = value.into_iter().next();
        let value = query.expect("one task has one result")?;
        Ok(Timed { value, took })
    }
}

impl Scorer {
    fn query(&self, text: &str, scratch: &mut Scratch) -> Result<QueryVectors, tokenizers::Error> {
        let encoded = self.marked.query(text)?;
        let hidden = self.encoder.encode(&[&encoded], scratch);
        let rows = self.compared(hidden, scratch);
        Ok(QueryVectors::new(rows, self.projection.width(), scratch))
    }

    /// The vectors of the compared tokens of each text.
    fn documents(&self, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<Vec<f32>> {
        let width = self.encoder.width();
        let hidden = self.encoder.encode(texts, scratch);
        let mut rest = hidden.chunks_exact(width);
        let compared = texts.iter().map(|text| {
            let rows = text.ids.iter().zip(rest.by_ref());
            let rows = rows.filter(|(id, _)| self.marked.is_compared(**id));
            let rows = rows.flat_map(|(_, row)| row).copied().collect();
            self.compared(rows, scratch)
        });
        compared.collect()
    }

    /// The vectors to compare, from the vectors of the encoder.
    fn compared(&self, hidden: Vec<f32>, scratch: &mut Scratch) -> Vec<f32> {
        let mut rows = self.projection.apply(hidden, scratch);
        normalize_rows(&mut rows, self.projection.width());
        rows
    }
}

fn projection(
    folder: &Folder,
    conventions: &Conventions,
    parts: &Parts<'_>,
) -> Result<Projection, LocalError> {
    let width = parts.encoder.width();
    match &conventions.projection {
        Projected::Modules(paths) => Projection::load(folder, paths, width, Subject::Tokens),
        Projected::Tensor { name, outputs } => {
            let map = Dense::plain(parts.builder.head(name, width, *outputs)?);
            Ok(Projection::single(map))
        }
    }
}

/// Checks that the model has enough positions, and that special tokens, marker and prompt leave room for a text.
fn check_room(
    folder: &Folder,
    conventions: &Conventions,
    kind: TextKind,
    model: &Model,
) -> Result<(), LocalError> {
    let side = match kind {
        TextKind::Query => &conventions.query,
        TextKind::Document => &conventions.document,
    };
    let special = model.tokens.special(false) + usize::from(side.marker.is_some());
    if let Some(available) = model.encoder.max_positions
        && side.tokens > available
    {
        return Err(LocalError::Positions {
            requested: side.tokens,
            available,
        });
    }
    if side.tokens <= special {
        return Err(LocalError::Window {
            max_tokens: side.tokens,
            special,
        });
    }
    let prompt = conventions.preparation.of(side.prompt.clone());
    let room = model.room(folder, (kind, &prompt), side.tokens, special);
    room.map(drop)
}

/// Covers the weights and everything else that scores depend on.
fn identity(
    folder: &Folder,
    settings: &LocalSettings,
    conventions: &Conventions,
    model: &Model,
    projection: &Projection,
) -> Result<ModelIdentity, LocalError> {
    let files = FILES
        .iter()
        .map(|file| Ok(folder.bytes(file)?.unwrap_or_default()))
        .collect::<Result<Vec<_>, LocalError>>()?;
    let digests = projection.digests().iter().map(String::as_bytes);
    let preparation = conventions.preparation.name().as_bytes();
    let parts: Vec<&[u8]> = files
        .iter()
        .map(Vec::as_slice)
        .chain([preparation])
        .chain(digests)
        .collect();
    let digest = format!(
        "sha256:{},max-sim,{},{},{},{}",
        model.digest,
        conventions.query.tokens,
        conventions.document.tokens,
        numbers(settings.dtype),
        digest::short(&parts)
    );
    Ok(named(folder, settings, digest))
}

#[async_trait]
impl Reranker for LateInteractionReranker {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// How many pairs were truncated so far.
    fn notes(&self) -> Vec<String> {
        let note = truncation_note(self.cut.load(Ordering::Relaxed), "pair");
        note.into_iter().collect()
    }

    /// Ignores `repeat`: every forward pass computes the same scores.
    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        _repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let scores = self.scores(query, texts).await;
        reranked(&self.identity, texts.len(), scores)
    }
}
