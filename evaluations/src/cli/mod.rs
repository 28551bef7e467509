//! The command line: what can be typed, before anything is resolved.

mod bench;
mod cache;
mod compare;
mod config;
mod datasets;
mod numbers;
mod output;
mod run;
mod score;
mod settings;
mod shorthand;
mod stored;

use clap::{Parser, Subcommand};

pub(crate) use self::bench::{BenchArgs, BenchCommand, BenchEmbedArgs, EmbeddingModel};
pub(crate) use self::cache::{CacheArgs, CacheCommand};
pub(crate) use self::compare::CompareArgs;
pub(crate) use self::config::{ConfigArgs, ConfigCommand, DoctorArgs};
pub(crate) use self::datasets::{DatasetsArgs, DownloadArgs};
pub(crate) use self::output::{ColorChoice, OutputArgs, color};
pub(crate) use self::run::{Refresh, RunArgs};
pub(crate) use self::score::ScoreArgs;
pub(crate) use self::settings::{ModelName, SettingsArgs};
pub(crate) use self::shorthand::{expand, paths};
pub(crate) use self::stored::{
    DeleteRunsArgs, ListRunsArgs, RejudgeArgs, ReportArgs, RunsArgs, RunsCommand, TableArgs,
};

/// Benchmarks retrieval-augmented generation: is my RAG system good, and did my change make it better?
#[derive(Debug, Parser)]
#[command(
    name = "evaluations",
    version,
    override_usage = "evaluations <DATASET> [OPTIONS]\n       evaluations <COMMAND> [OPTIONS]",
    after_help = "`evaluations <DATASET>` is short for `evaluations run <DATASET>`.\n\
                  Start with `evaluations sample --skip-qa`: it needs neither network nor keys."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Index a dataset and benchmark retrieval and question answering on it
    Run(Box<RunArgs>),
    /// List the datasets there are, with sizes and licences
    Datasets(DatasetsArgs),
    /// Fetch a dataset from the Hugging Face hub, to work offline later
    Download(DownloadArgs),
    /// Score a TREC run against judgements, as trec_eval does
    Score(ScoreArgs),
    /// List stored runs, show one, or delete some
    Runs(RunsArgs),
    /// Tell what changed between two stored runs, and whether it is more than chance
    Compare(CompareArgs),
    /// Write the report of a stored run in other formats
    Report(ReportArgs),
    /// Judge the answers of a stored run again, without answering again
    Rejudge(RejudgeArgs),
    /// Print the benchmark tables for docs from stored runs
    Table(TableArgs),
    /// Show what is in the caches of replies, vectors and scores, or remove from them
    Cache(CacheArgs),
    /// Measure how fast models are
    Bench(BenchArgs),
    /// Show the settings in force, or their JSON Schema
    Config(ConfigArgs),
    /// Check that everything a run needs is there; each model behind a server is asked one short question
    Doctor(DoctorArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
