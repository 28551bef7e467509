//! Compares the vector of each chunk with one or many questions, in one pass over the table.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float32Type, UInt64Type};
use evals_nearest::{Exact, Pass};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use lance_linalg::distance::{Cosine as _, cosine_distance_batch, norm_l2};
use lancedb::table::Table;
use tokio::task;

use crate::error::IndexError;
use crate::search::Filter;
use crate::search::hit::{self, FoundChunks, Hit};
use crate::table::contents::Contents;
use crate::table::{self, ROW_ID, VECTOR};

/// Bytes of vectors in one batch of the scan.
const BATCH_BYTES: usize = 8 << 20;
/// Bytes that the engine may read ahead. Its default is 2 GiB, which for a table of that size is all vectors at once.
const READ_AHEAD_BYTES: u64 = 32 << 20;
/// Batches that the engine decodes ahead.
const READ_AHEAD_BATCHES: usize = 2;

/// The `depth` best chunks of one question, in order.
pub(in crate::search) async fn nearest_to(
    contents: &Arc<Contents>,
    filter: &Filter,
    question: &[f32],
    depth: usize,
) -> Result<FoundChunks, IndexError> {
    let started = Instant::now();
    let found = nearest(
        contents,
        filter,
        question.into(),
        question.len(),
        depth,
        |_| {},
    );
    let found = found.await?.pop().expect("one question has one result");
    Ok(FoundChunks {
        duration: Some(started.elapsed()),
        ..found
    })
}

/// The `depth` best chunks of each question, in order. Calls `on_read` with the number of chunks compared so far.
///
/// Memory is 16 bytes times `depth` for each question, and the batches in flight.
pub(super) async fn nearest(
    contents: &Arc<Contents>,
    filter: &Filter,
    questions: Arc<[f32]>,
    dimension: usize,
    depth: usize,
    on_read: impl Fn(usize),
) -> Result<Vec<FoundChunks>, IndexError> {
    let of_order = Arc::clone(contents);
    let order = move |left: u32, right: u32| {
        hit::order_of_equals(left as usize, right as usize, &of_order.positions)
    };
    let cosines = Cosines::new(Arc::clone(&questions), dimension, order);
    let pass = Pass::new(&questions, dimension, depth, cosines);
    let number = |row_id| u32::try_from(contents.positions.position(row_id)?).ok();
    let batches = scan(&contents.table, filter.sql(), dimension).await?;
    let pass = compare_all(batches, pass, number, on_read).await?;
    let exhausted = pass.rows() <= depth;
    let best = task::spawn_blocking(move || pass.finish()).await?;
    let found = best.into_iter().map(|hits| FoundChunks {
        hits: hits
            .into_iter()
            .map(|hit| Hit::new(hit.row as usize, hit.score))
            .collect(),
        exhausted,
        duration: None,
    });
    Ok(found.collect())
}

/// Shows the vectors of a scan to a pass. `number` returns the number of a row. Calls `on_read` with the number of rows read so far.
pub(crate) async fn compare_all<E: Exact + Send + 'static>(
    mut batches: VectorBatches,
    mut pass: Pass<E>,
    number: impl Fn(u64) -> Option<u32>,
    on_read: impl Fn(usize),
) -> Result<Pass<E>, IndexError> {
    let mut read = 0;
    let mut batch = batches.next().await;
    while let Some(read_batch) = batch {
        let rows = read_batch.map_err(reading)?;
        let numbers = numbers(&rows, &number)?;
        read += numbers.len();
        // The engine reads and decodes the next batch meanwhile.
        let compare = task::spawn_blocking(move || {
            let vectors = rows[VECTOR].as_fixed_size_list().values();
            pass.add(vectors.as_primitive::<Float32Type>().values(), &numbers);
            pass
        });
        let (compared, next) = futures::join!(compare, batches.next());
        pass = compared?;
        batch = next;
        on_read(read);
    }
    Ok(pass)
}

/// Rows with their vectors.
pub(crate) type VectorBatches = BoxStream<'static, lancedb::Result<RecordBatch>>;

pub(crate) fn reading(source: lancedb::Error) -> IndexError {
    IndexError::during("read the embeddings")(source)
}

/// The vectors of the chunks that pass the filter, in any order.
pub(crate) async fn scan(
    table: &Table,
    filter: Option<&str>,
    dimension: usize,
) -> Result<VectorBatches, IndexError> {
    let rows = (BATCH_BYTES / size_of::<f32>() / dimension).max(1);
    let open = async {
        let dataset = table::dataset(table).await?;
        let mut scanner = dataset.scan();
        scanner
            .project(&[VECTOR])?
            .with_row_id()
            .batch_size(rows)
            .io_buffer_size(READ_AHEAD_BYTES)
            .batch_readahead(READ_AHEAD_BATCHES)
            .scan_in_order(false);
        if let Some(sql) = filter {
            scanner.filter(sql)?;
        }
        let batches = scanner.try_into_stream().await?;
        Ok(batches.map_err(lancedb::Error::from).boxed())
    };
    open.await.map_err(reading)
}

/// The numbers of the rows of a batch; `None` for a chunk without text, which has no vector.
fn numbers(
    batch: &RecordBatch,
    number: impl Fn(u64) -> Option<u32>,
) -> Result<Vec<Option<u32>>, IndexError> {
    let vectors = batch[VECTOR].as_fixed_size_list();
    let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>().values();
    let numbered = |(row, row_id): (usize, &u64)| {
        if vectors.is_null(row) {
            return Ok(None);
        }
        let number = number(*row_id).ok_or(IndexError::Changed { row_id: *row_id })?;
        Ok(Some(number))
    };
    row_ids.iter().enumerate().map(numbered).collect()
}

/// Scores vectors as the engine's exact search does: equal to the last bit.
pub(crate) struct Cosines<O> {
    /// The questions' vectors, one after the other.
    questions: Arc<[f32]>,
    /// The length of each question's vector.
    lengths: Vec<f32>,
    dimension: usize,
    /// The order of two rows with one score.
    order_of_equals: O,
}

impl<O> Cosines<O> {
    pub(crate) fn new(questions: Arc<[f32]>, dimension: usize, order_of_equals: O) -> Self {
        Self {
            lengths: questions.chunks_exact(dimension).map(norm_l2).collect(),
            questions,
            dimension,
            order_of_equals,
        }
    }
}

impl<O: Fn(u32, u32) -> Ordering + Sync> Exact for Cosines<O> {
    fn score(&self, number: usize, vector: &[f32]) -> f32 {
        let question = &self.questions[number * self.dimension..(number + 1) * self.dimension];
        // What the engine's function for a batch does for each vector, except of these dimensions and for processors that the compiler knows.
        let distance = if matches!(self.dimension, 8 | 16) || cfg!(target_feature = "avx2") {
            let distance = cosine_distance_batch(question, vector, self.dimension).next();
            distance.expect("the batch is one vector")
        } else {
            f32::cosine_fast(question, self.lengths[number], vector)
        };
        Hit::of_distance(0, distance).score
    }

    fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
        (self.order_of_equals)(left, right)
    }
}
