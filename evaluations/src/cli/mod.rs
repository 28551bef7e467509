//! The command line as it is typed, before settings and paths are resolved.

mod cache;
mod compare;
mod datasets;
mod former;
mod gate;
mod help;
mod labels;
mod questions;
mod runs;
mod score;
mod setup;
mod shorthand;
mod targets;
mod trend;

use clap::{Parser, Subcommand};
use evals_bench::options::BenchArgs;

pub(crate) use evals_pipeline::options::{
    EvalArgs, ImportArgs, PoolArgs, RejudgeArgs, RunArgs, SettingsArgs, TuneArgs,
};

pub(crate) use self::cache::{CacheArgs, CacheCommand};
pub(crate) use self::compare::CompareArgs;
pub(crate) use self::datasets::{
    DatasetsArgs, DatasetsCommand, DownloadArgs, ExportArgs, ExportLayout,
};
pub(crate) use self::former::{current_name, replacement};
pub(crate) use self::gate::{
    GateArgs, GithubChoice, Limit, RuleArgs, least_kappa, quantity as gate_quantity,
};
pub(crate) use self::help::{color, command};
pub(crate) use self::labels::{CalibrateArgs, LabelsArgs, LabelsCommand, LabelsOrCalibrateArgs};
pub(crate) use self::questions::{
    CheckQuestionsArgs, QuestionsArgs, QuestionsCommand, ReviewQuestionsArgs,
};
pub(crate) use self::runs::{
    BaselineArgs, BaselineCommand, DeleteRunsArgs, ListRunsArgs, MergeArgs, ReportArgs, RunsArgs,
    RunsCommand, SaveBaselineArgs, ShowBaselineArgs, ShowRunArgs, TableArgs,
};
pub(crate) use self::score::{
    Baseline, FuseArgs, QueryCluster, ScoreArgs, ScoreCommand, ScoreFormat, ScoreOrFuseArgs,
    TrecEvalVersion,
};
pub(crate) use self::setup::{
    CompletionsArgs, ConfigArgs, ConfigCommand, DoctorArgs, InitArgs, ManArgs, StarterKind,
    ValidateArgs, ViewArgs,
};
pub(crate) use self::shorthand::{expand, paths};
pub(crate) use self::targets::{TargetsArgs, TargetsCommand};
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
    /// List descriptions of search engines as targets, or print one
    Targets(TargetsArgs),
    /// Show stored and running runs in the browser, and label answers
    View(ViewArgs),
    /// List stored runs; show, report, tabulate, merge, or delete them
    Runs(RunsArgs),
    /// Compare stored runs and test whether chance explains the differences
    Compare(CompareArgs),
    /// Find better settings, and say how much of the gain is luck
    Tune(Box<TuneArgs>),
    /// Check runs against rules, and fail if a run breaks one
    Gate(Box<GateArgs>),
    /// Judge the stored answers of a run again, without new answers
    Rejudge(RejudgeArgs),
    /// Show how far people agree with a judge, and calibrate the judge
    Labels(LabelsOrCalibrateArgs),
    /// Write a test set from your documents, review it, and check it later
    Questions(Box<QuestionsArgs>),
    /// Have what runs retrieved judged, and measure the runs by that
    Pool(Box<PoolArgs>),
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser as _;

    use super::{Cli, expand};

    /// The first line of the error for a command line.
    fn refused(line: &str) -> String {
        let error =
            Cli::try_parse_from(expand(line.split(' ').map(OsString::from)).words).unwrap_err();
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    #[test]
    fn a_number_that_is_too_small_is_refused_with_the_minimum() {
        for option in ["--limit", "--k", "--concurrency", "--repeat"] {
            for number in ["-1", "0", "-99999999999999999999"] {
                let message = refused(&format!("evaluations sample {option} {number}"));
                assert!(
                    message.starts_with(&format!(
                        "error: invalid value '{number}' for '{option} <N>'"
                    )),
                    "{message}"
                );
                assert!(message.ends_with(": has to be at least 1"), "{message}");
            }
            let message = refused(&format!("evaluations sample {option} 1.5"));
            assert!(message.ends_with(": not a whole number"), "{message}");
            let message = refused(&format!("evaluations sample {option} 99999999999999999999"));
            assert!(message.ends_with(": too large"), "{message}");
        }
        for (line, end) in [
            ("sample --seed -1", ": has to be at least 0"),
            ("sample --budget -5", ": has to be more than 0"),
            ("rejudge latest --concurrency -1", ": has to be at least 1"),
            ("bench embed --batch -1", ": has to be at least 1"),
            ("bench embed --concurrency -1", ": has to be at least 1"),
            ("bench embed --seconds -1", ": has to be from 0.1 to 86400"),
            (
                "cache prune --older-than -1d",
                ": not an age such as 30d, 12h or 45m",
            ),
        ] {
            let message = refused(&format!("evaluations {line}"));
            assert!(message.ends_with(end), "{message}");
        }
    }
}
