//! A measure over the runs of one dataset, benchmark and profile.

use serde::Serialize;

use super::sparkline::Sparkline;
use super::template::{TemplateError, render};

/// The page of trends: every line to choose from, and one of them drawn.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TrendPage {
    /// The lines to choose from.
    pub lines: Vec<TrendLine>,
    /// The name of the line that is drawn: dataset, benchmark and profile.
    pub title: Option<String>,
    /// The measures to choose from: name, address, and whether it is drawn.
    pub measures: Vec<(String, String, bool)>,
    /// The drawing as SVG. The template does not escape it.
    pub figure: String,
    /// What the drawing shows, and how.
    pub caption: String,
    /// The runs of the drawing, newest first.
    pub rows: Vec<TrendRow>,
}

/// The runs of one dataset, benchmark and profile.
#[derive(Clone, Debug, Serialize)]
pub struct TrendLine {
    /// The dataset.
    pub dataset: String,
    /// The benchmark.
    pub benchmark: String,
    /// The search profile or the target.
    pub profile: String,
    /// How many runs it has.
    pub runs: usize,
    /// The address of its page.
    pub link: String,
    /// Its main measure.
    pub sparkline: Option<Sparkline>,
}

/// A run in a trend.
#[derive(Clone, Debug, Serialize)]
pub struct TrendRow {
    /// When it started.
    pub started: String,
    /// The name of its folder.
    pub name: String,
    /// The address of its page.
    pub link: String,
    /// The measure, or why it is undefined.
    pub value: String,
    /// Its interval.
    pub interval: String,
    /// The settings that changed since the run before.
    pub changed: Vec<String>,
    /// Why it is not joined to the run before, such as `other data`; empty if it is.
    pub broken: String,
}

impl TrendPage {
    /// Renders the page.
    ///
    /// # Errors
    ///
    /// The template has a fault.
    pub fn html(&self) -> Result<String, TemplateError> {
        render("trend", self)
    }
}
