//! Dicts as `pytrec_eval` takes them, scored where they are.
//!
//! Python looks up the few judged documents of a query in the ranking, by hashes that it has already. So nobody reads the ids of documents
//! without a judgement, unless scores tie. What a dict holds comes in tuples: Python fills these at once, and hands out their members without
//! counting references, which takes a fraction of the time of steps through the dict.

use evals_metrics::TrecEval;
use evals_metrics::scoring::{File, GradedQuery, TableBuilder};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::collection::{Collection, documents_of, grade, number, text};

/// The judgements of queries, with the ids as Python has them.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Judgements(Vec<JudgedQuery>);

#[derive(Debug)]
struct JudgedQuery {
    id: String,
    key: Py<PyAny>,
    documents: Py<PyTuple>,
    /// One for each document.
    grades: Vec<i32>,
}

#[pymethods]
impl Judgements {
    #[new]
    fn new(queries: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut judgements = Vec::with_capacity(queries.len());
        for (key, documents) in queries {
            let id = text(&key, || "the judgements".to_owned())?;
            let id = id.to_cow()?.into_owned();
            let judged = documents_of(&id, &documents)?;
            let (documents, values) = (judged.keys().to_tuple(), judged.values().to_tuple());
            let mut grades = Vec::with_capacity(documents.len());
            for (document, value) in documents.iter_borrowed().zip(values.iter_borrowed()) {
                text(&document, || format!("query `{id}`"))?;
                grades.push(grade(&value, &id, &document)?);
            }
            if !grades.is_empty() {
                judgements.push(JudgedQuery {
                    id,
                    key: key.unbind(),
                    documents: documents.unbind(),
                    grades,
                });
            }
        }
        Ok(Self(judgements))
    }

    /// The judgements in the form of the other forms of input.
    fn collection(&self, py: Python<'_>) -> PyResult<Collection> {
        let mut table = TableBuilder::default();
        for query in &self.0 {
            table.query(&query.id);
            let documents = query.documents.bind(py).iter_borrowed();
            for (document, grade) in documents.zip(&query.grades) {
                let document = document.cast::<PyString>()?;
                table.document(&document.to_cow()?, (*grade).into());
            }
        }
        Ok(Collection::of(File::Judgements, table))
    }
}

impl Judgements {
    /// The grades of the queries that are judged and ranked.
    pub(crate) fn graded(
        &self,
        rankings: &Bound<'_, PyDict>,
        version: TrecEval,
    ) -> PyResult<Vec<GradedQuery<'_>>> {
        for (query, documents) in rankings {
            documents_of(text(&query, || "the rankings".to_owned())?, &documents)?;
        }
        let mut scores = Vec::new();
        let mut queries = Vec::with_capacity(self.0.len());
        for query in &self.0 {
            let Some(documents) = rankings.get_item(&query.key)? else {
                continue;
            };
            let documents = documents_of(&query.id, &documents)?;
            read_scores(&query.id, documents, version, &mut scores)?;
            queries.push(GradedQuery {
                id: &query.id,
                ranking: query.ranked(documents, &scores, version)?,
                judgements: &query.grades,
            });
        }
        Ok(queries)
    }
}

impl JudgedQuery {
    /// The grade at each rank of documents with these scores, best first.
    fn ranked(
        &self,
        documents: &Bound<'_, PyDict>,
        scores: &[f64],
        version: TrecEval,
    ) -> PyResult<Vec<Option<i32>>> {
        let mut ranked = vec![None; scores.len()];
        // Filled as soon as scores tie.
        let mut order = Vec::new();
        let judged = self.documents.bind(documents.py()).iter_borrowed();
        for (id, grade) in judged.zip(&self.grades) {
            let Some(score) = documents.get_item(id)? else {
                continue;
            };
            let score = version.score(score.extract::<f64>()?);
            let mut rank = scores.partition_point(|it| *it > score);
            if scores.get(rank + 1).is_some_and(|next| *next >= score) {
                if order.is_empty() {
                    order = in_order(&self.id, documents, version)?;
                }
                let id = id.cast::<PyString>()?;
                let id = id.to_cow()?;
                rank = order.partition_point(|(other_score, other)| {
                    *other_score > score || (*other_score >= score && other.as_str() > &*id)
                });
            }
            ranked[rank] = Some(*grade);
        }
        Ok(ranked)
    }
}

/// Replaces `scores` with those of a ranking, best first.
fn read_scores(
    query: &str,
    documents: &Bound<'_, PyDict>,
    version: TrecEval,
    scores: &mut Vec<f64>,
) -> PyResult<()> {
    if let Some((id, _)) = documents.iter().next() {
        text(&id, || format!("query `{query}`"))?;
    }
    scores.clear();
    for value in documents.values().to_tuple().iter_borrowed() {
        let score = match value.extract::<f64>() {
            Ok(score) if score.is_finite() => score,
            // The error says which document it is.
            _ => number(
                &value,
                query,
                &documents.keys().get_item(scores.len())?,
                File::Rankings,
            )?,
        };
        scores.push(version.score(score));
    }
    if !scores.is_sorted_by(|left, right| left >= right) {
        scores.sort_unstable_by(|left, right| right.total_cmp(left));
    }
    Ok(())
}

/// All documents in the order of `trec_eval`: score, then id, both descending.
fn in_order(
    query: &str,
    documents: &Bound<'_, PyDict>,
    version: TrecEval,
) -> PyResult<Vec<(f64, String)>> {
    let documents = documents.iter().map(|(id, score)| {
        let id = text(&id, || format!("query `{query}`"))?;
        let score = version.score(score.extract::<f64>()?) + 0.0;
        Ok((score, id.to_cow()?.into_owned()))
    });
    let mut order: Vec<(f64, String)> = documents.collect::<PyResult<_>>()?;
    order.sort_unstable_by(|(score, id), (other_score, other)| {
        other_score.total_cmp(score).then_with(|| other.cmp(id))
    });
    Ok(order)
}
