//! The command line as it is typed, before settings and paths are resolved.

mod bench;
mod cache;
mod calibrate;
mod completions;
mod datasets;
mod eval;
mod export;
mod fuse;
mod gate;
mod import;
mod init;
mod labels;
mod man;
mod merge;
mod numbers;
mod output;
mod results;
mod run;
mod score;
mod selection;
mod settings;
mod shorthand;
mod stored;
mod target;
mod trend;
mod validate;
mod view;

use clap::{Parser, Subcommand};

pub(crate) use self::bench::{
    BenchArgs, BenchCommand, BenchEmbedArgs, BenchIndexArgs, EmbeddingModel, GeneratedVectors,
    GridValues,
};
pub(crate) use self::cache::{CacheArgs, CacheCommand};
pub(crate) use self::calibrate::CalibrateArgs;
pub(crate) use self::completions::CompletionsArgs;
pub(crate) use self::datasets::{DatasetsArgs, DownloadArgs};
pub(crate) use self::eval::{EvalArgs, EvalShownArgs};
pub(crate) use self::export::{ExportArgs, Format as ExportFormat};
pub(crate) use self::fuse::FuseArgs;
pub(crate) use self::gate::{
    AaArgs, BaselineArgs, BaselineCommand, GateArgs, GithubChoice, Limit, RuleArgs,
    SaveBaselineArgs, ShowBaselineArgs, least_kappa, quantity as gate_quantity,
};
pub(crate) use self::import::ImportArgs;
pub(crate) use self::init::{InitArgs, Kind};
pub(crate) use self::labels::LabelsArgs;
pub(crate) use self::man::ManArgs;
pub(crate) use self::merge::MergeArgs;
pub(crate) use self::output::{ColorChoice, OutputArgs, color};
pub(crate) use self::run::{Refresh, RunArgs, VariantArgs};
pub(crate) use self::score::{Baseline, QueryCluster, ScoreArgs, ScoreFormat, TrecEvalVersion};
pub(crate) use self::selection::{Only, SelectionArgs};
pub(crate) use self::settings::{ConfigArgs, ConfigCommand, DoctorArgs, ModelName, SettingsArgs};
pub(crate) use self::shorthand::{expand, paths};
pub(crate) use self::stored::{
    CompareArgs, DeleteRunsArgs, ListRunsArgs, RejudgeArgs, ReportArgs, RunsArgs, RunsCommand,
    ShowRunArgs, TableArgs,
};
pub(crate) use self::target::TargetArgs;
pub(crate) use self::trend::{Tolerance, TrendArgs};
pub(crate) use self::validate::ValidateArgs;
pub(crate) use self::view::ViewArgs;

/// Benchmarks retrieval-augmented generation: is my RAG system good, and did my change make it better?
#[derive(Debug, Parser)]
#[command(
    name = "evaluations",
    version,
    override_usage = "evaluations <DATASET> [OPTIONS]\n       evaluations <COMMAND> [OPTIONS]",
    after_help = "`evaluations <DATASET>` is short for `evaluations run <DATASET>`.\n\
                  Start with `evaluations sample --skip-qa`: it needs no network and no API keys."
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
    /// Write a small working evaluation into a new or empty folder
    Init(InitArgs),
    /// Run the cases of a dataset file against any system, and judge its outputs
    Eval(Box<EvalArgs>),
    /// Measure answers and rankings of another program, from a file
    Import(Box<ImportArgs>),
    /// List the available datasets with their sizes and licences
    Datasets(DatasetsArgs),
    /// Download a dataset from the Hugging Face hub, to work offline later
    Download(DownloadArgs),
    /// Write a dataset's documents and questions into a folder, for another system to read
    Export(ExportArgs),
    /// Score rankings with judgements, as trec_eval does, and compare several
    Score(ScoreArgs),
    /// Fuse the rankings of several runs into one
    Fuse(FuseArgs),
    /// List stored runs, show one, or delete some
    Runs(RunsArgs),
    /// Join the runs of all shards of a benchmark into the run that one machine would have made
    Merge(MergeArgs),
    /// Show how measures moved over stored runs, and where their level changed
    Trend(TrendArgs),
    /// Compare stored runs and test whether chance explains the differences
    Compare(CompareArgs),
    /// Check runs against rules, with or without a baseline, and fail if a run breaks one
    Gate(Box<GateArgs>),
    /// Save the numbers of a run in a file that you can commit, or show such a file
    Baseline(BaselineArgs),
    /// Estimate how often a gate raises a false alarm, and how often it detects a drop
    Aa(Box<AaArgs>),
    /// Write the report of a stored run in other formats, or draw its figures
    Report(ReportArgs),
    /// Show stored and running runs in the browser
    View(ViewArgs),
    /// Judge the stored answers of a run again, without generating new answers
    Rejudge(RejudgeArgs),
    /// Show how far people agree with the judge of a run, and exchange labels as CSV
    Labels(LabelsArgs),
    /// Compare the judge of a run with labels of people, and correct pass rates for its errors
    Calibrate(CalibrateArgs),
    /// Print stored runs as Markdown tables, draw figures of them, or update both in a file
    Table(TableArgs),
    /// Show or prune the caches of replies, vectors and scores
    Cache(CacheArgs),
    /// Measure embedding models and vector indexes
    Bench(BenchArgs),
    /// Check files and print every problem with its position: dataset files, manifests, settings, targets, TREC files
    Validate(ValidateArgs),
    /// Print the effective settings, or write a JSON Schema of settings or of a dataset file
    Config(ConfigArgs),
    /// Check everything that a run needs, with one short request to each model behind a server
    Doctor(DoctorArgs),
    /// Print the script with which a shell completes commands and options
    Completions(CompletionsArgs),
    /// Print the man page of a command, or write those of all commands into a folder
    Man(ManArgs),
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
