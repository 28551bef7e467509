//! An open index: building or opening it, and making searchers for its profiles.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array as _, AsArray};
use arrow::datatypes::{Float32Type, UInt64Type};
use evals_models::Embedder;
use evals_rag::qa::Neighbours;
use evals_rag::{Chunk, Document, Passage, Searcher};
use futures::{Stream, TryStreamExt};
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::approximation::Approximation;
use crate::error::IndexError;
use crate::guard::{guarded, guarded_table};
use crate::header::CutChunks;
use crate::identity::{self, Identity};
use crate::ingest::{
    self, BuildObserver, BuildOptions, BuildProgress, BuildReport, BuildStage, Documents,
};
use crate::neighbours::IndexNeighbours;
use crate::profile::Profile;
use crate::recipe::Recipe;
use crate::search::{
    BatchObserver, BatchSearcher, Cache, CachePolicy, Filter, Hit, IndexSearcher, QuestionBatch,
    SearchOptions, UsualTies, passages, reading,
};
use crate::store::{Depth, FileCheck, Store, WriteLock};
use crate::table;
use crate::table::chunks;
use crate::table::contents::Contents;
use crate::table::full_text::{self, Coverage};
use crate::table::positions::Positions;
use crate::table::vector_index;
use crate::table::{ROW_ID, VECTOR};
use crate::vector_table::{self, VectorTable};
use crate::vectors::VectorWriter;
use evals_rag::VectorSearch;

/// A complete index, open for searches.
#[derive(Debug, Clone)]
pub struct Index {
    identity: Identity,
    contents: Arc<Contents>,
    cache: Arc<Cache>,
    approximate: Option<Arc<VectorTable>>,
    notes: Vec<String>,
    cut: Option<CutChunks>,
}

/// The result of [`Index::build`].
#[derive(Debug)]
pub struct Built {
    /// The index.
    pub index: Index,
    /// The report of the build; `None` if the index was complete already.
    pub report: Option<BuildReport>,
}

impl Built {
    /// An index that was complete already.
    fn before(index: Index) -> Self {
        let report = None;
        Self { index, report }
    }
}

/// The size of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexStatistics {
    /// Documents in it.
    pub documents: usize,
    /// Chunks of these documents.
    pub chunks: usize,
    /// Bytes of its files: rows and full-text index.
    pub bytes: usize,
    /// The number of chunks that the embedding model truncated. `None` if an earlier version finished the index, or if the index has no vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_chunks: Option<CutChunks>,
}

impl Index {
    /// Opens the index of `recipe`. If it does not exist, builds it first; if its build was interrupted, resumes it.
    ///
    /// The store's folder is created if necessary. One process at a time builds in a store. Others wait for it
    /// ([`BuildObserver::on_wait`]) and use its index if it is the one that they want. A build may be killed at any time: its commits
    /// stay, and an incomplete index is never searched.
    ///
    /// `documents` is not read if the index is complete. It has to yield the same documents in the same order for the same dataset of
    /// the recipe.
    pub async fn build<I, E>(
        store: &Store,
        recipe: &Recipe,
        documents: I,
        options: &BuildOptions,
        observer: &dyn BuildObserver,
    ) -> Result<Built, IndexError>
    where
        I: IntoIterator<Item = Result<Document, E>>,
        I::IntoIter: Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
    {
        full_text::validate(&recipe.full_text)?;
        if let Some(index) = Self::find(store, recipe).await? {
            return Ok(Built::before(index));
        }
        let lock = store.lock(Some(&|holder| observer.on_wait(holder))).await?;
        let documents = ingest::documents(documents);
        // On the heap, as the engine's futures are large.
        let build = Self::build_alone(store, &lock, recipe, documents, options, observer);
        let built = Box::pin(build).await;
        lock.release().await;
        built
    }

    /// Builds the index under the lock, unless another process has finished it.
    async fn build_alone(
        store: &Store,
        lock: &WriteLock,
        recipe: &Recipe,
        documents: Documents,
        options: &BuildOptions,
        observer: &dyn BuildObserver,
    ) -> Result<Built, IndexError> {
        if let Some(index) = Self::find(store, recipe).await? {
            return Ok(Built::before(index));
        }
        let address = store.address(&recipe.identity().table_name());
        let build = ingest::build(store, lock, recipe, documents, options, observer);
        let report = guarded_table(&address, build).await?;
        Ok(Built {
            index: Self::open(store, recipe).await?,
            report: Some(report),
        })
    }

