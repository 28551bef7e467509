//! The corpus of a dataset: its ids, and its texts for documents that are matched by text.

use std::collections::HashSet;

use anyhow::{Context as _, Result};
use evals_data::Collection;
use evals_rag::Document;
use evals_rag::targets::matching::{Corpus, CorpusError};

/// The documents of a collection.
#[derive(Debug)]
pub(super) struct CollectionCorpus(pub(super) Collection);

impl Corpus for CollectionCorpus {
    fn read(
        &self,
        each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
    ) -> Result<(), CorpusError> {
        if !self.0.manifest().has_documents() {
            return Ok(());
        }
        for document in self.0.documents()? {
            each(document?)?;
        }
        Ok(())
    }
}

/// The ids of all documents; none if the dataset has questions and answers alone.
pub(super) async fn ids(collection: &Collection) -> Result<HashSet<String>> {
    if !collection.manifest().has_documents() {
        return Ok(HashSet::new());
    }
    let reading = collection.clone();
    // On another thread, because this reads the whole corpus, and this thread has to notice an interruption.
    let read = tokio::task::spawn_blocking(move || {
        let documents = reading.documents()?;
        documents.map(|document| Ok(document?.uri)).collect()
    })
    .await;
    read.context("the task that reads the documents was cancelled")?
}
