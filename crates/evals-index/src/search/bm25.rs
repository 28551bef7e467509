use lancedb::index::scalar::FullTextSearchQuery;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use super::{Filter, Hit, scored_rows};
use crate::positions::Positions;
use crate::table::{ROW_ID, TEXT};
use crate::{EngineError, IndexError};

/// The engine's name for the BM25 score.
const SCORE: &str = "_score";

/// Asks the full-text index for the `limit` best chunks, in no order that could be relied on. The question is a bag of words,
/// whatever signs it holds.
pub(super) async fn fetch(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    question: &str,
    limit: usize,
) -> Result<Vec<Hit>, IndexError> {
    let failed = EngineError::during("search the full-text index");
    let query = FullTextSearchQuery::new(question.to_owned())
        .with_column(TEXT.to_owned())
        .map_err(|source| failed(source.into()))?;
    let query = table
        .query()
        .full_text_search(query)
        .select(Select::columns(&[ROW_ID, SCORE]))
        .limit(limit);
    let rows = filter.restrict(query).execute().await.map_err(failed)?;
    scored_rows::read(rows, SCORE, positions, |score| score).await
}
