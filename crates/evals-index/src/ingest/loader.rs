//! Filling a table: reading, chunking, embedding and writing at the same time.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::{StreamExt, stream};
use lancedb::table::Table;
use tokio::sync::mpsc;
use tokio::task::{self, JoinHandle};

use super::chunk;
use super::reader::{Documents, Portion, Reader};
use super::writer::Writer;
use super::{BuildObserver, BuildOptions, BuildProgress, BuildReport, BuildStage, embedding, rows};
use crate::address::Address;
use crate::error::IndexError;
use crate::recipe::Recipe;
use crate::table;
use crate::table::positions::Positions;

/// Portions that may wait between the reader and the tasks that chunk and embed.
const WAITING_PORTIONS: usize = 2;

/// Fills a table: one thread reads, several tasks chunk and embed, and one task writes in the order of the documents.
///
/// Memory is limited by the portions in flight and by the rows of one commit, except for what identifies documents: the uris that an
/// earlier build committed, and a fingerprint of each uri.
#[derive(Debug)]
pub(super) struct Loader<'a> {
    table: &'a Table,
    options: &'a BuildOptions,
    observer: &'a dyn BuildObserver,
    row_maker: RowMaker,
    committed: Arc<Positions>,
}

impl<'a> Loader<'a> {
    pub(super) async fn new(
        table: &'a Table,
        recipe: &Recipe,
        options: &'a BuildOptions,
        observer: &'a dyn BuildObserver,
        committed: Arc<Positions>,
    ) -> Result<Self, IndexError> {
        let row_maker = RowMaker {
            schema: table::row_schema(table, &recipe.identity()).await?,
            recipe: recipe.clone(),
            embed_batch: options.embed_batch.get(),
        };
        Ok(Self {
            table,
            options,
            observer,
            row_maker,
            committed,
        })
    }

    /// Loads all documents that the table does not have yet. Documents that are complete before a failure are committed.
    pub(super) async fn load(
        self,
        documents: Documents,
        address: Address,
    ) -> Result<(BuildReport, BuildProgress), IndexError> {
        let (sender, receiver) = mpsc::channel(WAITING_PORTIONS);
        let reader = Reader::new(Arc::clone(&self.committed), address);
        let reading = task::spawn_blocking(move || reader.run(documents, &sender));
        let mut writer = Writer::new(self.table, self.options);
        let mut report = BuildReport {
            resumed_documents: self.committed.documents(),
            ..BuildReport::default()
        };
        let outcome = self.run(receiver, &mut writer, &mut report).await;
        // If both fail, the first failure is the cause.
        outcome.and(writer.commit().await)?;
        report.read = reading.await?;
        report.write = writer.writing();
        let progress = self.progress(&report);
        Ok((report, progress))
    }

    async fn run(
        &self,
        receiver: mpsc::Receiver<Result<Portion, IndexError>>,
        writer: &mut Writer<'_>,
        report: &mut BuildReport,
    ) -> Result<(), IndexError> {
        self.observer.on_progress(self.progress(report));
        let portions = stream::unfold(receiver, async |mut receiver| {
            let portion = receiver.recv().await?;
            Some((portion, receiver))
        });
        let mut made = std::pin::pin!(
            portions
                .map(|portion| self.row_maker.clone().start(portion))
                .buffered(self.options.concurrency.get())
        );
        while let Some(rows) = made.next().await {
            let (batches, part) = rows??;
            report.documents += part.documents;
            report.chunks += part.chunks;
            report.bytes += part.bytes;
            report.chunk += part.chunk;
            report.embed += part.embed;
            report.stored_vectors += part.stored_vectors;
            writer.write(batches).await?;
            self.observer.on_progress(self.progress(report));
        }
        Ok(())
    }

    fn progress(&self, report: &BuildReport) -> BuildProgress {
        BuildProgress {
            stage: BuildStage::Loading,
            documents: self.committed.documents() + report.documents,
            chunks: self.committed.chunks() + report.chunks,
            bytes: report.bytes,
        }
    }
}

/// The rows of one portion, and the part of the report about them.
type Rows = (Vec<RecordBatch>, BuildReport);

/// Converts portions of documents into rows. Every portion has its own task, so the loader writes rows while others are computed.
#[derive(Debug, Clone)]
struct RowMaker {
    schema: SchemaRef,
    recipe: Recipe,
    embed_batch: usize,
}

impl RowMaker {
    fn start(self, portion: Result<Portion, IndexError>) -> JoinHandle<Result<Rows, IndexError>> {
        task::spawn(async move { self.make(portion?).await })
    }

    async fn make(self, portion: Portion) -> Result<Rows, IndexError> {
        let mut report = BuildReport {
            documents: portion.len(),
            bytes: portion.iter().map(|it| it.text.len() as u64).sum(),
            ..BuildReport::default()
        };
        let started = Instant::now();
        let chunker = self.recipe.chunker.clone();
        let mut chunks = task::spawn_blocking(move || chunk::chunks(portion, &chunker)).await?;
        report.chunks = chunks.len();
        report.chunk = started.elapsed();
        let started = Instant::now();
        let embedder = self.recipe.embedder.as_ref();
        if let Some(embedder) = embedder {
            report.stored_vectors =
                embedding::embed(&mut chunks, embedder, self.embed_batch).await?;
        }
        report.embed = started.elapsed();
        let dimension = embedder.map(|embedder| embedder.dimension());
        let batches = rows::batches(&chunks, &self.schema, dimension)
            .map_err(IndexError::during("lay out the rows of the index"))?;
        Ok((batches, report))
    }
}
