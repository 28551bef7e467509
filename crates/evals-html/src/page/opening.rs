//! The opening of a page: what a reader sees first, without scripts.

use serde::Serialize;

use crate::scene::Scene;

/// What a page says before its cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opening {
    /// The name of the page, for the window and the first line.
    pub title: String,
    /// The main number, drawn with its uncertainty.
    pub score: Option<Score>,
    /// The answer in one sentence, such as `A relevant document was found for 225 of 256 questions`.
    pub sentence: String,
    /// What a reader must know before trusting the numbers: failures, coverage below 1, an interruption.
    pub notices: Vec<Notice>,
    /// The few facts that readers look for: dataset, system, judge, time.
    pub facts: Vec<Fact>,
    /// All other facts, folded.
    pub configuration: Vec<Fact>,
    /// The table that answers the page's question, above its cases. Its columns of numbers are shaded: the darker, the better.
    pub matrix: Option<Listing>,
    /// Tables of measures, below the cases.
    pub listings: Vec<Listing>,
    /// The figures, in their order.
    pub figures: Vec<PageFigure>,
}

/// The main number of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// What it measures.
    pub measure: String,
    /// The formatted number.
    pub value: String,
    /// Its interval in words, such as `95 % interval 0.734 to 0.811`; empty without one.
    pub interval: String,
    /// Over how many cases, and further numbers.
    pub about: String,
    /// Its place on an axis; `None` if it has no interval.
    pub axis: Option<ScoreAxis>,
}

/// A number with its interval on an axis: positions from 0, the left end, to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScoreAxis {
    /// The number.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Zero, where it is worth a line.
    pub zero: Option<f64>,
    /// What stands at the ends of the axis.
    pub ends: [String; 2],
}

impl ScoreAxis {
    /// An axis from `ends[0]` to `ends[1]`; `print` formats both.
    pub fn new(
        value: f64,
        interval: (f64, f64),
        ends: [f64; 2],
        print: impl Fn(f64) -> String,
    ) -> Self {
        let [left, right] = ends;
        let place = |at: f64| ((at - left) / (right - left)).clamp(0.0, 1.0);
        Self {
            value: place(value),
            low: place(interval.0),
            high: place(interval.1),
            zero: (left < 0.0 && right > 0.0).then(|| place(0.0)),
            ends: ends.map(print),
        }
    }
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
    /// How dark each cell of each row is, from 0 to 4, or `None` for a plain one. Empty for a plain table.
    pub shades: Vec<Vec<Option<u8>>>,
}

/// A drawing with its place on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFigure {
    /// The name of its anchor and of its file, such as `measures`.
    pub name: String,
    /// The drawing.
    pub scene: Scene,
}
