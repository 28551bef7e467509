//! The list of runs.

use serde::Serialize;

use super::sparkline::Sparkline;
use super::template::{TemplateError, render};

/// The page that lists the stored runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunsPage {
    /// The folder of the runs.
    pub folder: String,
    /// The filters.
    pub filters: Vec<Filter>,
    /// The runs, newest first.
    pub rows: Vec<RunRow>,
    /// Folders that are not runs, or that cannot be read.
    pub broken: Vec<BrokenRow>,
    /// How many runs fit the filters.
    pub found: usize,
    /// The address of the page with all of them, if `rows` has only the newest.
    pub all: Option<String>,
    /// The address of the stream that reports changes of the list.
    pub changes: String,
}

/// A filter of the list.
#[derive(Clone, Debug, Serialize)]
pub struct Filter {
    /// The name of its parameter, such as `dataset`.
    pub name: String,
    /// What it chooses among.
    pub choices: Vec<Choice>,
}

/// One choice.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// Its value.
    pub value: String,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// A run in the list.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// The name of its folder.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// The address of its page.
    pub link: String,
    /// The address of the page where its answers are labelled; `None` for a run without answers.
    pub labelling: Option<String>,
    /// When it started.
    pub started: String,
    /// Its state in words.
    pub state: String,
    /// What kind of state that is.
    pub state_kind: StateKind,
    /// The benchmark.
    pub benchmark: String,
    /// How many cases it has, without repetitions.
    pub cases: usize,
    /// Its main measure.
    pub headline: Option<Reading>,
    /// The change of the main measure against the run before it.
    pub change: Option<RowChange>,
    /// The main measure of the runs before it.
    pub sparkline: Option<Sparkline>,
    /// Whether it can be compared.
    pub is_comparable: bool,
    /// Whether it is one of the two that are chosen for a comparison.
    pub is_chosen: bool,
}

/// A kind of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StateKind {
    /// Finished without failures.
    Finished,
    /// Finished, and some cases or evaluators failed.
    Partial,
    /// A process works on it.
    Running,
    /// Ended early.
    Unfinished,
    /// Measured nothing, or cannot be read.
    Failed,
}

/// A formatted value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// The name of the measure.
    pub measure: String,
    /// Its value.
    pub value: String,
    /// Its interval.
    pub interval: Option<String>,
}

/// The change of a value against an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowChange {
    /// The difference with its sign.
    pub difference: String,
    /// What tells the earlier run from this one: its profile, or when it started.
    pub before: String,
    /// The address of the comparison.
    pub link: String,
}

/// A folder that is not a run, or that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenRow {
    /// Its name.
    pub name: String,
    /// Why it is not listed as a run.
    pub reason: String,
}

impl RunsPage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("runs", self)
    }
}
