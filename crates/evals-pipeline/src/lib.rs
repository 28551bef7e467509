//! One pipeline for everything that runs cases: `run` on a dataset, `eval` on a dataset file, and `rejudge` on the answers of a stored run.
//!
//! Each plans from options and settings, opens models, indexes and targets, runs an experiment of `evals`, and closes the run: its files,
//! figures and page. [`run`], [`eval`] and [`rejudge`] say where cases come from, what answers them and who judges; the other modules are
//! what they share.

// The futures of the storage engine nest deeper than the compiler's default allows.
#![recursion_limit = "256"]

mod asking;
mod batches;
pub mod case_selection;
pub mod choices;
pub mod chunked_corpus;
pub mod downloads;
pub mod eval;
pub mod eval_report;
mod execution;
pub mod exit;
pub mod finished_run;
pub mod groups;
pub mod index_bar;
pub mod indexed_documents;
pub mod interruption;
mod judged;
pub mod models;
#[expect(missing_docs, reason = "their help is their documentation")]
pub mod options;
mod payments;
pub mod peak_memory;
pub mod pool;
pub mod question_answering;
pub mod ranking_file;
pub mod rankings;
pub mod rejudge;
pub mod resumption;
pub mod run;
pub mod run_ending;
pub mod run_models;
pub mod run_progress;
mod search_profile;
pub mod session;
pub mod settings_files;
mod spending;
pub mod store_options;
pub mod targets;
pub mod test_set;
pub mod tune;
pub mod vector_search;
