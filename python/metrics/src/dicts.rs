//! Dicts as `pytrec_eval` takes them, scored where they are.
//!
//! Python looks up the few judged documents of a query in the ranking, by hashes that it has already. So nobody reads the ids of documents
//! without a judgement, unless scores tie.

use std::collections::BTreeMap;

use evals_metrics::TrecEval;
use evals_metrics::scoring::{File, GradedQuery, TableBuilder};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::collection::{Collection, documents_of, number, text};

/// The judgements of queries, with the ids as Python has them.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Judgements(BTreeMap<String, Vec<(Py<PyString>, i32)>>);

#[pymethods]
impl Judgements {
    #[new]
    fn new(queries: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut judgements = BTreeMap::new();
        for (query, documents) in queries {
            let query = text(&query, || "the judgements".to_owned())?;
            let documents = documents_of(&query, &documents)?;
            let graded = documents.iter().map(|(id, grade)| {
                let Ok(id) = id.cast_into::<PyString>() else {
                    return Err(not_texts(&query));
                };
                let grade = number(&grade, &query, &id, File::Judgements)?;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "grades are whole numbers of 32 bits"
                )]
                let grade = grade as i32;
                Ok((id.unbind(), grade))
            });
            let graded: Vec<_> = graded.collect::<PyResult<_>>()?;
            if !graded.is_empty() {
                judgements.insert(query, graded);
            }
        }
        Ok(Self(judgements))
    }

    /// The judgements in the form of the other forms of input.
    fn collection(&self, py: Python<'_>) -> PyResult<Collection> {
        let mut table = TableBuilder::default();
        for (query, graded) in &self.0 {
            table.query(query);
            for (id, grade) in graded {
                table.document(&id.bind(py).to_cow()?, (*grade).into());
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
    ) -> PyResult<Vec<GradedQuery>> {
        let mut queries = Vec::with_capacity(rankings.len());
        for (query, documents) in rankings {
            let query = text(&query, || "the rankings".to_owned())?;
            let documents = documents_of(&query, &documents)?;
            let Some(judged) = self.0.get(&query) else {
                continue;
            };
            queries.push(GradedQuery {
                ranking: ranked(judged, &query, documents, version)?,
                judgements: judged.iter().map(|(_, grade)| *grade).collect(),
                id: query,
            });
        }
        Ok(queries)
    }
}

/// The grade at each rank.
fn ranked(
    judged: &[(Py<PyString>, i32)],
    query: &str,
    documents: &Bound<'_, PyDict>,
    version: TrecEval,
) -> PyResult<Vec<Option<i32>>> {
    let mut scores = scores_of(query, documents, version)?;
    let descending = |left: &f64, right: &f64| right.total_cmp(left);
    if !scores.is_sorted_by(|left, right| left >= right) {
        scores.sort_unstable_by(descending);
    }
    let mut grades = vec![None; scores.len()];
    // Filled as soon as scores tie.
    let mut order = Vec::new();
    for (id, grade) in judged {
        let Some(score) = documents.get_item(id)? else {
            continue;
        };
        let score = version.score(score.extract()?);
        let mut rank = scores.partition_point(|it| *it > score);
        if scores.get(rank + 1).is_some_and(|next| *next >= score) {
            if order.is_empty() {
                order = in_order(query, documents, version)?;
            }
            let id = id.bind(documents.py()).to_cow()?;
            rank = order.partition_point(|(other_score, other)| {
                *other_score > score || (*other_score >= score && other.as_str() > &*id)
            });
        }
        grades[rank] = Some(*grade);
    }
    Ok(grades)
}

/// The scores alone. A tuple hands them out without counting references.
fn scores_of(query: &str, documents: &Bound<'_, PyDict>, version: TrecEval) -> PyResult<Vec<f64>> {
    let values = documents.values().to_tuple();
    let mut scores = Vec::with_capacity(values.len());
    for value in values.iter_borrowed() {
        match value.extract::<f64>() {
            Ok(score) if score.is_finite() => scores.push(version.score(score)),
            _ => break,
        }
    }
    for (position, (id, score)) in documents.iter().enumerate() {
        if position == 0 && !id.is_instance_of::<PyString>() {
            return Err(not_texts(query));
        }
        if scores.len() == values.len() {
            break;
        }
        number(&score, query, &id, File::Rankings)?;
    }
    Ok(scores)
}

/// All documents in the order of `trec_eval`: score, then id, both descending.
fn in_order(
    query: &str,
    documents: &Bound<'_, PyDict>,
    version: TrecEval,
) -> PyResult<Vec<(f64, String)>> {
    let documents = documents.iter().map(|(id, score)| {
        let id = text(&id, || format!("query `{query}`"))?;
        Ok((version.score(score.extract()?) + 0.0, id))
    });
    let mut order: Vec<(f64, String)> = documents.collect::<PyResult<_>>()?;
    order.sort_unstable_by(|(score, id), (other_score, other)| {
        other_score.total_cmp(score).then_with(|| other.cmp(id))
    });
    Ok(order)
}

fn not_texts(query: &str) -> PyErr {
    PyTypeError::new_err(format!("query `{query}`: expected ids of type `str`"))
}