    /// Opens the index of `recipe`. If there is none, the error names the store's nearest index and how it differs.
    pub async fn open(store: &Store, recipe: &Recipe) -> Result<Self, IndexError> {
        if let Some(index) = Self::find(store, recipe).await? {
            return Ok(index);
        }
        let identity = recipe.identity();
        let uri = store.uri().to_owned();
        if !store.exists()? {
            return Err(IndexError::NoStore { uri });
        }
        let table = identity.table_name();
        if store.header(&table).await?.is_some() {
            return Err(IndexError::Incomplete { uri, table });
        }
        let tables = store.tables(&identity).await?;
        let mut others = store.names_with("").await?;
        // A store may still list an index that was deleted.
        others.retain(|table| !identity::is_of_index(table));
        Err(if tables.is_empty() && !others.is_empty() {
            let tables = others;
            IndexError::OfOthers { uri, tables }
        } else {
            IndexError::NoMatch { uri, tables }
        })
    }

    /// Whether the store has a complete index of `recipe`. Reads only its header, and fails if that is damaged.
    pub async fn exists(store: &Store, recipe: &Recipe) -> Result<bool, IndexError> {
        let name = recipe.identity().table_name();
        let header = guarded(&store.address(&name), store.header(&name)).await?;
        Ok(header.is_some_and(|header| header.completion.is_some()))
    }

    /// Opens the index of `recipe`; `None` if the store has no complete one.
    pub async fn find(store: &Store, recipe: &Recipe) -> Result<Option<Self>, IndexError> {
        Self::load(store, recipe.identity(), recipe.embedder.clone()).await
    }

    /// Opens the index with this identity to read its documents; `None` if the store has no complete one. Without the embedder it
    /// offers the searches that need no vectors.
    pub async fn find_identity(
        store: &Store,
        identity: Identity,
    ) -> Result<Option<Self>, IndexError> {
        Self::load(store, identity, None).await
    }

