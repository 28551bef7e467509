//! The index whose chunks are exported: the one that a run with the same settings searches.

use anyhow::Result;
use evals_data::{Collection, Manifest};
use evals_index::Index;
use evals_settings::{Layer, Resolved};
use evals_stores::store::RefreshPolicy;

use crate::choices::Choices;
use crate::interruption::Interruption;
use crate::models::{Servers, embedder};
use crate::options::SettingsArgs;
use crate::run::index;
use crate::run_models::Opener;
use crate::session::Session;
use crate::spending::Spending;

/// What decides how a corpus is chunked and embedded, checked before anything is downloaded.
#[derive(Debug)]
pub struct ChunkedCorpus {
    resolved: Resolved,
    choices: Choices,
    uri: String,
    with_vectors: bool,
}

impl ChunkedCorpus {
    /// The corpus of a manifest with these settings, in the index at `uri`; by default in the dataset's database.
    ///
    /// # Errors
    ///
    /// If the settings are unusable.
    pub fn new(
        session: &Session<'_>,
        manifest: &Manifest,
        settings: &SettingsArgs,
        uri: Option<&str>,
        with_vectors: bool,
    ) -> Result<Self> {
        let mut layers = vec![Layer::dataset(&manifest.origin, &manifest.settings)?];
        layers.extend(session.user_layers(settings, [])?);
        let resolved = evals_settings::resolve(layers)?;
        session.warn_of_matrix(&resolved);
        let choices = Choices::of(&resolved)?;
        if with_vectors {
            embedder::check(&resolved, &choices.models.embedder)?;
        }
        let database = || session.directories.database(&manifest.name);
        Ok(Self {
            uri: uri.map_or_else(|| database().display().to_string(), str::to_owned),
            resolved,
            choices,
            with_vectors,
        })
    }

    /// Opens the index, or builds it.
    ///
    /// # Errors
    ///
    /// If the model, the documents or the store cannot be used.
    pub async fn index(
        &self,
        session: &Session<'_>,
        collection: &Collection,
        interruption: &Interruption,
    ) -> Result<Index> {
        let models = &self.choices.models;
        let spending = Spending::new(None, interruption.stop());
        let servers = Servers::new(&self.resolved, models, session.printer, 0);
        let mut servers = servers.interrupted_by(interruption);
        let cache = Some(RefreshPolicy::Reuse);
        let mut opener = Opener::new(
            session,
            &self.resolved,
            models,
            &mut servers,
            cache,
            &spending,
            interruption,
        );
        let (chunker, vectors) = (&self.choices.chunker, self.with_vectors);
        let ready = index::of_settings(&mut opener, chunker, vectors, collection, &self.uri);
        Ok(ready.await?.index)
    }
}
