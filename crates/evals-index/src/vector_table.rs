//! The table of a vector index: the files of an index, and the index of its vectors beside them.

use std::time::{Duration, Instant};

use lancedb::query::VectorQuery;
use lancedb::table::{FieldMetadataUpdate, Table};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::approximation::{Approximation, VectorIndex};
use crate::error::IndexError;
use crate::guard::guarded_table;
use crate::identity::Identity;
use crate::ingest::{BuildObserver, BuildProgress, BuildStage};
use crate::store::{Depth, FileCheck, Store, WriteLock};
use crate::table::{self, URI, vector_index};

/// Key of the uri column's metadata that holds the [`Record`].
const RECORD_KEY: &str = "evaluations:vector-index";

/// An approximate search of the vectors of an index.
///
/// Its table has the rows of the index's table and their numbers, but no copy of them: its manifest names the files of the index's table. The
/// index's table does not change. Each set of parameters has a separate table, so a search never uses an index with other parameters, and a
/// killed build damages no other table.
#[derive(Debug)]
pub(crate) struct VectorTable {
    pub(crate) table: Table,
    pub(crate) search: Approximation,
    /// The engine's id of this build of the index. Another build has another one, and may find other chunks.
    pub(crate) build: String,
}

/// The record of a finished table. After an interrupted build, the table has no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    index: VectorIndex,
    /// The folder of the files of the rows. After a move of the store, it is another folder.
    source: String,
    /// Identifies these files. A new build of the index has other files.
    rows: String,
    files_recorded: bool,
}

impl Record {
    async fn of(
        store: &Store,
        identity: &Identity,
        rows: &Table,
        search: &Approximation,
    ) -> Result<Self, IndexError> {
        Ok(Self {
            index: search.built.clone(),
            source: store.address(&identity.table_name()).folder(),
            rows: table::rows_digest(rows).await?,
            files_recorded: store.records_files(),
        })
    }
}

impl VectorTable {
    async fn of(table: Table, search: Approximation) -> Result<Self, IndexError> {
        let build = vector_index::build_id(&table).await?;
        Ok(Self {
            table,
            search,
            build,
        })
    }

    /// A search for the check of the plan. All searches have the same plan.
    pub(crate) fn query_of_any(&self, dimension: usize) -> Result<VectorQuery, IndexError> {
        vector_index::query(&self.table, &vec![1.0; dimension], 1, Some(&self.search))
    }
}

/// The name of the table of a vector index: `vectors-`, the digits of the index's table, and 16 of the parameters' SHA-256.
fn name(identity: &Identity, index: &VectorIndex) -> String {
    let digest = Sha256::digest(serde_json::to_vec(index).expect("parameters are plain data"));
    let digest = hex::encode(&digest[..8]);
    format!("{}{digest}", identity.vectors_prefix())
}

/// Opens the table of `search` for the index with this identity and table, or builds it. Returns how long the build took.
pub(crate) async fn open_or_build(
    store: &Store,
    (identity, rows): (&Identity, &Table),
    search: Approximation,
    progress: BuildProgress,
    observer: &dyn BuildObserver,
) -> Result<(VectorTable, Option<Duration>), IndexError> {
    let name = name(identity, &search.built);
    let address = store.address(&name);
    let wanted = Record::of(store, identity, rows, &search).await?;
    let work = async {
        if let Some(table) = find(store, &name, &wanted).await? {
            return Ok((table, None));
        }
        let lock = store.lock(Some(&|holder| observer.on_wait(holder))).await?;
        let building = async {
            // Another process may have built it before this one got the lock.
            if let Some(table) = find(store, &name, &wanted).await? {
                return Ok((table, None));
            }
            observer.on_progress(BuildProgress {
                stage: BuildStage::Vectors,
                ..progress
            });
            let started = Instant::now();
            let table = build(store, &name, rows, &wanted, &lock).await?;
            Ok((table, Some(started.elapsed())))
        };
        let built = building.await;
        lock.release().await;
        built
    };
    let (table, took) = guarded_table(&address, work).await?;
    Ok((VectorTable::of(table, search).await?, took))
}

/// Opens the table of `search` for the index with this identity and table; `None` if [`open_or_build`] would build it.
pub(crate) async fn open(
    store: &Store,
    (identity, rows): (&Identity, &Table),
    search: Approximation,
) -> Result<Option<VectorTable>, IndexError> {
    let name = name(identity, &search.built);
    let wanted = Record::of(store, identity, rows, &search).await?;
    let found = guarded_table(&store.address(&name), find(store, &name, &wanted)).await?;
    match found {
        Some(table) => Ok(Some(VectorTable::of(table, search).await?)),
        None => Ok(None),
    }
}

/// The finished table; `None` if it does not exist, is unfinished, or refers to other files than those of the index.
async fn find(store: &Store, name: &str, wanted: &Record) -> Result<Option<Table>, IndexError> {
    let check = store.check(name, Depth::Contents).await?;
    let Some(table) = store.table(name).await? else {
        return Ok(None);
    };
    let record: Option<Record> = table::record(&table, RECORD_KEY).await?;
    let is_whole = check != FileCheck::NoRecord || !wanted.files_recorded;
    if record.as_ref() != Some(wanted) || !is_whole {
        return Ok(None);
    }
    vector_index::check_coverage(&table).await?;
    Ok(Some(table))
}

async fn build(
    store: &Store,
    name: &str,
    rows: &Table,
    record: &Record,
    lock: &WriteLock,
) -> Result<Table, IndexError> {
    store.drop_table(name, lock).await?;
    let table = store.clone_table(rows, name, lock).await?;
    vector_index::build(&table, &record.index).await?;
    vector_index::check_coverage(&table).await?;
    let json = serde_json::to_string(record).expect("a record is plain data");
    table
        .update_field_metadata(&[FieldMetadataUpdate::new(URI).set(RECORD_KEY, json)])
        .await
        .map_err(IndexError::during("record that the index is complete"))?;
    store.record_files(name).await?;
    Ok(table)
}
