//! The texts of standings: a section for each table, and the notes below them.

mod notes;
mod sections;

pub(super) use notes::{FEW, notes, too_few, too_few_clusters, warnings};
pub(super) use sections::{SHOWN_TEXT, sections};
