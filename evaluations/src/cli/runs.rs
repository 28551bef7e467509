//! The command lines of `evaluations runs`, for everything that is done with stored runs.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use evals_metrics::Measure;
use evals_pipeline::options::ShownPart;
use evals_pipeline::options::numbers::at_least_one;

use super::trend::TrendArgs;

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
    /// Show the report of one run, or cases of it
    Show(ShowRunArgs),
    /// Write the report of a run in other formats, or draw its figures
    Report(ReportArgs),
    /// Print runs as Markdown tables, draw figures of them, or update both in a file
    Table(TableArgs),
    /// Show how measures moved over runs, and where their level changed
    Trend(TrendArgs),
    /// Save the numbers of a run in a file that you can commit, or show such a file
    Baseline(BaselineArgs),
    /// Join the runs of all shards of a benchmark into the run that one machine would have made
    Merge(MergeArgs),
    /// Delete runs and everything in their folders
    Delete(DeleteRunsArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListRunsArgs {
    /// List all runs, not only the newest 20, and each trial of a tuning
    #[arg(long)]
    pub(crate) all: bool,
    /// List only runs of this dataset
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowRunArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    #[arg(required_unless_present = "watch")]
    pub(crate) run: Option<OsString>,
    /// Follow a run until it ends: cases and measures so far on stderr, then its report. Without RUN, the newest running one. Ctrl-C stops
    /// watching, not the run
    #[arg(long)]
    pub(crate) watch: bool,
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// Add this rank measure, computed from the stored rankings, e.g. `nDCG@3`; repeat the option for several
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Also list cases, failed and lowest first; at most N, by default 20
    #[arg(long, help_heading = "Cases", value_name = "N", num_args = 0..=1, default_missing_value = "20", value_parser = at_least_one)]
    pub(crate) cases: Option<NonZeroUsize>,
    /// Show only the cases that failed, or else those with the lowest scores: the worst 5 or `--cases N` in a few lines each, with `--verbose`
    /// everything about all that failed
    #[arg(long, help_heading = "Cases")]
    pub(crate) failed: bool,
    /// Show only the case with this id, in the same detail; repeat the option for several
    #[arg(long = "case", help_heading = "Cases", value_name = "ID")]
    pub(crate) case: Vec<String>,
    /// List the reasons of outcomes below the cases of `--cases`
    #[arg(long, help_heading = "Cases", requires = "cases")]
    pub(crate) reasons: bool,
    /// Show these parts of each case of `--cases`, separated by commas
    #[arg(
        long,
        help_heading = "Cases",
        requires = "cases",
        value_enum,
        value_name = "PARTS",
        value_delimiter = ',',
        default_value = "output"
    )]
    pub(crate) show: Vec<ShownPart>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DeleteRunsArgs {
    /// Run to delete: the name of its folder, as `evaluations runs` lists it, or the start of that name
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Delete without asking for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("written").args(["out", "figures"]).required(true).multiple(true)))]
pub(crate) struct ReportArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    pub(crate) run: OsString,
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", hide = true, value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// Add this rank measure, computed from the stored rankings, e.g. `nDCG@3`; repeat the option for several
    #[arg(long = "measure", hide = true, value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Write to FILE; its extension chooses the format: .html (a page for browsers) .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// Leave questions, answers, references, passages, reasons, metadata and labels out of the page that `--out FILE.html` writes, so
    /// that it can be shared. Ids, numbers, names of measures, and settings stay
    #[arg(long, requires = "out")]
    pub(crate) without_texts: bool,
    /// Draw the figures of the run into the folder DIR, as SVG and as PNG with 300 dots per inch
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct MergeArgs {
    /// Shards to join. The path of a data folder or of a `runs` folder means all shards in it. For a single shard, give its run: the path
    /// of its folder, the folder's name or the start of it, or its `--name`. Each benchmark and profile is joined separately [default: the
    /// shards in the data folder]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write the numbers of a run into a small file that you can commit
    Save(SaveBaselineArgs),
    /// Check a baseline file and show its means and latencies
    Show(ShowBaselineArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SaveBaselineArgs {
    /// File to write. A name without folder and extension, such as `main`, stands for `baselines/main.json`
    #[arg(value_name = "NAME|FILE")]
    pub(crate) file: PathBuf,
    /// Run to save: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    #[arg(default_value = "latest")]
    pub(crate) run: OsString,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowBaselineArgs {
    /// File to show, or a name that stands for `baselines/NAME.json`
    #[arg(value_name = "NAME|FILE")]
    pub(crate) file: PathBuf,
}

/// The end of `runs table --help`, for terminals of 80 columns.
const TABLE_HELP: &str = "\
Which runs become rows:
  Each configuration contributes its newest run that finished without failures.
  For each dataset, a run has to use the same files as the newest run and ask as
  many questions as the largest run. Skipped runs are listed on stderr with the
  reason. `--run` selects runs explicitly instead.

Markers:
  `--update FILE` writes tables into a Markdown file, between two markers that
  each stand on a line of their own:

    <!-- evaluations table: retrieval beir:scifact -->
    <!-- evaluations end -->

  After the colon, `retrieval`, `qa` or `eval` restricts the benchmark, names of
  datasets restrict the datasets, `profile=NAME` the search profiles, and
  `model=NAME` the models. `<!-- evaluations table -->` selects all runs. The
  text between the markers is replaced. The rest of the file stays as it is,
  including markers in code blocks.

Figures:
  A marker that begins with the name of a figure holds that figure. Its file is
  written into the folder `figures` beside the Markdown file, or into the
  folder that `folder=PATH` names:

    <!-- evaluations figure: bars retrieval beir:scifact -->
    <!-- evaluations end -->

  Of several runs: comparison, bars, trade-off, precision.
  Of the runs of one profile, over time: trend.
  Of one run: measures, breakdown, latency, scores.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = TABLE_HELP)]
pub(crate) struct TableArgs {
    /// Use only runs of this dataset; repeat the option for several
    #[arg(long = "dataset", value_name = "NAME")]
    pub(crate) datasets: Vec<String>,
    /// Use this run: its folder, the folder's name or the start of it, its `--name`. Runs with failures are accepted; repeat the option for several
    #[arg(long = "run", value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Add a column for this rank measure, computed from the stored rankings, e.g. `nDCG@3`; repeat the option for several
    #[arg(
        long = "measure",
        hide = true,
        value_name = "M",
        conflicts_with = "update"
    )]
    pub(crate) measures: Vec<Measure>,
    /// Draw the runs of each table side by side into the folder DIR, as SVG and as PNG with 300 dots per inch
    #[arg(long, value_name = "DIR", conflicts_with = "update")]
    pub(crate) figures: Option<PathBuf>,
    /// Rewrite the tables and figures between markers in this Markdown file
    #[arg(long, value_name = "FILE")]
    pub(crate) update: Option<PathBuf>,
    /// Change nothing, and exit with 1 if a table or figure in the `--update` file is out of date
    #[arg(long, requires = "update")]
    pub(crate) check: bool,
}
