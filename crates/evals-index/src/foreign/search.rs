//! Searches of a table that another program wrote.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, UInt64Type};
use evals_messages::visible::beginning;
use evals_metrics::fusion::reciprocal_rank;
use futures::TryStreamExt;
use lancedb::arrow::SendableRecordBatchStream;
use lancedb::index::scalar::FullTextSearchQuery;
use lancedb::query::{ExecutableQuery, QueryBase, Select, VectorQuery};

use super::columns::Columns;
use super::{
    ForeignDistance, ForeignError, ForeignMode, ForeignSearch, ForeignTable, guarded, texts,
};
use crate::engine_error::EngineError;
use crate::search::engine_query::{self, SCORE};
use crate::table;
use crate::table::ROW_ID;
use crate::table::vector_index::DISTANCE;

/// Fewest rows that the first attempt of a search asks for.
const FEWEST: usize = 64;
/// Factor by which each further attempt goes deeper, and the first attempt goes deeper than the number of documents.
const DEEPER: usize = 4;
/// Rows beyond the depth, so that they usually cover a tie at the cut.
const MARGIN: usize = 16;
/// Characters of a filter that a message shows.
const SHOWN: usize = 200;

/// A row that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignHit {
    /// The document.
    pub document: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The text of the row.
    pub text: Option<String>,
    /// The score; a higher one is better. Negative for distances of [`ForeignDistance::L2`].
    pub score: f32,
}

/// A row, without its texts.
#[derive(Debug, Clone)]
struct Row {
    id: u64,
    /// The document, or else the row itself.
    document: String,
    score: f32,
}

/// Sorted rows.
struct Rows {
    rows: Vec<Row>,
    /// Whether there are no others.
    exhausted: bool,
}

