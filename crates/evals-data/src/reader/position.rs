//! Finding a column in the schema of a parquet file.

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Fields, Schema};

use crate::manifest::Column;

/// The place of a column in a schema: a top-level column, and then from struct to field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The fields' names, outermost first.
    pub(super) names: Vec<String>,
    /// The fields' places among their siblings, outermost first.
    places: Vec<usize>,
}

impl Position {
    /// The place of a column. A top-level column whose name is the whole reference takes precedence. Fields of lists and maps have no
    /// references.
    pub(super) fn find(schema: &Schema, column: &Column) -> Option<Self> {
        let whole = Self::descend(schema.fields(), &[column.path()]);
        whole.or_else(|| Self::descend(schema.fields(), column.segments()))
    }

    fn descend(fields: &Fields, names: &[String]) -> Option<Self> {
        let mut fields = Some(fields);
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let (place, field) = fields?.find(name)?;
            places.push(place);
            fields = match field.data_type() {
                DataType::Struct(fields) => Some(fields),
                _ => None,
            };
        }
        Some(Self {
            names: names.to_vec(),
            places,
        })
    }

    /// The column's array in a batch of the schema in which it was found.
    pub(super) fn array(&self, batch: &RecordBatch) -> ArrayRef {
        let (first, rest) = self
            .places
            .split_first()
            .expect("a column has one segment at least");
        rest.iter()
            .fold(batch.column(*first).clone(), |array, place| {
                array.as_struct().column(*place).clone()
            })
    }
}