    async fn load(
        store: &Store,
        identity: Identity,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Result<Option<Self>, IndexError> {
        let address = store.address(&identity.table_name());
        guarded_table(&address, Self::read(store, identity, embedder, &address)).await
    }

    async fn read(
        store: &Store,
        identity: Identity,
        embedder: Option<Arc<dyn Embedder>>,
        address: &Address,
    ) -> Result<Option<Self>, IndexError> {
        let name = identity.table_name();
        let check = store.check(&name, Depth::Contents).await?;
        let Some(table) = store.table(&name).await? else {
            return Ok(None);
        };
        let completion = table::completion(&table).await?;
        let Some(completion) = completion.filter(|completion| check.completes(completion)) else {
            return Ok(None);
        };
        let positions = Positions::load(&table, address).await?;
        let coverage = full_text::coverage(&table).await?;
        let expected = Coverage {
            indexed: completion.chunks,
            left_out: 0,
        };
        let found = (positions.documents(), positions.chunks());
        if found != (completion.documents, completion.chunks) || coverage != Some(expected) {
            return Err(IndexError::Damaged {
                table: address.clone(),
                defect: format!(
                    "it has {} documents in {} chunks instead of {} in {}, or its full-text index does not cover them",
                    found.0, found.1, completion.documents, completion.chunks
                ),
            });
        }
        let notes = if check == FileCheck::NoRecord {
            vec![record_late(store, &name).await]
        } else {
            Vec::new()
        };
        Ok(Some(Self {
            identity,
            contents: Arc::new(Contents {
                table,
                address: address.clone(),
                positions,
                embedder,
            }),
            cache: Arc::default(),
            approximate: None,
            notes,
            cut: completion.cut,
        }))
    }

    /// Notes that a reader needs before trusting figures of the index.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The identity of the index.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The same index, which searches its vectors as `search` says. Builds the index of the vectors if it does not exist, in another table of
    /// the same store that copies no rows. Returns how long the build took.
    ///
    /// Indexes of the vectors with different parameters exist side by side. Deleting the index deletes them too. After a move of the store's
    /// folder, this function builds them again. Training draws a random sample without a seed, so two builds with the same parameters
    /// may find different neighbours; a finished index always finds the same neighbours.
    ///
    /// Fails if a parameter does not fit the index, and if the index has no vectors.
    pub async fn with_vector_search(
        self,
        store: &Store,
        search: &VectorSearch,
        observer: &dyn BuildObserver,
    ) -> Result<(Self, Option<Duration>), IndexError> {
        let Some(search) = self.approximation_of(search)? else {
            return Ok((self.searched_by(None), None));
        };
        let positions = &self.contents.positions;
        let progress = BuildProgress {
            stage: BuildStage::Vectors,
            documents: positions.documents(),
            chunks: positions.chunks(),
            bytes: 0,
        };
        let of = (&self.identity, &self.contents.table);
        let open = vector_table::open_or_build(store, of, search, progress, observer);
        let (approximate, took) = open.await?;
        Ok((self.searched_by(Some(approximate)), took))
    }

    /// [`with_vector_search`](Self::with_vector_search) that builds nothing. Fails if the index of the vectors does not exist.
    pub async fn with_built_vector_search(
        self,
        store: &Store,
        search: &VectorSearch,
    ) -> Result<Self, IndexError> {
        let Some(search) = self.approximation_of(search)? else {
            return Ok(self.searched_by(None));
        };
        let of = (&self.identity, &self.contents.table);
        let named = search.to_string();
        let opened = vector_table::open(store, of, search).await?;
        let approximate = opened.ok_or_else(|| IndexError::NoVectorIndex {
            uri: store.uri().to_owned(),
            search: named,
        })?;
        Ok(self.searched_by(Some(approximate)))
    }

    fn approximation_of(&self, search: &VectorSearch) -> Result<Option<Approximation>, IndexError> {
        let chunks = self.contents.positions.chunks();
        let embedder = self.identity.embedder().ok_or(IndexError::NoEmbeddings {
            profile: Profile::Semantic,
        })?;
        let search = Approximation::of(search, chunks, embedder.dimension);
        search.map_err(IndexError::VectorSearch)
    }

    fn searched_by(self, approximate: Option<VectorTable>) -> Self {
        Self {
            approximate: approximate.map(Arc::new),
            cache: Arc::default(),
            ..self
        }
    }

    /// All chunks in the order of the index, as a stream that holds a few batches of them in memory.
    ///
    /// # Errors
    ///
    /// `with_vectors` is set, and the index has no vectors.
    pub async fn chunks(
        &self,
        with_vectors: bool,
    ) -> Result<impl Stream<Item = Result<Chunk, IndexError>> + Send + use<>, IndexError> {
        if with_vectors && self.identity.embedder().is_none() {
            let profile = Profile::Semantic;
            return Err(IndexError::NoEmbeddings { profile });
        }
        chunks::read(Arc::clone(&self.contents), with_vectors).await
    }

    /// Copies the vectors to `into`, in the order of the chunks. Returns the document of each vector, by its number among
    /// [`documents`](Self::documents). A chunk without text has no vector. Calls `on_read` with the number of chunks read so far.
    pub async fn copy_vectors(
        &self,
        into: &mut VectorWriter,
        on_read: impl Fn(usize),
    ) -> Result<Vec<usize>, IndexError> {
        let Contents {
            table, positions, ..
        } = self.contents.as_ref();
        let copy = async {
            let query = table
                .query()
                .select(Select::columns(&[VECTOR]))
                .with_row_id();
            let mut batches = query.execute().await.map_err(reading)?;
            let mut documents = Vec::with_capacity(positions.chunks());
            let mut read = 0;
            while let Some(batch) = batches.try_next().await.map_err(reading)? {
                let vectors = batch[VECTOR].as_fixed_size_list();
                let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>().values();
                for (row, row_id) in row_ids.iter().enumerate() {
                    if vectors.is_null(row) {
                        continue;
                    }
                    let position = positions.position(*row_id);
                    let position = position.ok_or(IndexError::Changed { row_id: *row_id })?;
                    documents.push(positions.document(position));
                    let vector = vectors.value(row);
                    into.add(vector.as_primitive::<Float32Type>().values())
                        .await?;
                }
                read += row_ids.len();
                on_read(read);
            }
            Ok(documents)
        };
        self.contents.guarded(copy).await
    }

    /// The approximate search of the vectors; `None` if their search is exact.
    pub fn approximation(&self) -> Option<&Approximation> {
        self.approximate.as_ref().map(|it| &it.search)
    }

    /// The id of the build of the index of the vectors; `None` if their search is exact. Two builds with the same parameters have different
    /// ids, and may find different chunks.
    pub fn vectors_build(&self) -> Option<&str> {
        self.approximate.as_ref().map(|it| it.build.as_str())
    }

    /// The size of the index.
    pub async fn statistics(&self) -> Result<IndexStatistics, IndexError> {
        let read = async {
            let statistics = self.contents.table.stats().await;
            statistics.map_err(IndexError::during("read the index's statistics"))
        };
        let statistics = self.contents.guarded(read).await?;
        Ok(IndexStatistics {
            documents: self.contents.positions.documents(),
            chunks: self.contents.positions.chunks(),
            bytes: statistics.total_bytes,
            cut_chunks: self.cut,
        })
    }

    /// The number of documents that have several chunks.
    pub fn split_documents(&self) -> usize {
        let positions = &self.contents.positions;
        let documents = 0..positions.documents();
        documents
            .filter(|document| positions.chunks_of(*document).len() > 1)
            .count()
    }

    /// The uris of all documents, in the order of the index.
    pub fn documents(&self) -> impl Iterator<Item = &str> + Clone {
        self.contents.positions.uris().iter().map(AsRef::as_ref)
    }

    /// The number of documents that a filter keeps, under the rules of [`SearchOptions::filter`].
    pub async fn count(&self, filter: &str) -> Result<usize, IndexError> {
        let count = Filter::count(filter, &self.contents.table);
        self.contents.guarded(count).await
    }

    /// The first chunk of each of these documents, in their order. A document that the index does not have is left out, and so is
    /// a repetition.
    pub async fn openings(&self, documents: &[&str]) -> Result<Vec<Passage>, IndexError> {
        let positions = &self.contents.positions;
        let wanted: HashSet<&str> = documents.iter().copied().collect();
        let uris = positions.uris().iter().zip(0..);
        let found = uris.filter(|(uri, _)| wanted.contains(uri.as_ref()));
        let mut first: HashMap<&str, usize> = found
            .map(|(uri, document)| (uri.as_ref(), positions.chunks_of(document).start))
            .collect();
        let hits: Vec<Hit> = documents
            .iter()
            .filter_map(|uri| first.remove(uri))
            .map(|position| Hit::new(position, 0.0))
            .collect();
        let fetch = passages::fetch(&hits, &self.contents.table, positions);
        self.contents.guarded(fetch).await
    }

    /// Reads the chunks around a passage of this index.
    pub fn neighbours(&self) -> Arc<dyn Neighbours> {
        Arc::new(IndexNeighbours::new(Arc::clone(&self.contents)))
    }

    /// A searcher for one profile. Fails if the profile needs embeddings that the index does not have, or if the filter is invalid.
    pub async fn searcher(
        &self,
        profile: Profile,
        options: &SearchOptions,
    ) -> Result<Arc<dyn Searcher>, IndexError> {
        Ok(Arc::new(self.open_searcher(profile, options).await?))
    }

    /// A searcher that knows its questions beforehand. Its results are equal to the bit to those of [`searcher`](Self::searcher), in a
    /// fraction of the time.
    ///
    /// The first search for a question of the batch searches a group of them, up to some thousands: each chunk is compared with all questions
    /// in one pass over the vectors, and the lists of all terms are read once. Questions are embedded one by one, because a model may return
    /// other bits for several texts at once.
    ///
    /// Such a result has no time but that of the embedding. A question that is to be [timed](QuestionBatch::timed) is searched again on its own,
    /// as a service would, while no group is searched; it fails should the results differ. Questions are searched on their own if they are not of
    /// the batch, if their embedding or their group failed, if the search is approximate, or if the profile ranks all questions alike.
    pub async fn batch_searcher(
        &self,
        profile: Profile,
        options: &SearchOptions,
        batch: QuestionBatch,
        observer: Arc<dyn BatchObserver>,
    ) -> Result<Arc<dyn Searcher>, IndexError> {
        let searcher = self.open_searcher(profile, options).await?;
        Ok(Arc::new(BatchSearcher::new(searcher, batch, observer)))
    }

    async fn open_searcher(
        &self,
        profile: Profile,
        options: &SearchOptions,
    ) -> Result<IndexSearcher, IndexError> {
        if profile.needs_embeddings() && self.contents.embedder.is_none() {
            return Err(IndexError::NoEmbeddings { profile });
        }
        let Contents {
            table, positions, ..
        } = self.contents.as_ref();
        if profile.needs_full_text() {
            let load = full_text::load(table, positions.chunks());
            self.contents.guarded(load).await?;
        }
        let filter = match &options.filter {
            Some(sql) => self.contents.guarded(Filter::parse(sql, table)).await?,
            None => Filter::default(),
        };
        let approximate = self.approximate.clone();
        let approximate = approximate.filter(|_| profile.needs_embeddings());
        if let (Some(vectors), Some(embedder)) = (&approximate, self.identity.embedder()) {
            let query = vectors.query_of_any(embedder.dimension)?;
            let query = filter.restrict(query);
            let check = vector_index::check_plan(&query);
            self.contents.guarded(check).await?;
        }
        let cache = match options.cache {
            CachePolicy::Shared => Some(Arc::clone(&self.cache)),
            CachePolicy::Fresh => None,
        };
        Ok(IndexSearcher {
            contents: Arc::clone(&self.contents),
            profile,
            name: profile.to_string(),
            filter,
            candidates: options.candidates,
            passages: options.passages,
            best_of: options.best_of,
            ties: UsualTies::default(),
            approximate,
            cache,
        })
    }
}

/// Records the files of an index that an earlier version finished, and returns a note about it.
async fn record_late(store: &Store, table: &str) -> String {
    let recorded = async {
        let lock = store.lock(None).await?;
        let recorded = store.record_files(table).await;
        lock.release().await;
        recorded
    };
    let outcome = match recorded.await {
        Ok(()) => "this run recorded them".to_owned(),
        Err(error) => format!("recording them failed: {error}"),
    };
    format!(
        "the index in table {} was built by an earlier version, which did not record checksums of its files, so earlier damage \
         to them goes unnoticed; {outcome}",
        store.address(table)
    )
}