/// The question in the form that one of the two searches needs.
#[derive(Clone, Copy)]
enum Leg<'q> {
    Text(&'q str),
    Vector(&'q [f32]),
}

impl ForeignTable {
    /// Whether a search compares vectors.
    pub fn needs_vector(&self, search: &ForeignSearch) -> bool {
        self.mode(search) != ForeignMode::Keyword
    }

    pub(super) fn mode(&self, search: &ForeignSearch) -> ForeignMode {
        search.mode.unwrap_or(match self.columns.vector {
            Some(_) => ForeignMode::Vector,
            None => ForeignMode::Keyword,
        })
    }

    /// Checks that the table can be searched this way, by a search of it, and returns warnings about it.
    ///
    /// # Errors
    ///
    /// Vectors or an index are missing, the engine would not use the index of the vectors, or the filter is invalid or matches nothing.
    pub async fn check(&self, search: &ForeignSearch) -> Result<Vec<String>, ForeignError> {
        let check = async {
            if let Some(filter) = &search.filter {
                self.check_filter(filter).await?;
            }
            let mut warnings = Vec::new();
            let any = vec![1.0; self.dimension().unwrap_or_default()];
            if self.needs_vector(search) {
                self.check_vectors(search, &any, &mut warnings).await?;
            }
            if self.mode(search) != ForeignMode::Vector {
                let index = self.text_index().ok_or_else(|| self.lacks_text_index())?;
                warnings.extend(self.uncovered(&index.name, "full-text index").await?);
            }
            self.find(search, "any", &any, 1).await?;
            Ok(warnings)
        };
        guarded(&self.address, check).await
    }

    async fn check_filter(&self, filter: &str) -> Result<(), ForeignError> {
        let (table, shown) = (self.address.clone(), beginning(filter, SHOWN));
        match self.table.count_rows(Some(whole(filter))).await {
            Ok(0) => Err(ForeignError::NothingLeft {
                table,
                filter: shown,
            }),
            Ok(_) => Ok(()),
            Err(source) => Err(ForeignError::Filter {
                table,
                filter: shown,
                source: EngineError::new(source.into()),
            }),
        }
    }

    async fn check_vectors(
        &self,
        search: &ForeignSearch,
        any: &[f32],
        warnings: &mut Vec<String>,
    ) -> Result<(), ForeignError> {
        if self.columns.vector.is_none() {
            return Err(self.lacks(&match &self.columns.unfixed {
                Some(advice) => format!("has no vectors to search: {advice}"),
                None => "has no column of vectors: lists of floating-point numbers of one fixed length; search it with `mode: keyword`".to_owned(),
            }));
        }
        if !search.index {
            return Ok(());
        }
        let index = self.vector_index().ok_or_else(|| {
            self.lacks("has no index of its vectors; create one, or leave out `index`")
        })?;
        if let (Some(asked), Some(own)) = (search.distance, self.index_distance)
            && asked != own
        {
            let [asked, own] = [asked, own].map(|it| it.engine().to_string());
            let index = &index.name;
            return Err(self.lacks(&format!(
                "has the index `{index}`, which compares vectors by `{own}` and not by `{asked}`; leave out `distance` or `index`"
            )));
        }
        let plan = self.nearest(search, any, 1)?.explain_plan(false).await;
        let plan = plan.map_err(ForeignError::during(&self.address, "plan a search of"))?;
        if !plan.contains("ANN") {
            let problem = format!(
                "would be searched without its index `{}` of the vectors; the engine's plan is\n{plan}",
                index.name
            );
            return Err(self.lacks(&problem));
        }
        warnings.extend(self.uncovered(&index.name, "index of the vectors").await?);
        Ok(())
    }

    /// A warning about rows that were added after an index was made, which are searched in a different way.
    async fn uncovered(&self, index: &str, what: &str) -> Result<Option<String>, ForeignError> {
        let statistics = self.table.index_stats(index).await;
        let statistics = statistics.map_err(ForeignError::during(&self.address, "read"))?;
        let left_out = statistics.map_or(0, |it| it.num_unindexed_rows);
        Ok((left_out > 0).then(|| {
            format!(
                "the {what} `{index}` of the table {} does not cover {left_out} of {} rows; they are compared one by one, and scores of words may \
                 differ. `table.optimize()` adds them",
                self.address, self.rows
            )
        }))
    }

    fn lacks_text_index(&self) -> ForeignError {
        let instead = match &self.columns {
            Columns {
                vector: Some(_), ..
            } => ", or search with `mode: vector`".to_owned(),
            Columns {
                unfixed: Some(advice),
                ..
            } => format!("; it has no vectors to search either: {advice}"),
            _ => String::new(),
        };
        self.lacks(&format!(
            "has no full-text index for its texts; create one (`table.create_index(COLUMN, config=FTS())` in Python){instead}"
        ))
    }

    fn lacks(&self, problem: &str) -> ForeignError {
        ForeignError::Index {
            table: self.address.clone(),
            problem: problem.to_owned(),
        }
    }

    /// The best rows of the `k` best documents, best first. Among equal scores, the document with the greater id comes first.
    ///
    /// `vector` is that of the question, with the dimensions of the table's; it is ignored unless the search
    /// [needs](Self::needs_vector) it.
    ///
    /// # Errors
    ///
    /// The engine or the store fails.
    pub async fn search(
        &self,
        search: &ForeignSearch,
        question: &str,
        vector: &[f32],
        k: usize,
    ) -> Result<Vec<ForeignHit>, ForeignError> {
        let work = async {
            let rows = self.find(search, question, vector, k).await?;
            self.hits(&rows).await
        };
        guarded(&self.address, work).await
    }

    /// Goes deeper until the rows belong to `k` documents.
    async fn find(
        &self,
        search: &ForeignSearch,
        question: &str,
        vector: &[f32],
        k: usize,
    ) -> Result<Vec<Row>, ForeignError> {
        let (text, vector) = (Leg::Text(question), Leg::Vector(vector));
        let fewest = match self.mode(search) {
            ForeignMode::Hybrid => search.candidates.get(),
            _ => FEWEST,
        };
        let mut depth = k.saturating_mul(DEEPER).max(fewest);
        loop {
            let Rows {
                mut rows,
                exhausted,
            } = match self.mode(search) {
                ForeignMode::Vector => self.best(search, vector, depth).await?,
                ForeignMode::Keyword => self.best(search, text, depth).await?,
                ForeignMode::Hybrid => {
                    let text = self.best(search, text, depth).await?;
                    let vector = self.best(search, vector, depth).await?;
                    fused(&text, &vector, search.rrf_k.get())
                }
            };
            let end = end_of_documents(&rows, k);
            if exhausted || end.is_some() {
                rows.truncate(end.unwrap_or(rows.len()));
                return Ok(rows);
            }
            depth = depth.saturating_mul(DEEPER);
        }
    }

    /// The best `depth` rows of one search. Among equal scores at its limit the engine returns arbitrary rows, so it is asked for more until one
    /// scores lower than the last one needed. An index of vectors is asked once, as what it finds depends on how much it is asked for.
    async fn best(
        &self,
        search: &ForeignSearch,
        leg: Leg<'_>,
        depth: usize,
    ) -> Result<Rows, ForeignError> {
        let is_approximate = matches!(leg, Leg::Vector(_)) && search.index;
        let mut limit = if is_approximate {
            depth
        } else {
            depth + MARGIN
        };
        loop {
            let mut rows = self.fetch(search, leg, limit).await?;
            let found = rows.len();
            rows.sort_unstable_by(order);
            let is_settled = depth < rows.len() && rows[found - 1].score < rows[depth - 1].score;
            if found < limit || is_approximate || is_settled {
                rows.truncate(depth);
                let exhausted = found < limit && found <= depth;
                return Ok(Rows { rows, exhausted });
            }
            limit = limit.saturating_mul(DEEPER);
        }
    }

    /// Asks the engine for `limit` rows.
    async fn fetch(
        &self,
        search: &ForeignSearch,
        leg: Leg<'_>,
        limit: usize,
    ) -> Result<Vec<Row>, ForeignError> {
        let failed = ForeignError::during(&self.address, "search");
        let mut columns = vec![ROW_ID];
        columns.extend(self.columns.document.as_deref());
        let filter = search.filter.as_deref().map(whole);
        match leg {
            Leg::Text(question) => {
                let index = self.text_index().and_then(|index| index.columns.first());
                let query = FullTextSearchQuery::new(question.to_owned());
                let query = match index {
                    Some(column) => query.with_column(column.clone()),
                    None => Ok(query),
                };
                let query = query.map_err(|source| failed(source.into()))?;
                columns.push(SCORE);
                let query = self.table.query().full_text_search(query);
                let mut query = query.select(Select::columns(&columns)).limit(limit);
                if let Some(filter) = filter {
                    query = query.only_if(filter);
                }
                let rows = query.execute().await.map_err(failed)?;
                self.rows_of(rows, SCORE, |score| score).await
            }
            Leg::Vector(vector) => {
                columns.push(DISTANCE);
                let query = self.nearest(search, vector, limit)?;
                let mut query = query.select(Select::columns(&columns));
                if let Some(filter) = filter {
                    query = query.only_if(filter);
                }
                let options = engine_query::options(vector.len());
                let rows = query.execute_with_options(options).await.map_err(failed)?;
                let distance = self.distance(search);
                let score = |number| distance.score(number);
                self.rows_of(rows, DISTANCE, score).await
            }
        }
    }

    /// How a search compares vectors.
    fn distance(&self, search: &ForeignSearch) -> ForeignDistance {
        let of_index = self.index_distance.filter(|_| search.index);
        of_index.or(search.distance).unwrap_or_default()
    }

    fn nearest(
        &self,
        search: &ForeignSearch,
        vector: &[f32],
        limit: usize,
    ) -> Result<VectorQuery, ForeignError> {
        let failed = ForeignError::during(&self.address, "search");
        let column = self.columns.vector.as_ref().map_or("", |it| &it.column);
        let query = self.table.query().nearest_to(vector).map_err(&failed)?;
        let mut query = query.column(column).limit(limit);
        // With a different distance than that of the index, the engine would silently compare every vector.
        query = query.distance_type(self.distance(search).engine());
        if !search.index {
            return Ok(query.bypass_vector_index());
        }
        if let Some(nprobes) = search.nprobes {
            query = query.nprobes(nprobes.get()).map_err(&failed)?;
        }
        if let Some(ef) = search.ef {
            query = query.ef(ef.get());
        }
        if let Some(factor) = search.refine_factor {
            query = query.refine_factor(factor.get());
        }
        Ok(query)
    }

    /// Reads rows with the numbers in `column`. A row whose number is none, such as the cosine with a vector of zeros, is left out.
    async fn rows_of(
        &self,
        mut batches: SendableRecordBatchStream,
        column: &str,
        score: impl Fn(f32) -> f32,
    ) -> Result<Vec<Row>, ForeignError> {
        let failed = ForeignError::during(&self.address, "search");
        let mut rows = Vec::new();
        while let Some(batch) = batches.try_next().await.map_err(&failed)? {
            let ids = batch[ROW_ID].as_primitive::<UInt64Type>().values();
            let numbers = batch[column].as_primitive::<Float32Type>().values();
            let documents = texts(&batch, self.columns.document.as_deref(), &self.address)?;
            for ((id, number), document) in ids.iter().zip(numbers).zip(documents) {
                let score = score(*number);
                if score.is_finite() {
                    let document = document.map(|id| self.uri(id));
                    let document = document.unwrap_or_else(|| id.to_string());
                    rows.push(Row {
                        id: *id,
                        document,
                        score,
                    });
                }
            }
        }
        Ok(rows)
    }

    /// The address of a document of haiku.rag, or the id itself.
    fn uri(&self, id: String) -> String {
        let documents = self.documents.as_ref();
        let known = documents.and_then(|documents| documents.get(&id));
        known.map_or(id, |document| document.uri.clone())
    }

    /// Reads the texts of rows.
    async fn hits(&self, rows: &[Row]) -> Result<Vec<ForeignHit>, ForeignError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<u64> = rows.iter().map(|row| row.id).collect();
        let (title, text) = (self.columns.title.as_deref(), self.columns.text.as_deref());
        let document = self.columns.document.as_deref();
        let wanted = [Some(ROW_ID), document, title, text];
        let wanted: Vec<&str> = wanted.into_iter().flatten().collect();
        let read = async {
            let dataset = table::dataset(&self.table).await?;
            let columns = dataset.schema().project_preserve_system_columns(&wanted)?;
            let rows = dataset.take_builder(&ids, columns)?.execute().await?;
            Ok::<_, lancedb::Error>(rows)
        };
        let batch = read
            .await
            .map_err(ForeignError::during(&self.address, "read texts of"))?;
        let cells = |column| texts(&batch, column, &self.address);
        let (documents, titles, texts) = (cells(document)?, cells(title)?, cells(text)?);
        let read_ids = batch[ROW_ID].as_primitive::<UInt64Type>().values();
        let places: HashMap<u64, usize> = read_ids.iter().copied().zip(0..).collect();
        let hit = |row: &Row| {
            let place = *places.get(&row.id)?;
            let id = documents[place].clone();
            let known = id.as_ref().and_then(|id| self.documents.as_ref()?.get(id));
            Some(ForeignHit {
                title: titles[place].clone().or_else(|| known?.title.clone()),
                document: id.map(|id| self.uri(id)),
                text: texts[place].clone(),
                score: row.score,
            })
        };
        Ok(rows.iter().filter_map(hit).collect())
    }
}

