//! Late interaction: rerankers that compare every token of a query with every token of a text, as `ColBERT` does.

mod colbert;
mod conventions;
mod marked;
mod max_sim;
mod pylate;
mod special_tokens;

use std::sync::Arc;

use evals_models::TextKind;

use self::conventions::{Conventions, Projected};
use self::marked::Marked;
use self::max_sim::{QueryVectors, normalize_rows};
use crate::digest;
use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;
use crate::model::{Model, Parts, check_special, numbers};
use crate::reranking::scorer::Scorer;
use crate::role;
use crate::settings::LocalSettings;
use crate::tokenizer::Encoded;
use crate::vectors::{Dense, Projection, Subject};
use crate::workers::{Failed, Timed, Workers};

/// Files that state how texts are read and compared. All of them are part of the identity.
const FILES: [&str; 6] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "artifact.metadata",
    "modules.json",
    "config_sentence_transformers.json",
];

/// A model that encodes query and text separately. Every call encodes all of its texts, which takes as long as embedding them with
/// the same encoder. The comparison takes less than a thousandth of that.
#[derive(Debug)]
pub(in crate::reranking) struct LateInteraction {
    model: Model,
    projection: Projection,
    marked: Marked,
}

impl LateInteraction {
    /// Loads a model, and computes the digest of everything that scores depend on.
    pub(in crate::reranking) fn open(
        folder: &Folder,
        settings: &LocalSettings,
    ) -> Result<(Self, String), LocalError> {
        role::check_unprompted(folder, settings)?;
        let mut conventions = match pylate::conventions(folder)? {
            Some(conventions) => conventions,
            None => colbert::conventions(folder)?,
        };
        conventions.check(folder)?;
        let (model, projection) = Model::open(folder, settings.dtype, |parts| {
            projection(folder, &conventions, parts)
        })?;
        let stated = Some(conventions.document.tokens);
        conventions.document.tokens = model.window(settings, stated, false)?;
        for kind in [TextKind::Query, TextKind::Document] {
            check_room(folder, &conventions, kind, &model)?;
        }
        let digest = digest(folder, settings, &conventions, &model, &projection)?;
        let scorer = Self {
            marked: Marked::new(folder, &conventions, &model.tokens)?,
            model,
            projection,
        };
        Ok((scorer, digest))
    }

    fn query_vectors(
        &self,
        text: &str,
        scratch: &mut Scratch,
    ) -> Result<QueryVectors, tokenizers::Error> {
        let encoded = self.marked.query(text)?;
        let hidden = self.model.encoder.encode(&[&encoded], scratch);
        let rows = self.compared(hidden, scratch);
        Ok(QueryVectors::new(rows, self.projection.width, scratch))
    }

    /// The vectors to compare, from the vectors of the encoder.
    fn compared(&self, hidden: Vec<f32>, scratch: &mut Scratch) -> Vec<f32> {
        let mut rows = self.projection.apply(hidden, scratch);
        normalize_rows(&mut rows, self.projection.width);
        rows
    }
}

impl Scorer for LateInteraction {
    type Query = QueryVectors;

    async fn query(
        self: Arc<Self>,
        query: String,
        workers: &Workers,
    ) -> Result<Timed<QueryVectors>, Failed> {
        let task = move |scratch: &mut Scratch| self.query_vectors(&query, scratch);
        let Timed { value, took } = workers.run(vec![task]).await?;
        let query = value.into_iter().next();
        let value = query.expect("one task has one result")?;
        Ok(Timed { value, took })
    }

    fn encode(&self, _: &QueryVectors, text: &str) -> Result<Encoded, tokenizers::Error> {
        self.marked.document(text)
    }

    fn scores(&self, query: &QueryVectors, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<f32> {
        let width = self.model.encoder.width();
        self.model.encode(texts, scratch, |text, tokens, scratch| {
            let rows = text.ids.iter().zip(tokens.chunks_exact(width));
            let rows = rows.filter(|(id, _)| self.marked.is_compared(**id));
            let rows = rows.flat_map(|(_, row)| row).copied().collect();
            let document = self.compared(rows, scratch);
            query.score(&document, scratch)
        })
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
        return Err(LocalError::positions(side.tokens, available));
    }
    check_special(side.tokens, special)?;
    let prompt = conventions.preparation.of(side.prompt.clone());
    let room = model.room(folder, (kind, &prompt), side.tokens, special);
    room.map(drop)
}

/// Covers the weights and everything else that scores depend on.
fn digest(
    folder: &Folder,
    settings: &LocalSettings,
    conventions: &Conventions,
    model: &Model,
    projection: &Projection,
) -> Result<String, LocalError> {
    let files = FILES.map(|file| Ok(folder.bytes(file)?.unwrap_or_default()));
    let files = files.into_iter().collect::<Result<Vec<_>, LocalError>>()?;
    let digests = projection.digests.iter().map(String::as_bytes);
    let preparation = conventions.preparation.name().as_bytes();
    let parts = files.iter().map(Vec::as_slice);
    let parts: Vec<&[u8]> = parts.chain([preparation]).chain(digests).collect();
    Ok(format!(
        "sha256:{},max-sim,{},{},{},{}",
        model.digest,
        conventions.query.tokens,
        conventions.document.tokens,
        numbers(settings.dtype),
        digest::short(&parts)
    ))
}

/// Whether the files of a folder say that it holds a late-interaction model.
pub(crate) fn is_late_interaction(folder: &Folder) -> Result<bool, LocalError> {
    let mut architectures = Family::architectures(folder)?.into_iter();
    let is_colbert = architectures.any(|name| name == "HF_ColBERT");
    Ok(
        is_colbert
            || folder.path(colbert::FILE).is_file()
            || pylate::conventions(folder)?.is_some(),
    )
}
