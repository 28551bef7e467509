//! Fusion of runs by the names of ranx.

use evals_metrics::Run;
use evals_metrics::fusion::{self, Fusion, Method, Normalization};
use evals_metrics::scoring::{File, TableBuilder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::collection::Collection;
use crate::{named, value_error};

/// Fuses runs into one.
#[pyfunction]
pub(crate) fn fuse(
    py: Python<'_>,
    runs: Vec<Py<Collection>>,
    norm: &str,
    method: &str,
    weights: Option<Vec<f64>>,
    k: u32,
    phi: f64,
) -> PyResult<Collection> {
    let fusion = Fusion {
        normalization: normalization(norm)?,
        weights,
        ..Fusion::new(method_of(method, k, phi)?)
    };
    py.detach(move || {
        let runs = runs
            .iter()
            .map(|it| it.get().ranked()?.to_run().map_err(value_error));
        let runs: Vec<Run> = runs.collect::<PyResult<_>>()?;
        let fused = fusion::fuse(&runs, &fusion).map_err(value_error)?;
        let mut table = TableBuilder::default();
        for (query, ranking) in &fused {
            table.query(query);
            for document in ranking {
                table.document(&document.id, document.score.into());
            }
        }
        Ok(Collection::of(File::Rankings, table))
    })
}

fn method_of(name: &str, k: u32, phi: f64) -> PyResult<Method> {
    if !(0.0..1.0).contains(&phi) {
        return Err(PyValueError::new_err(format!(
            "`phi` is {phi}; expected a number from 0 to below 1"
        )));
    }
    let known = [
        ("rrf", Method::Rrf { k }),
        ("wsum", Method::CombSum),
        ("sum", Method::CombSum),
        ("mnz", Method::CombMnz),
        ("anz", Method::CombAnz),
        ("max", Method::CombMax),
        ("min", Method::CombMin),
        ("med", Method::CombMed),
        ("isr", Method::Isr),
        ("log_isr", Method::LogIsr),
        ("bordafuse", Method::BordaFuse),
        ("rbc", Method::Rbc { persistence: phi }),
    ];
    named("fusion method", name, &known)
}

fn normalization(name: &str) -> PyResult<Normalization> {
    let known = [
        ("min-max", Normalization::MinMax),
        ("max", Normalization::Max),
        ("sum", Normalization::Sum),
        ("zmuv", Normalization::ZScore),
        ("rank", Normalization::Rank),
        ("none", Normalization::None),
    ];
    named("normalization", name, &known)
}
