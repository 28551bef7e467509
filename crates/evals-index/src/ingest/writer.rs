//! Committing rows to the table.

use std::mem;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use lancedb::table::Table;

use super::BuildOptions;
use crate::error::IndexError;

/// Collects the rows of whole portions, and commits them in order after a number of bytes or an interval.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    table: &'a Table,
    options: &'a BuildOptions,
    pending: Vec<RecordBatch>,
    pending_bytes: usize,
    last_commit: Instant,
    writing: Duration,
}

impl<'a> Writer<'a> {
    pub(super) fn new(table: &'a Table, options: &'a BuildOptions) -> Self {
        Self {
            table,
            options,
            pending: Vec::new(),
            pending_bytes: 0,
            last_commit: Instant::now(),
            writing: Duration::ZERO,
        }
    }

    /// Takes the rows of whole documents, and commits if a commit is due.
    pub(super) async fn write(&mut self, batches: Vec<RecordBatch>) -> Result<(), IndexError> {
        self.pending_bytes += batches
            .iter()
            .map(RecordBatch::get_array_memory_size)
            .sum::<usize>();
        self.pending.extend(batches);
        let due = self.pending_bytes >= self.options.commit_bytes
            || self.last_commit.elapsed() >= self.options.commit_interval;
        if due { self.commit().await } else { Ok(()) }
    }

    /// Commits the pending rows.
    pub(super) async fn commit(&mut self) -> Result<(), IndexError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        // Several streams would be filled in turn, and the order of rows would change from build to build.
        self.table
            .add(mem::take(&mut self.pending))
            .write_parallelism(1)
            .execute()
            .await
            .map_err(IndexError::during("write to the index"))?;
        self.pending_bytes = 0;
        self.last_commit = Instant::now();
        self.writing += started.elapsed();
        Ok(())
    }

    /// Time spent in commits.
    pub(super) fn writing(&self) -> Duration {
        self.writing
    }
}
