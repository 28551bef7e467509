//! Tests of the evaluators through the registry, as dataset files use them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dataset_files;
mod examples;
mod exec_page;
mod failures;
mod foreign_files;
mod fuzz;
mod fuzz_files;
mod golden;
mod json_schema;
mod long_outputs;
mod negation;
mod page;
mod patterns;
mod registered;
mod schema;
mod similarity;
