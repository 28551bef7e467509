//! Reports and comparisons in the formats that people and other tools read.
//!
//! Renderers write to any [`std::io::Write`] and never look at the terminal or the environment. Pass `&mut writer` to keep
//! the writer, and a buffered writer for a file.
//!
//! Console and markdown print the report's [facts](crate::Report::facts) under the title.
//!
//! | format | report | comparison, change | for |
//! |---|---|---|---|
//! | [`Console`] | aggregates | yes | people at a terminal |
//! | [`markdown`] | aggregates | yes | documents and pull requests |
//! | [`json`] | everything | yes | other tools |
//! | [`jsonl`] | a line for each case | | streaming tools |
//! | [`junit`] | verdicts of a gate | | CI servers |
//! | [`github`] | verdicts of a gate | | GitHub Actions |
//! | [`csv`] | a row for each case | | spreadsheets |
//! | [`tables`] | aggregates, as texts | yes | other renderers |

mod analyses;
mod change;
mod clusters;
mod console;
pub mod csv;
mod escape;
mod exclusions;
mod failures;
mod gate;
pub mod github;
mod glyphs;
mod grid;
mod groups;
mod headline;
mod interval_methods;
pub mod json;
pub mod jsonl;
pub mod junit;
mod latency;
mod lead;
pub mod markdown;
mod measures;
mod side_by_side;
mod standings;
mod standings_notes;
pub mod tables;
mod trial;

pub use console::{Cases, Color, Console, Drawings, Messages, Methods, Names, Narrow, Part};
pub use gate::verdict_line;
pub use glyphs::Symbols;
pub use lead::lead;

pub use crate::probability::{p_value, percent};