/// A filter that the engine reads to its end: it ignores what follows a complete condition.
fn whole(filter: &str) -> String {
    format!("({filter}\n)")
}

/// By score, then by document, both descending, as in `trec_eval`, then by the order in the table.
fn order(left: &Row, right: &Row) -> Ordering {
    let by_score = right.score.total_cmp(&left.score);
    let by_document = || right.document.cmp(&left.document);
    by_score
        .then_with(by_document)
        .then_with(|| left.id.cmp(&right.id))
}

/// The number of rows up to the first of the `k`th document; `None` if they belong to fewer documents.
fn end_of_documents(rows: &[Row], k: usize) -> Option<usize> {
    let mut documents = HashSet::new();
    rows.iter()
        .position(|row| documents.insert(&row.document) && documents.len() == k)
        .map(|last| last + 1)
}

/// Fuses two rankings by the sum of their reciprocal ranks.
fn fused(text: &Rows, vector: &Rows, rrf_k: u32) -> Rows {
    let mut scores: BTreeMap<u64, (&Row, f64)> = BTreeMap::new();
    for ranking in [&text.rows, &vector.rows] {
        for (rank, row) in (1_u32..).zip(ranking) {
            scores.entry(row.id).or_insert((row, 0.0)).1 += reciprocal_rank(rrf_k, rank);
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rankings hold scores in single precision"
    )]
    let fused = |(row, score): &(&Row, f64)| Row {
        score: *score as f32,
        ..(*row).clone()
    };
    let mut rows: Vec<Row> = scores.values().map(fused).collect();
    rows.sort_unstable_by(order);
    Rows {
        rows,
        exhausted: text.exhausted && vector.exhausted,
    }
}
