//! Stored runs: the records and folders of runs, the judges and labels of their answers, judgements of passages, and baselines.
//!
//! A run is a folder. [`run_record`] is what its `manifest.json` says, [`run_folder`] its files and its state, and [`stored_runs`] finds the
//! runs that a command line names. Nothing here needs a model, an index or a terminal: messages for people go to [`Notes`].

pub mod annotations;
pub mod atomic_file;
pub mod baseline_file;
pub mod calibrations;
pub mod clock;
pub mod depth;
pub mod directories;
pub mod filled_table;
pub mod judged_by;
pub mod pooling;
pub mod review_table;
pub mod run_folder;
pub mod run_record;
pub mod shards;
mod shared_file;
pub mod shell_word;
pub mod stored_runs;
pub mod tunings;

/// Takes messages for people.
pub trait Notes {
    /// Something that a user may want to know.
    fn note(&self, message: &str);

    /// Something about a result that a user has to know.
    fn warn(&self, message: &str);
}
