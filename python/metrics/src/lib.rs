//! The native part of the Python package `evals-metrics`: collections of rankings and judgements, scores, fusion and statistics of the
//! crate `evals-metrics`. The folder `evals_metrics` beside it has the classes and functions that people call.

mod collection;
mod dicts;
mod fusion;
mod scores;
mod statistics;

use std::error::Error;

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, PyResult, pymodule};

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::collection::Collection;
    #[pymodule_export]
    use crate::dicts::Judgements;
    #[pymodule_export]
    use crate::fusion::fuse;
    #[pymodule_export]
    use crate::scores::{Request, Scores};
    #[pymodule_export]
    use crate::statistics::{adjust, mean_interval, paired_test};
}

/// A `ValueError` with the messages of an error and its sources.
fn value_error(error: impl Error) -> PyErr {
    let mut messages = vec![error.to_string()];
    let mut next = error.source();
    while let Some(source) = next {
        messages.push(source.to_string());
        next = source.source();
    }
    PyValueError::new_err(messages.join(": "))
}

/// What a name stands for; an error that lists all names for any other one.
fn named<T: Copy>(what: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|(_, named)| *named).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        PyValueError::new_err(format!(
            "unknown {what} `{name}`; known are {}",
            names.join(", ")
        ))
    })
}

/// The numbers in the bytes of an array of 64-bit floats. numpy makes and takes them with one copy, without a dependency on its headers.
fn floats(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers.iter().copied().map(f64::from_ne_bytes).collect()
}
