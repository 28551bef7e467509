//! Writes vectors to a table without texts.

use std::mem;
use std::sync::Arc;

use arrow::array::{FixedSizeListArray, Float32Array, RecordBatch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use lancedb::table::Table;

use super::VectorCollection;
use crate::error::IndexError;
use crate::store::Store;
use crate::table::{VECTOR, vector_item, vector_type};

/// Bytes of vectors to keep in memory before a write.
const COMMIT_BYTES: usize = 64 << 20;

/// Writes vectors to a table without texts, and keeps only few of them in memory.
#[derive(Debug)]
pub struct VectorWriter {
    store: Store,
    table: Table,
    schema: SchemaRef,
    dimension: usize,
    pending: Vec<f32>,
}

impl VectorWriter {
    /// Creates the table in `store`, which has to be empty. Only the caller may use this store.
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

    /// Writes the vectors that `values` holds one after the other, and numbers them from 0 in this order. Each vector needs a direction: it may
    /// neither be all zeros nor have a component that is not a number.
    ///
    /// # Panics
    ///
    /// The length of `values` is not a multiple of the dimension.
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

    /// Writes the vectors that are still in memory. The table is then ready for searches.
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
