//! The opening of a page: what a reader sees first, without scripts.

use serde::Serialize;

use crate::scene::Scene;

/// What a page says before its cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opening {
    /// The name of the page, for the window and the first line.
    pub title: String,
    /// The answer in one sentence, such as `hybrid: MRR@5 0.774 [0.734, 0.811] over 256 questions`.
    pub sentence: String,
    /// What a reader must know before trusting the numbers: failures, coverage below 1, an interruption.
    pub notices: Vec<Notice>,
    /// Facts about the run, such as its models and costs.
    pub facts: Vec<Fact>,
    /// Tables of measures.
    pub listings: Vec<Listing>,
    /// The figures, in their order.
    pub figures: Vec<PageFigure>,
}

/// A sentence above the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// How much it weighs.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
}

/// How much a notice weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The numbers may mislead.
    Warning,
    /// The numbers are incomplete or cannot be used.
    Failure,
}

/// A fact with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Such as `judge`.
    pub name: String,
    /// Such as `openai/gpt-5-mini`.
    pub value: String,
}

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// What the table shows, with the method and the number of cases.
    pub caption: String,
    /// The heads of the columns.
    pub head: Vec<String>,
    /// The rows. The first cell names the row. Every other cell is a formatted number, or a text.
    pub rows: Vec<Vec<String>>,
}

/// A drawing with its place on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFigure {
    /// The name of its anchor and of its file, such as `measures`.
    pub name: String,
    /// The drawing.
    pub scene: Scene,
}
