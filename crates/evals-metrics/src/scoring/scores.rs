//! The scores of a run, by query and in summary.

use super::request::{Column, Request};
use super::{Count, Options, Statistic};
use crate::arithmetic::as_f64;
use crate::measures::MinimumGrade;
use crate::{Queries, Undefined};

/// What became of a query.
#[derive(Debug)]
pub(super) enum QueryRow {
    Unjudged(String),
    Unranked(String),
    Scored {
        query: String,
        is_ranked: bool,
        positive_grades: usize,
        values: Vec<Result<f64, Undefined>>,
        texts: Vec<String>,
    },
}

/// The scores of a run, by query and statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    request: Request,
    options: Options,
    queries: Vec<String>,
    /// One row after another.
    values: Vec<Result<f64, Undefined>>,
    /// The texts of `relstring`, one row after another.
    texts: Vec<String>,
    unjudged: Vec<String>,
    unranked: Vec<String>,
    positive_grades: usize,
    tag: Option<String>,
}

/// A statistic of all queries.
#[derive(Debug, Clone, PartialEq)]
pub enum Summary {
    /// A mean or another number.
    Number(f64),
    /// A sum of counts.
    Count(f64),
    /// A text.
    Text(String),
    /// Nothing: the statistic is of queries only.
    None,
}

impl Summary {
    /// The number, unless it is a text or nothing.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) | Self::Count(number) => Some(*number),
            Self::Text(_) | Self::None => None,
        }
    }
}

impl Scores {
    pub(super) fn new(
        request: Request,
        options: Options,
        rows: Vec<QueryRow>,
        tag: Option<&str>,
    ) -> Self {
        let mut scores = Self {
            values: Vec::with_capacity(rows.len() * request.columns().len()),
            request,
            options,
            queries: Vec::with_capacity(rows.len()),
            texts: Vec::new(),
            unjudged: Vec::new(),
            unranked: Vec::new(),
            positive_grades: 0,
            tag: tag.map(str::to_owned),
        };
        let mut has_rankings = false;
        for row in rows {
            match row {
                QueryRow::Unjudged(query) => scores.unjudged.push(query),
                QueryRow::Unranked(query) => scores.unranked.push(query),
                QueryRow::Scored {
                    query,
                    is_ranked,
                    positive_grades,
                    values,
                    texts,
                } => {
                    if !is_ranked {
                        scores.unranked.push(query.clone());
                    }
                    has_rankings |= is_ranked;
                    scores.queries.push(query);
                    scores.positive_grades += positive_grades;
                    scores.values.extend(values);
                    scores.texts.extend(texts);
                }
            }
        }
        if !has_rankings {
            // Not a run of these judgements, even if missing rankings count as empty ones.
            scores.queries.clear();
        }
        scores
    }

    /// What is reported, in the order of the request.
    pub fn columns(&self) -> &[Column] {
        self.request.columns()
    }

    /// The options that the scores were computed with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The scored queries, in byte order of their ids.
    pub fn queries(&self) -> &[String] {
        &self.queries
    }

    /// Whether no query was scored.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// A query's values, in the order of the columns.
    pub fn values(&self, query: usize) -> &[Result<f64, Undefined>] {
        let columns = self.request.columns().len();
        &self.values[query * columns..(query + 1) * columns]
    }

    /// A query's text in a column of `relstring`.
    pub fn text(&self, query: usize, column: usize) -> Option<&str> {
        let is_text = |column: &Column| matches!(column.statistic, Statistic::Grades { .. });
        let columns = self.request.columns();
        if !is_text(columns.get(column)?) {
            return None;
        }
        let position = columns[..column].iter().filter(|it| is_text(it)).count();
        let per_query = columns.iter().filter(|it| is_text(it)).count();
        self.texts
            .get(query * per_query + position)
            .map(String::as_str)
    }

    /// The values of a column, in the order of the queries.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Result<f64, Undefined>> {
        let columns = self.request.columns().len();
        self.values.iter().skip(column).step_by(columns).copied()
    }

    /// A column for all queries, as `trec_eval` summarizes it: the mean of a measure, in which an undefined value counts as 0, or
    /// the sum of counts.
    pub fn summary(&self, column: usize) -> Summary {
        let values = self.column(column).map(|value| value.unwrap_or(0.0));
        let queries = as_f64(self.queries.len());
        let sum = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |sum, it| sum + it);
        match self.request.columns()[column].statistic {
            Statistic::RunId => match &self.tag {
                Some(tag) => Summary::Text(tag.clone()),
                None => Summary::None,
            },
            Statistic::Grades { .. } => Summary::None,
            Statistic::GeometricMap(_) | Statistic::GeometricBpref(_) => {
                let mut logarithms = values.map(|value| value.max(0.000_01).ln());
                Summary::Number((sum(&mut logarithms) / queries).exp())
            }
            // trec_eval counts all positive grades if it averages over all judged queries, whatever the level.
            Statistic::Count(Count::Relevant(rel))
                if self.options.queries == Queries::Judged
                    && rel != MinimumGrade::default()
                    && rel == self.options.relevant_from =>
            {
                Summary::Count(as_f64(self.positive_grades))
            }
            Statistic::Count(_) => Summary::Count(sum(&mut values.into_iter())),
            _ => Summary::Number(sum(&mut values.into_iter()) / queries),
        }
    }

    /// How many of the scored queries have no relevant document, by the measures that were asked for.
    pub fn without_relevant_documents(&self) -> usize {
        let columns = self.request.columns().len().max(1);
        let rows = self.values.chunks(columns);
        let undefined = Err(Undefined::NoRelevantDocuments);
        rows.filter(|row| row.contains(&undefined)).count()
    }

    /// The queries of the run that have no judgements. They are never scored.
    pub fn unjudged(&self) -> &[String] {
        &self.unjudged
    }

    /// The judged queries without a ranking in the run: scored as empty with [`Queries::Judged`], else skipped.
    pub fn unranked(&self) -> &[String] {
        &self.unranked
    }
}
