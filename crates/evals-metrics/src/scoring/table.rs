//! Judgements and rankings in memory, by query.

use super::rows::FileRow;

/// Documents of queries with their scores or grades: what a [`TableBuilder`] was given, in byte order of the queries' ids.
///
/// ```
/// use evals_metrics::scoring::{Judged, Options, Ranked, Request, TableBuilder, score};
///
/// let mut judgements = TableBuilder::default();
/// judgements.query("q1");
/// judgements.document("a", 1.0);
/// let mut rankings = TableBuilder::default();
/// rankings.query("q1");
/// rankings.document("b", 9.5);
/// rankings.document("a", 9.25);
/// let (judgements, rankings) = (judgements.finish(), rankings.finish());
/// let request = Request::parse(["recip_rank"])?;
/// let scores = score(&Judged::of(&judgements), &Ranked::of(&rankings), &request, &Options::default())?;
/// assert_eq!(scores.summary(0).number(), Some(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The ids of all documents, one after another.
    ids: String,
    queries: Vec<Query>,
}

/// Takes the documents of a [`Table`], query by query.
#[derive(Debug, Default)]
pub struct TableBuilder(Table);

#[derive(Debug, Clone)]
struct Query {
    id: String,
    rows: Vec<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    from: usize,
    to: usize,
    value: f64,
    line: usize,
}

impl TableBuilder {
    /// Begins a query. If it began before, it goes on.
    pub fn query(&mut self, id: &str) {
        let queries = &mut self.0.queries;
        if queries.last().is_none_or(|last| last.id != id) {
            queries.push(Query {
                id: id.to_owned(),
                rows: Vec::new(),
            });
        }
    }

    /// Adds a document to the query that began last, with its score, a finite number, or its grade, a whole number of 32 bits.
    ///
    /// # Panics
    ///
    /// No query has begun.
    pub fn document(&mut self, id: &str, value: f64) {
        self.line(id, value, 0);
    }

    /// Adds a document from a line of a file.
    pub(super) fn line(&mut self, id: &str, value: f64, line: usize) {
        let Table { ids, queries } = &mut self.0;
        let from = ids.len();
        ids.push_str(id);
        let query = queries.last_mut();
        let query = query.expect("a query begins before its documents");
        query.rows.push(Row {
            from,
            to: ids.len(),
            value,
            line,
        });
    }

    /// The table, in which each query is once.
    pub fn finish(self) -> Table {
        let mut table = self.0;
        // A stable sort: the documents of a query keep their order.
        table.queries.sort_by(|left, right| left.id.cmp(&right.id));
        table.queries.dedup_by(|next, kept| {
            let goes_on = next.id == kept.id;
            if goes_on {
                kept.rows.append(&mut next.rows);
            }
            goes_on
        });
        table
    }
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.queries.len()
    }

    pub(super) fn query(&self, index: usize) -> &str {
        &self.queries[index].id
    }

    /// The rows of a query.
    pub(super) fn rows(&self, index: usize) -> impl Iterator<Item = FileRow<'_>> {
        self.queries[index].rows.iter().map(|row| FileRow {
            id: &self.ids[row.from..row.to],
            value: row.value,
            line: row.line,
        })
    }
}
