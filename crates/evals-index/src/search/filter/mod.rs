//! The condition that documents have to meet to be found.

mod condition;

use std::collections::HashSet;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use evals_messages::visible::beginning;
use futures::TryStreamExt;
use lancedb::datafusion::common::DFSchema;
use lancedb::datafusion::error::DataFusionError;
use lancedb::datafusion::logical_expr::ExprSchemable;
use lancedb::datafusion::prelude::SessionContext;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use crate::engine_error::EngineError;
use crate::error::IndexError;
use crate::table::{FILTER_COLUMNS, METADATA, ORDINAL, ROW_ID};

/// How to filter by a field of the metadata, which SQL cannot reach.
const JSON_HINT: &str = "; `metadata` is one JSON text without spaces: match it as in `metadata LIKE '%\"topic\":\"Sports\"%'`";

/// Characters of a filter that a message shows.
const SHOWN: usize = 200;

/// A condition that documents have to meet to be found, checked before any search uses it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter(Option<String>);

impl Filter {
    /// Takes a WHERE clause that [`Filter::count`] accepts.
    pub(crate) async fn parse(sql: &str, table: &Table) -> Result<Self, IndexError> {
        Self::count(sql, table).await?;
        Ok(Self(Some(sql.to_owned())))
    }

    /// Counts the documents that a WHERE clause keeps. Fails if it is not a valid filter.
    pub(crate) async fn count(sql: &str, table: &Table) -> Result<usize, IndexError> {
        check(sql)?;
        // The line break ends a comment at the clause's end.
        let of_documents = format!("({sql}\n) AND {ORDINAL} = 0");
        table
            .count_rows(Some(of_documents))
            .await
            .map_err(|source| IndexError::FilterFailed {
                filter: beginning(sql, SHOWN),
                source: EngineError::new(source.into()),
            })
    }

    /// The clause, if there is a filter.
    pub(super) fn sql(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The engine's numbers of the rows that pass the filter; `None` without a filter.
    pub(super) async fn row_ids(&self, table: &Table) -> Result<Option<HashSet<u64>>, IndexError> {
        if self.0.is_none() {
            return Ok(None);
        }
        let failed = IndexError::during("read the documents that pass the filter");
        let query = table.query().select(Select::columns(&[ROW_ID]));
        let rows = self.restrict(query).execute().await.map_err(&failed)?;
        let rows: Vec<RecordBatch> = rows.try_collect().await.map_err(&failed)?;
        let row_ids = rows
            .iter()
            .map(|rows| rows[ROW_ID].as_primitive::<UInt64Type>());
        let row_ids = row_ids.flat_map(|row_ids| row_ids.values().iter().copied());
        Ok(Some(row_ids.collect()))
    }

    /// Applies the filter to the rows that `query` looks at, before it ranks them.
    pub(crate) fn restrict<Q: QueryBase>(&self, query: Q) -> Q {
        match &self.0 {
            Some(sql) => query.only_if(sql),
            None => query,
        }
    }
}

/// Refuses everything but a condition over the columns that describe documents. The engine would accept any column of the table,
/// even those that describe chunks, and any expression.
fn check(sql: &str) -> Result<(), IndexError> {
    let checked = condition::check(sql)
        .map_err(|refusal| EngineError::new(refusal.into()))
        .and_then(|()| parse(sql).map_err(|source| EngineError::new(source.into())));
    checked.map_err(|source| IndexError::Filter {
        filter: beginning(sql, SHOWN),
        columns: FILTER_COLUMNS
            .map(|column| format!("`{column}`"))
            .join(", "),
        hint: if reaches_into_metadata(sql) {
            JSON_HINT
        } else {
            ""
        },
        source,
    })
}

/// The condition that `sql` states over the columns that describe documents.
fn parse(sql: &str) -> Result<(), DataFusionError> {
    let fields = FILTER_COLUMNS.map(|column| Field::new(column, DataType::Utf8, true));
    let schema = DFSchema::try_from(Schema::new(fields.to_vec()))?;
    let expression = SessionContext::new().parse_sql_expr(sql, &schema)?;
    match expression.get_type(&schema)? {
        DataType::Boolean => Ok(()),
        other => Err(DataFusionError::Plan(format!(
            "it is of type {other} instead of Boolean"
        ))),
    }
}

/// Whether `sql` tries to read a field of the metadata, as in `metadata.topic`, `metadata['topic']` or `metadata->'topic'`.
fn reaches_into_metadata(sql: &str) -> bool {
    sql.split(METADATA).skip(1).any(|after| {
        let after = after.trim_start_matches(['"', '`', ' ']);
        ["->", ".", "["].iter().any(|sign| after.starts_with(sign))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_true_or_false() {
        for sql in ["uri", "1", "length(uri)"] {
            assert!(parse(sql).is_err(), "{sql}");
        }
        assert!(parse("uri IS NULL").is_ok());
    }

    #[test]
    fn access_to_fields_is_distinguished_from_text() {
        for sql in [
            "metadata.topic = 'a'",
            "metadata['topic'] = 'a'",
            "metadata ->> 'topic' = 'a'",
        ] {
            assert!(reaches_into_metadata(sql), "{sql}");
        }
        assert!(!reaches_into_metadata("metadata LIKE '%a%'"));
    }
}
