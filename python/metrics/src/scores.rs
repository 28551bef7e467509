//! Scores of a run by query and measure.

use std::num::NonZeroU32;

use evals_metrics::measures::MinimumGrade;
use evals_metrics::scoring::{self, GradedQuery, Options, ScoringError, Statistic};
use evals_metrics::{Queries, TrecEval};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::collection::Collection;
use crate::dicts::Judgements;
use crate::value_error;

/// The least value that counts in a geometric mean, in `trec_eval`.
const LEAST: f64 = 0.000_01;

/// What to score, and how.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Request {
    measures: Vec<String>,
    parsed: scoring::Request,
    options: Options,
}

/// The values of a run by query and measure. What is undefined counts as 0, as in `trec_eval`.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Scores {
    found: scoring::Scores,
    /// Each name of a value, with the position of the measure that asked for it.
    names: Vec<(usize, String)>,
    /// Where each of them is among the columns.
    positions: Vec<usize>,
}

#[pymethods]
impl Request {
    /// Reads measures in the notation of ir-measures or of `trec_eval`.
    #[new]
    fn new(
        measures: Vec<String>,
        relevance_level: NonZeroU32,
        is_judged_only: bool,
        is_single_precision: bool,
        with_missing: bool,
    ) -> PyResult<Self> {
        let parsed = scoring::Request::parse(measures.iter().map(String::as_str));
        Ok(Self {
            parsed: parsed.map_err(value_error)?,
            measures,
            options: Options {
                queries: if with_missing {
                    Queries::Judged
                } else {
                    Queries::Both
                },
                relevant_from: MinimumGrade::new(relevance_level),
                judged_only: is_judged_only,
                version: if is_single_precision {
                    TrecEval::V9
                } else {
                    TrecEval::V10
                },
                ..Options::default()
            },
        })
    }

    /// Scores rankings by judgements with all processors, without the lock of the interpreter.
    fn score(
        &self,
        py: Python<'_>,
        judgements: &Collection,
        rankings: &Collection,
    ) -> PyResult<Scores> {
        py.detach(|| {
            let (judged, ranked) = (judgements.judged()?, rankings.ranked()?);
            match scoring::score(&judged, &ranked, &self.parsed, &self.options) {
                Ok(scores) => self.named(scores),
                // pytrec_eval and ir-measures have no scores then, and no error.
                Err(ScoringError::NoCommonQuery { .. }) => self.graded(&[]),
                Err(error) => Err(value_error(error)),
            }
        })
    }

    /// Scores dicts of rankings by judgements of dicts.
    fn score_dicts(
        &self,
        py: Python<'_>,
        judgements: &Judgements,
        rankings: &Bound<'_, PyDict>,
    ) -> PyResult<Scores> {
        let queries = judgements.graded(rankings, self.options.version)?;
        py.detach(|| self.graded(&queries))
    }
}

impl Request {
    fn graded(&self, queries: &[GradedQuery<'_>]) -> PyResult<Scores> {
        self.named(scoring::score_graded(queries, &self.parsed, &self.options))
    }

    fn named(&self, scores: scoring::Scores) -> PyResult<Scores> {
        let mut names = Vec::new();
        let mut positions = Vec::new();
        for (asked, measure) in self.measures.iter().enumerate() {
            let parsed = scoring::Request::parse([measure.as_str()]);
            let parsed = parsed.map_err(value_error)?;
            for column in parsed.columns() {
                // The same columns, before they got the relevance level. A group leaves out what another measure asks for with parameters.
                let mut columns = self.parsed.columns().iter();
                let Some(position) = columns.position(|it| it == column) else {
                    continue;
                };
                let name = scores.columns()[position].trec_eval_name(self.options.relevant_from);
                positions.push(position);
                names.push((asked, shown(measure, name)));
            }
        }
        Ok(Scores {
            found: scores,
            names,
            positions,
        })
    }
}

/// The name of a value: that of `trec_eval` for a family of `trec_eval` (`ndcg_cut.10` is `ndcg_cut_10`), or else as it was asked for.
fn shown(measure: &str, of_trec_eval: String) -> String {
    let is_parameter = |it: char| it.is_ascii_digit() || "._,=-".contains(it);
    let family = of_trec_eval.trim_end_matches(is_parameter);
    if measure.contains(['@', '(']) || !measure.starts_with(family) {
        measure.to_owned()
    } else {
        of_trec_eval
    }
}

impl Scores {
    /// A value of a query, whose logarithm `pytrec_eval` has where means are geometric.
    fn value(&self, query: usize, column: usize) -> f64 {
        let value = self.found.values(query)[column].unwrap_or(0.0);
        match self.found.columns()[column].statistic {
            Statistic::GeometricMap(_) | Statistic::GeometricBpref(_) => value.max(LEAST).ln(),
            _ => value,
        }
    }
}

#[pymethods]
impl Scores {
    /// The ids of the scored queries, sorted.
    #[getter]
    fn queries(&self) -> &[String] {
        self.found.queries()
    }

    /// The names of the values, each with the position of the measure that asked for it.
    #[getter]
    fn names(&self) -> Vec<(usize, String)> {
        self.names.clone()
    }

    /// A query without a ranking, and one without judgements, if there are any.
    #[getter]
    fn unmatched(&self) -> [Option<&String>; 2] {
        [self.found.unranked(), self.found.unjudged()].map(|it| it.first())
    }

    /// The bytes of the 64-bit floats of a value, in the order of the queries.
    fn column<'py>(&self, py: Python<'py>, column: usize) -> Bound<'py, PyBytes> {
        let queries = 0..self.found.queries().len();
        let values = queries.map(|query| self.value(query, self.positions[column]));
        PyBytes::new(py, &values.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>())
    }

    /// The values by query and name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = self.names.iter().map(|(_, name)| PyString::new(py, name));
        let names: Vec<_> = names.collect();
        let all = PyDict::new(py);
        let mut one = PyDict::new(py);
        for (position, query) in self.found.queries().iter().enumerate() {
            // A copy of the last one has the right size and all names.
            one = one.copy()?;
            for (name, &column) in names.iter().zip(&self.positions) {
                one.set_item(name, self.value(position, column))?;
            }
            all.set_item(query, &one)?;
        }
        Ok(all)
    }
}
