use lancedb::datafusion::common::DFSchema;
use lancedb::datafusion::prelude::SessionContext;
use lancedb::query::QueryBase;
use lancedb::table::Table;

use arrow::datatypes::{DataType, Field, Schema};

use crate::table::FILTER_COLUMNS;
use crate::{EngineError, IndexError};

/// A condition that documents have to meet to be found, checked before any search uses it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter(Option<String>);

impl Filter {
    /// Checks a WHERE clause against the columns that describe documents. The engine would take any column of the table, of which
    /// some describe chunks.
    pub(crate) async fn parse(sql: Option<&str>, table: &Table) -> Result<Self, IndexError> {
        let Some(sql) = sql else {
            return Ok(Self(None));
        };
        let refused = |source| IndexError::Filter {
            filter: sql.to_owned(),
            columns: FILTER_COLUMNS
                .map(|column| format!("`{column}`"))
                .join(", "),
            source: EngineError::new(source),
        };
        check_columns(sql).map_err(|source| refused(source.into()))?;
        table
            .count_rows(Some(sql.to_owned()))
            .await
            .map_err(|source| refused(source.into()))?;
        Ok(Self(Some(sql.to_owned())))
    }

    /// The clause, where there is one.
    pub(super) fn sql(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Applies the filter to the rows that `query` looks at, before it ranks them.
    pub(super) fn restrict<Q: QueryBase>(&self, query: Q) -> Q {
        match &self.0 {
            Some(sql) => query.only_if(sql),
            None => query,
        }
    }
}

fn check_columns(sql: &str) -> lancedb::datafusion::error::Result<()> {
    let fields = FILTER_COLUMNS.map(|column| Field::new(column, DataType::Utf8, true));
    let schema = DFSchema::try_from(Schema::new(fields.to_vec()))?;
    SessionContext::new().parse_sql_expr(sql, &schema)?;
    Ok(())
}
