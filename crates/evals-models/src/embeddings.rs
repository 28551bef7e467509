//! Vectors of several texts.

use std::slice::ChunksExact;
use std::time::Duration;

use thiserror::Error;

/// Vectors of one dimension, one row for each embedded text, in one contiguous allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    dimension: usize,
    values: Vec<f32>,
    origin: Option<RowOrigin>,
    /// One for each row, or none at all.
    cut: Vec<Option<bool>>,
}

/// Where rows come from, as reported by a store in front of a model, or by a model that knows its time without queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowOrigin {
    /// How many were stored before the call that returned them.
    pub stored: usize,
    /// How long the model took for all of them, now or when they were stored, without the time of the store. A stored row has an
    /// equal share of the time of the call that computed it.
    pub took: Duration,
}

/// Values that do not form rows of the stated dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{values} values do not form rows of dimension {dimension}")]
pub struct ShapeError {
    /// Number of values given.
    pub values: usize,
    /// Length that each row should have had.
    pub dimension: usize,
}

impl Embeddings {
    /// Takes row-major `values`. Fails if `dimension` is 0 or the last row is incomplete.
    pub fn new(dimension: usize, values: Vec<f32>) -> Result<Self, ShapeError> {
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            return Err(ShapeError {
                values: values.len(),
                dimension,
            });
        }
        Ok(Self {
            dimension,
            values,
            origin: None,
            cut: Vec::new(),
        })
    }

    /// The vector that `embed` computes for each text.
    ///
    /// # Errors
    ///
    /// `dimension` is 0, or the total length of the vectors is not a multiple of it.
    ///
    /// ```
    /// use evals_models::Embeddings;
    ///
    /// let lengths = Embeddings::of_each(1, &["kelp", "amber"], |text| [text.len() as f32])?;
    /// assert_eq!(lengths.values(), [4.0, 5.0]);
    /// # Ok::<(), evals_models::ShapeError>(())
    /// ```
    pub fn of_each<V: IntoIterator<Item = f32>>(
        dimension: usize,
        texts: &[&str],
        mut embed: impl FnMut(&str) -> V,
    ) -> Result<Self, ShapeError> {
        let mut values = Vec::with_capacity(texts.len() * dimension);
        for text in texts {
            values.extend(embed(text));
        }
        Self::new(dimension, values)
    }

    /// Sets for each row whether the model truncated its text, `None` if it does not report that.
    ///
    /// # Panics
    ///
    /// If `cut` does not have one value for each row.
    #[must_use]
    pub fn with_cut(self, cut: Vec<Option<bool>>) -> Self {
        assert_eq!(cut.len(), self.len(), "one for each row");
        Self { cut, ..self }
    }

    /// Whether the model truncated the text of a row; `None` if it does not report that.
    pub fn is_cut(&self, index: usize) -> Option<bool> {
        self.cut.get(index).copied().flatten()
    }

    /// Sets where the rows come from.
    #[must_use]
    pub fn with_origin(self, origin: RowOrigin) -> Self {
        let origin = Some(origin);
        Self { origin, ..self }
    }

    /// How many rows were stored before this call: 0 unless a store is in front of the model.
    pub fn stored(&self) -> usize {
        self.origin.map_or(0, |origin| origin.stored)
    }

    /// Whether there are rows and all of them were stored before this call.
    pub fn is_cached(&self) -> bool {
        !self.is_empty() && self.stored() == self.len()
    }

    /// How long the model took for the rows, if it or a store in front of it reports that. If not, use the time of the call.
    pub fn took(&self) -> Option<Duration> {
        self.origin.map(|origin| origin.took)
    }

    /// The length of each row, at least 1.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows in the order of the texts.
    pub fn rows(&self) -> ChunksExact<'_, f32> {
        self.values.chunks_exact(self.dimension)
    }

    /// The row of one text, `None` past the end.
    pub fn row(&self, index: usize) -> Option<&[f32]> {
        self.rows().nth(index)
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The values without a copy, row after row.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other() {
        let embeddings = Embeddings::new(2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(embeddings.len(), 3);
        assert_eq!(
            embeddings.rows().collect::<Vec<_>>(),
            [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
        );
        assert_eq!(embeddings.row(2), Some([5.0, 6.0].as_slice()));
        assert_eq!(embeddings.row(3), None);
    }

    #[test]
    fn no_rows_keep_their_dimension() {
        let embeddings = Embeddings::new(3, Vec::new()).unwrap();
        assert!(embeddings.is_empty());
        assert_eq!((embeddings.len(), embeddings.dimension()), (0, 3));
    }

    #[test]
    fn rows_are_cached_if_none_was_computed() {
        let embeddings = Embeddings::new(1, vec![1.0, 2.0]).unwrap();
        let reported = |embeddings: &Embeddings| {
            (
                embeddings.stored(),
                embeddings.is_cached(),
                embeddings.took(),
            )
        };
        assert_eq!(reported(&embeddings), (0, false, None));
        let took = Duration::from_millis(3);
        let origin = |stored| RowOrigin { stored, took };
        let some = embeddings.clone().with_origin(origin(1));
        assert_eq!(reported(&some), (1, false, Some(took)));
        let all = embeddings.with_origin(origin(2));
        assert_eq!(reported(&all), (2, true, Some(took)));
        let none = Embeddings::new(1, Vec::new()).unwrap();
        assert!(!none.with_origin(origin(0)).is_cached());
    }

    #[test]
    fn a_row_is_neither_cut_nor_whole_unless_the_model_reports_it() {
        let embeddings = Embeddings::new(1, vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!(embeddings.is_cut(0), None);
        let reported = embeddings.with_cut(vec![Some(true), Some(false), None]);
        let rows = [0, 1, 2, 3].map(|row| reported.is_cut(row));
        assert_eq!(rows, [Some(true), Some(false), None, None]);
    }

    #[test]
    fn incomplete_rows_are_refused() {
        let error = Embeddings::new(3, vec![0.5; 4]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "4 values do not form rows of dimension 3"
        );
        assert!(Embeddings::new(0, Vec::new()).is_err());
    }
}
