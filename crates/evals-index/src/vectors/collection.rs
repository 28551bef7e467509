//! A table of vectors: it builds and removes indexes, and searches with and without them.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evals_nearest::Pass;
use lancedb::query::ExecutableQuery;
use lancedb::table::Table;
use tokio::task;

use crate::address::Address;
use crate::approximation::{Approximation, VectorIndex};
use crate::error::IndexError;
use crate::guard::guarded_table;
use crate::ingest;
use crate::search::engine_query::options;
use crate::search::engine_query::read_hits;
use crate::search::{Cosines, Hit, compare_all, scan};
use crate::store::Store;
use crate::table::positions::RowNumbers;
use crate::table::vector_index::{self, DISTANCE};

/// Vectors in a table, to be searched exactly or with an index. The table has at most one index at a time.
#[derive(Debug, Clone)]
pub struct VectorCollection {
    store: Store,
    table: Table,
    address: Address,
    numbers: Arc<RowNumbers>,
    dimension: usize,
}

/// A vector that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorNeighbour {
    /// The number of the vector.
    pub number: u32,
    /// Its cosine with the question; from a compressed vector, an approximation of that.
    pub score: f32,
}

impl VectorCollection {
    pub(super) async fn new(
        store: Store,
        table: Table,
        dimension: usize,
    ) -> Result<Self, IndexError> {
        Ok(Self {
            address: store.address(table.name()),
            numbers: Arc::new(RowNumbers::load(&table).await?),
            store,
            table,
            dimension,
        })
    }

    /// The number of vectors.
    pub fn count(&self) -> usize {
        self.numbers.count()
    }

    /// The number of components of each vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The same vectors through a new connection, which holds nothing of the table in memory. The operating system may still cache files.
    pub async fn reopened(&self) -> Result<Self, IndexError> {
        let store = Store::open(self.store.uri()).await?;
        let table = store.vectors().await?;
        Ok(Self {
            store,
            table,
            ..self.clone()
        })
    }

    /// Indexes the vectors, and deletes the files of the earlier index. Returns how long the indexing took.
    pub async fn build(&self, index: &VectorIndex) -> Result<Duration, IndexError> {
        let work = async {
            let started = Instant::now();
            vector_index::build(&self.table, index).await?;
            let took = started.elapsed();
            vector_index::check_coverage(&self.table).await?;
            ingest::prune(&self.table).await?;
            Ok(took)
        };
        guarded_table(&self.address, work).await
    }

    /// Bytes of the files of the vectors, and of the files of the index.
    pub fn bytes(&self) -> (u64, u64) {
        let folder = self.address.folder();
        let folder = Path::new(&folder);
        (size(&folder.join("data")), size(&folder.join("_indices")))
    }

    /// Fails unless the engine answers a search only from the index.
    pub async fn check(&self, search: &Approximation) -> Result<(), IndexError> {
        let any = vec![1.0; self.dimension];
        let query = vector_index::query(&self.table, &any, 1, Some(search))?;
        guarded_table(&self.address, vector_index::check_plan(&query)).await
    }

    /// The `limit` vectors nearest to `vector`, best first, and of equal ones the first; with a `search`, those that the index finds, which may
    /// be fewer.
    pub async fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        search: Option<&Approximation>,
    ) -> Result<Vec<VectorNeighbour>, IndexError> {
        let work = async {
            let query = vector_index::query(&self.table, vector, limit, search)?;
            let rows = query.execute_with_options(options(self.dimension));
            let rows = rows
                .await
                .map_err(IndexError::during("search the vectors"))?;
            let number = |row_id| self.numbers.number(row_id);
            let hits = read_hits(rows, DISTANCE, number, Hit::of_distance).await?;
            let neighbour = |hit: Hit| VectorNeighbour {
                number: u32::try_from(hit.position).expect("a vector's number fits"),
                score: hit.score,
            };
            let mut found: Vec<_> = hits.into_iter().map(neighbour).collect();
            found.sort_unstable_by(|left, right| {
                let by_score = right.score.total_cmp(&left.score);
                by_score.then(left.number.cmp(&right.number))
            });
            Ok(found)
        };
        guarded_table(&self.address, work).await
    }

    /// The `limit` vectors nearest to each question, by exact search in one pass over the vectors. `questions` holds the vectors of the questions
    /// one after the other. Calls `on_read` with the number of vectors read so far.
    pub async fn exact(
        &self,
        questions: Arc<[f32]>,
        limit: usize,
        on_read: impl Fn(usize),
    ) -> Result<Vec<Vec<VectorNeighbour>>, IndexError> {
        let work = async {
            let order = |left: u32, right: u32| left.cmp(&right);
            let cosines = Cosines::new(Arc::clone(&questions), self.dimension, order);
            let pass = Pass::new(&questions, self.dimension, limit, cosines);
            let batches = scan(&self.table, None, self.dimension).await?;
            let number = |row_id| u32::try_from(self.numbers.number(row_id)?).ok();
            let pass = compare_all(batches, pass, number, on_read).await?;
            let best = task::spawn_blocking(move || pass.finish()).await?;
            let neighbour = |hit: &evals_nearest::Hit| VectorNeighbour {
                number: hit.row,
                score: hit.score,
            };
            Ok(best
                .iter()
                .map(|hits| hits.iter().map(neighbour).collect())
                .collect())
        };
        guarded_table(&self.address, work).await
    }
}

/// Bytes of the files below a folder; 0 if it does not exist.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
