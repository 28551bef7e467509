//! Writing vectors to a table of their own.

use std::mem;
use std::sync::Arc;

use arrow::array::{FixedSizeListArray, Float32Array, RecordBatch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use lancedb::table::Table;

use super::VectorCollection;
use crate::error::IndexError;
use crate::store::Store;
use crate::table::{VECTOR, vector_item, vector_type};

/// Bytes of vectors that are kept in memory before they are written.
const COMMIT_BYTES: usize = 64 << 20;

/// Writes vectors to a table of their own, of which few are in memory at a time.
#[derive(Debug)]
pub struct VectorWriter {
    store: Store,
    table: Table,
    schema: SchemaRef,
    dimension: usize,
    pending: Vec<f32>,
}

impl VectorWriter {
    /// Creates the table in `store`, which has to be empty and belong to the caller alone.
    ///
    /// # Panics
    ///
    /// `dimension` is 0.
    pub async fn create(store: &Store, dimension: usize) -> Result<Self, IndexError> {
        assert!(dimension > 0, "a vector has a component");
        let field = Field::new(VECTOR, vector_type(dimension), true);
        let schema = Arc::new(Schema::new(vec![field]));
        Ok(Self {
            table: store.create_vectors(Arc::clone(&schema)).await?,
            store: store.clone(),
            schema,
            dimension,
            pending: Vec::new(),
        })
    }

    /// Writes vectors, one after the other in `values`. They are numbered from 0 in this order. Vectors need a direction: none may be all
    /// zeros, or have a component that is no number.
    ///
    /// # Panics
    ///
    /// `values` does not divide into vectors.
    pub async fn add(&mut self, values: &[f32]) -> Result<(), IndexError> {
        assert!(
            values.len().is_multiple_of(self.dimension),
            "values divide into vectors"
        );
        self.pending.extend_from_slice(values);
        if size_of_val(self.pending.as_slice()) >= COMMIT_BYTES {
            self.commit().await?;
        }
        Ok(())
    }

    /// Writes what is left. The vectors can be searched then.
    pub async fn finish(mut self) -> Result<VectorCollection, IndexError> {
        self.commit().await?;
        VectorCollection::new(self.store, self.table, self.dimension).await
    }

    async fn commit(&mut self) -> Result<(), IndexError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let values = Arc::new(Float32Array::from(mem::take(&mut self.pending)));
        let width = i32::try_from(self.dimension).expect("the table was made with it");
        let vectors = FixedSizeListArray::new(vector_item(), width, values, None);
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), vec![Arc::new(vectors)])
            .expect("the column is the schema's");
        self.table
            .add(vec![batch])
            .write_parallelism(1)
            .execute()
            .await
            .map_err(IndexError::during("write the vectors"))?;
        Ok(())
    }
}
