//! Dataset files: cases and the names of their evaluators, in pydantic-evals' format and in formats of other tools.

mod built;
mod dataset_file;
mod grammar;
mod problem;
mod promptfoo;
mod reading;
mod records;
mod save;
mod schema;
mod spec;

pub use built::Loaded;
pub use dataset_file::{DatasetFile, FileCase, FileEvaluator, FileFormat};
pub use problem::{DatasetFileError, Problem, Problems};
pub use schema::{schema, schema_beside};
