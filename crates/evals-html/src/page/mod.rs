//! Pages: what a reader sees first, the table of cases, and the cases themselves.
//!
//! A page is one file. [`Opening`] and the figures are HTML that reads and prints without scripts. A [`Table`] has one row for each
//! case. The [`Case`]s come in blocks of [`BLOCK`], each compressed, which the page's script opens when somebody looks at a case.

mod case;
mod opening;
mod table;

pub use case::{
    Case, Field, FieldRole, Mark, Outcome, OutcomeKind, Passage, Ranked, Run, Side, Step, Timing,
};
pub use opening::{Fact, Listing, Notice, Opening, PageFigure, Severity};
pub use table::{Cell, Column, ColumnKind, Table};

/// Cases in one compressed block, and passages in one.
pub const BLOCK: usize = 64;
