//! Rankings and judgements in the forms that people have: dicts, columns, texts and files.

use std::fmt::Display;
use std::str::Utf8Error;

use evals_metrics::scoring::{File, Judged, Ranked, Table, TableBuilder};
use evals_metrics::trec::ParseError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList, PyString};

use crate::{floats, value_error};

/// The documents of queries, with scores or with grades.
#[pyclass(frozen)]
#[derive(Debug)]
pub(crate) struct Collection {
    file: File,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// TREC, JSON, CSV or TSV, in the memory of Python. It is read in parallel whenever it is scored, which takes less time than copying its
    /// ids once.
    Text(PyBackedBytes),
    Table(Table),
}

#[pymethods]
impl Collection {
    /// Reads `{query: {document: number}}`.
    #[staticmethod]
    fn from_dict(queries: &Bound<'_, PyDict>, are_rankings: bool) -> PyResult<Self> {
        let file = file(are_rankings);
        let mut table = TableBuilder::default();
        for (query, documents) in queries {
            let query = text(&query, || format!("the {file}"))?.to_cow()?;
            let documents = documents_of(&query, &documents)?;
            // A ranking can be empty. A query without judgements is one that nobody judged, as in a file.
            if are_rankings || !documents.is_empty() {
                table.query(&query);
            }
            for (id, value) in documents {
                let value = number(&value, &query, &id, file)?;
                let id = text(&id, || format!("query `{query}`"))?;
                table.document(&id.to_cow()?, value);
            }
        }
        Ok(Self::of(file, table))
    }

    /// Reads three columns: ids of queries, ids of documents, and the bytes of 64-bit floats. `names` are those of the columns.
    #[staticmethod]
    fn from_columns(
        queries: &Bound<'_, PyList>,
        documents: &Bound<'_, PyList>,
        values: &[u8],
        names: [String; 3],
        are_rankings: bool,
    ) -> PyResult<Self> {
        let file = file(are_rankings);
        let names = names.map(|name| format!("column `{name}`"));
        let mut table = TableBuilder::default();
        let rows = queries.iter().zip(documents.iter()).zip(floats(values));
        for (row, ((query, document), value)) in rows.enumerate() {
            let place = |column: usize| format!("{}, row {row}", names[column]);
            let query = text(&query, || place(0))?.to_cow()?;
            let document = text(&document, || place(1))?.to_cow()?;
            let named = || format!("{}, query `{query}`, document `{document}`", place(2));
            checked(value, file, named)?;
            table.query(&query);
            table.document(&document, value);
        }
        Ok(Self::of(file, table))
    }

    /// Takes the text of a file in the form of TREC, CSV or TSV.
    #[staticmethod]
    fn from_text(text: PyBackedBytes, are_rankings: bool) -> Self {
        Self {
            file: file(are_rankings),
            source: Source::Text(text),
        }
    }

    /// The documents of each query in their order, with floats as scores and ints as grades.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.file {
            File::Rankings => {
                let ranked = self.ranked()?;
                let documents = |query| ranked.documents(query);
                dict_of(py, ranked.queries(), documents, |score| score)
            }
            File::Judgements => {
                let judged = self.judged()?;
                let documents = |query| judged.documents(query);
                dict_of(py, judged.queries(), documents, whole)
            }
        }
    }
}

impl Collection {
    pub(crate) fn of(file: File, table: TableBuilder) -> Self {
        Self {
            file,
            source: Source::Table(table.finish()),
        }
    }

    pub(crate) fn judged(&self) -> PyResult<Judged<'_>> {
        match &self.source {
            Source::Text(text) => Judged::read(self.utf8(text)?).map_err(value_error),
            Source::Table(table) => Ok(Judged::of(table)),
        }
    }

    pub(crate) fn ranked(&self) -> PyResult<Ranked<'_>> {
        match &self.source {
            Source::Text(text) => Ranked::read(self.utf8(text)?).map_err(value_error),
            Source::Table(table) => Ok(Ranked::of(table)),
        }
    }

    fn utf8<'a>(&self, text: &'a [u8]) -> PyResult<&'a str> {
        let named = |error: Utf8Error| PyValueError::new_err(format!("the {}: {error}", self.file));
        str::from_utf8(text).map_err(named)
    }
}

fn file(are_rankings: bool) -> File {
    if are_rankings {
        File::Rankings
    } else {
        File::Judgements
    }
}

/// The documents of a query; an error for anything but a dict.
pub(crate) fn documents_of<'a, 'py>(
    query: &dyn Display,
    documents: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyDict>> {
    documents.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err(format!(
            "query `{query}`: expected a dict of documents, not `{}`",
            type_of(documents)
        ))
    })
}

/// An id; an error that says where anything but a text is.
pub(crate) fn text<'a, 'py>(
    id: &'a Bound<'py, PyAny>,
    place: impl Fn() -> String,
) -> PyResult<&'a Bound<'py, PyString>> {
    id.cast::<PyString>().map_err(|_| {
        PyTypeError::new_err(format!(
            "{}: expected an id of type `str`, not `{}`",
            place(),
            type_of(id)
        ))
    })
}

/// A score or a grade; an error that names the query and the document of anything else.
pub(crate) fn number(
    value: &Bound<'_, PyAny>,
    query: &str,
    document: &Bound<'_, PyAny>,
    file: File,
) -> PyResult<f64> {
    let place = || format!("query `{query}`, document `{document}`");
    match value.extract::<f64>() {
        Ok(number) => checked(number, file, place),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{}: expected a number, not `{}`",
            place(),
            type_of(value)
        ))),
    }
}

/// A number that a score or a grade can be; an error that says where any other one is.
fn checked(number: f64, file: File, place: impl Fn() -> String) -> PyResult<f64> {
    let grades = f64::from(i32::MIN)..=f64::from(i32::MAX);
    let wrong = match file {
        File::Rankings if !number.is_finite() => {
            format!("the score {number} is not a finite number")
        }
        File::Judgements if number.fract() != 0.0 || !grades.contains(&number) => {
            format!("the grade {number} is not a whole number of 32 bits")
        }
        _ => return Ok(number),
    };
    Err(PyValueError::new_err(format!("{}: {wrong}", place())))
}

/// A grade; an error as of [`number`].
pub(crate) fn grade(
    value: &Bound<'_, PyAny>,
    query: &str,
    document: &Bound<'_, PyAny>,
) -> PyResult<i32> {
    // Much faster than to make a float of an int.
    value
        .extract::<i32>()
        .or_else(|_| number(value, query, document, File::Judgements).map(whole))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "grades are whole numbers of 32 bits"
)]
fn whole(grade: f64) -> i32 {
    grade as i32
}

fn type_of(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(|_| "?".to_owned(), |name| name.to_string())
}

fn dict_of<'py, 'c, V: IntoPyObject<'py>>(
    py: Python<'py>,
    queries: impl Iterator<Item = &'c str>,
    documents: impl Fn(usize) -> Result<Vec<(&'c str, f64)>, ParseError>,
    number: impl Fn(f64) -> V,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (position, query) in queries.enumerate() {
        let one = PyDict::new(py);
        for (id, value) in documents(position).map_err(value_error)? {
            one.set_item(id, number(value))?;
        }
        all.set_item(query, one)?;
    }
    Ok(all)
}
