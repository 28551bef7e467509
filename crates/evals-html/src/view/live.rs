//! A run that is running, or that ended without a report.

use serde::Serialize;

use super::template::{TemplateError, render};

/// The page of a run without a report.
#[derive(Clone, Debug, Serialize)]
pub struct LivePage {
    /// The name of its folder.
    pub name: String,
    /// Names and values, such as the dataset.
    pub facts: Vec<(String, String)>,
    /// How far it is.
    pub progress: LiveProgress,
    /// The address of the stream that reports progress; `None` if nothing works on the run.
    pub stream: Option<String>,
    /// The address of the run's page, which shows the report once there is one.
    pub link: String,
}

/// How far a run is. Texts are formatted.
///
/// There is no verdict and no p value: if people check often and stop at a good moment, they
/// find differences that chance made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveProgress {
    /// The state in words, such as `running`.
    pub state: String,
    /// Why there is less to see than usual, or what to do.
    pub notice: Option<String>,
    /// How many cases are done, and how many there are, if that is known.
    pub cases: Option<(usize, usize)>,
    /// Both in words, such as `12 of 40 cases`.
    pub done: String,
    /// Names and values: failures, costs and times.
    pub facts: Vec<(String, String)>,
    /// The measures so far.
    pub measures: Vec<LiveMeasure>,
}

/// A measure over the cases that are done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveMeasure {
    /// Its name.
    pub name: String,
    /// The value; for an undefined one the reason.
    pub value: String,
    /// Its interval.
    pub interval: String,
    /// How many cases have it.
    pub n: usize,
    /// Value, lower and upper end on a scale from 0 to 1; `None` for other units and undefined values.
    pub drawn: Option<(f64, f64, f64)>,
}

impl LivePage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("live", self)
    }
}
