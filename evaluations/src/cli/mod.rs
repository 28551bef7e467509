//! The command line as it is typed, before settings and paths are resolved.

mod bench;
mod cache;
mod compare;
mod datasets;
mod eval;
mod experiment;
mod former;
mod gate;
mod help;
mod labels;
mod numbers;
mod output;
mod rejudge;
mod run;
mod runs;
mod score;
mod settings;
mod setup;
mod shorthand;
mod trend;

use clap::{Parser, Subcommand};

pub(crate) use self::bench::{
    BenchArgs, BenchCommand, BenchEmbedArgs, BenchIndexArgs, EmbeddingModel, GeneratedVectors,
    GridValues,
};
pub(crate) use self::cache::{CacheArgs, CacheCommand};
pub(crate) use self::compare::CompareArgs;
pub(crate) use self::datasets::{
    DatasetsArgs, DatasetsCommand, DownloadArgs, ExportArgs, ExportLayout,
};
pub(crate) use self::eval::{EvalArgs, EvalShownArgs};
pub(crate) use self::experiment::{Only, SelectionArgs, TargetArgs};
pub(crate) use self::former::{current_name, replacement};
pub(crate) use self::gate::{
    GateArgs, GithubChoice, Limit, RuleArgs, least_kappa, quantity as gate_quantity,
};
pub(crate) use self::help::command;
pub(crate) use self::labels::{CalibrateArgs, LabelsArgs, LabelsCommand, LabelsOrCalibrateArgs};
pub(crate) use self::output::color;
pub(crate) use self::rejudge::RejudgeArgs;
pub(crate) use self::run::{ImportArgs, Refresh, RunArgs, VariantArgs};
pub(crate) use self::runs::{
    BaselineArgs, BaselineCommand, DeleteRunsArgs, ListRunsArgs, MergeArgs, ReportArgs, RunsArgs,
    RunsCommand, SaveBaselineArgs, ShowBaselineArgs, ShowRunArgs, TableArgs,
};
pub(crate) use self::score::{
    Baseline, FuseArgs, QueryCluster, ScoreArgs, ScoreCommand, ScoreFormat, ScoreOrFuseArgs,
    TrecEvalVersion,
};
pub(crate) use self::settings::{ModelName, SettingsArgs};
pub(crate) use self::setup::{
    CompletionsArgs, ConfigArgs, ConfigCommand, DoctorArgs, InitArgs, ManArgs, StarterKind,
    ValidateArgs, ViewArgs,
};
pub(crate) use self::shorthand::{expand, paths};
pub(crate) use self::trend::{Tolerance, TrendArgs};

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
    pub(crate) output: evals_terminal::OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a small working evaluation into a new or empty folder
    Init(InitArgs),
    /// Index a dataset and benchmark retrieval and question answering on it
    Run(Box<RunArgs>),
    /// Measure answers and rankings of another program, from a file
    #[command(
        hide = true,
        mut_arg("dataset", |dataset| dataset.long("dataset").value_name("DATASET"))
    )]
    Import(Box<ImportArgs>),
    /// Run the cases of a dataset file on any system, and judge the outputs
    Eval(Box<EvalArgs>),
    /// List the datasets, download one, or export one for another system
    Datasets(DatasetsArgs),
    /// Show stored and running runs in the browser, and label answers
    View(ViewArgs),
    /// List stored runs; show, report, tabulate, merge, or delete them
    Runs(RunsArgs),
    /// Compare stored runs and test whether chance explains the differences
    Compare(CompareArgs),
    /// Check runs against rules, and fail if a run breaks one
    Gate(Box<GateArgs>),
    /// Judge the stored answers of a run again, without new answers
    Rejudge(RejudgeArgs),
    /// Show how far people agree with a judge, and calibrate the judge
    Labels(LabelsOrCalibrateArgs),
    /// Score rankings as trec_eval does, compare several, or fuse them
    Score(ScoreOrFuseArgs),
    /// Measure embedding models and vector indexes
    Bench(BenchArgs),
    /// Check what a run needs, with a short request to each model server
    Doctor(DoctorArgs),
    /// Check files and print every problem with its position
    Validate(ValidateArgs),
    /// Print the effective settings or the prompts, or write a JSON Schema
    Config(ConfigArgs),
    /// Show or prune the caches of replies, vectors and scores
    Cache(CacheArgs),
    /// Print the script with which a shell completes commands and options
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Print the man page of a command, or write those of all commands into a folder
    #[command(hide = true)]
    Man(ManArgs),
}
