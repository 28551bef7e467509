//! The command lines of what is done with stored runs.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::numbers::at_least_one;
use super::settings::{ModelName, SettingsArgs};

#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    pub(crate) list: ListRunsArgs,
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the newest stored runs, newest last
    List(ListRunsArgs),
    /// Show the report of one run
    Show {
        /// The run: its folder, its report.json, its name or the start of it, or `latest`, the newest finished one
        run: OsString,
    },
    /// Delete runs with everything in their folders
    Delete(DeleteRunsArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListRunsArgs {
    /// List all runs instead of the newest 20
    #[arg(long)]
    pub(crate) all: bool,
    /// List runs of this dataset only
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DeleteRunsArgs {
    /// A run in the data folder: its name or the start of it
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Delete without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ReportArgs {
    /// The run: its folder, its report.json, its name or the start of it, or `latest`, the newest finished one
    pub(crate) run: OsString,
    /// Write to FILE; its extension chooses the format: .json .jsonl .csv .md
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) out: Vec<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RejudgeArgs {
    /// The run whose answers are judged: its folder, its name or the start of it, or `latest`, the newest that is fully answered
    pub(crate) run: OsString,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// The model that judges [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Answers judged at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Neither take verdicts from the cache nor store them there
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Write the report to FILE; its extension chooses the format: .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}

/// What `table --help` says below the options.
const TABLE_HELP: &str = "\
Which runs become rows:
  The newest run of each configuration that is finished without failures. Of the runs of one dataset only
  those count that have the files of its newest run, and of these those that asked the most questions. stderr
  says what is left out, and why. `--run` chooses the runs instead.

Markers:
  `--update FILE` writes tables into a markdown file, between markers that each stand on a line of their own:

    <!-- evaluations table: retrieval beir:scifact -->
    <!-- evaluations end -->

  Behind the colon stand `retrieval` or `qa`, and names of datasets; what is not named is not restricted, so that
  `<!-- evaluations table -->` takes everything. What stands between the markers is replaced. The rest of the file
  stays as it is, and so do markers in code blocks.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = TABLE_HELP)]
pub(crate) struct TableArgs {
    /// Only runs of these datasets
    #[arg(long = "dataset", value_name = "NAME")]
    pub(crate) datasets: Vec<String>,
    /// Only these runs: folder, name or the start of it. Those with failures count too
    #[arg(long = "run", value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Rewrite the regions that markers enclose in this markdown file
    #[arg(long, value_name = "FILE")]
    pub(crate) update: Option<PathBuf>,
    /// Change nothing, and exit with 1 where a region of the `--update` file is stale
    #[arg(long, requires = "update")]
    pub(crate) check: bool,
}
