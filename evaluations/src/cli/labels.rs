//! The command lines of `evaluations labels`: labels of people, and the calibrations that they make.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use evals_pipeline::options::numbers::at_least_one;

/// The end of `labels --help`, for terminals of 80 columns.
const LABELS_HELP: &str = "\
Labels are what people say about the answers of a run: pass, fail or cannot say.
They show how far the judge can be trusted. Give them in the browser
(`evaluations view RUN`) or in a spreadsheet:

  evaluations labels RUN --export labels.csv --sample 100 --stratified
  evaluations labels RUN --import labels.csv --labeller ada

The exported file hides the judge's verdicts. Fill in the columns
`verdict` (pass, fail, cannot say) and `note`, and leave the others. Labels are
kept in annotations.jsonl in the run's folder.

`evaluations labels calibrate RUN` compares the judge with the labels, lists
where they disagree, and corrects pass rates for the judge's errors.";

#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = LABELS_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct LabelsOrCalibrateArgs {
    /// `None` only if there is a command.
    #[command(flatten)]
    pub(crate) labels: Option<LabelsArgs>,
    #[command(subcommand)]
    pub(crate) command: Option<LabelsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum LabelsCommand {
    /// Compare the judge of a run with labels of people, and correct pass rates for its errors
    Calibrate(CalibrateArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct LabelsArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    pub(crate) run: OsString,
    /// The measure to label for, if the run has several judges
    #[arg(long, value_name = "M")]
    pub(crate) measure: Option<String>,
    /// Write answers to label to a CSV file, which must not exist
    #[arg(
        long,
        help_heading = "Export",
        value_name = "FILE",
        conflicts_with = "import"
    )]
    pub(crate) export: Option<PathBuf>,
    /// Write only N answers, drawn at random [default: all]
    #[arg(long, help_heading = "Export", value_name = "N", requires = "export", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) sample: Option<NonZeroUsize>,
    /// Draw half of the sample from the answers that the judge passed, and half from those that it failed
    #[arg(long, help_heading = "Export", requires = "export")]
    pub(crate) stratified: bool,
    /// Seed of the sample and of the order of the answers
    #[arg(
        long,
        hide = true,
        value_name = "N",
        requires = "export",
        default_value_t = 0
    )]
    pub(crate) seed: u64,
    /// Also write the labels so far, one row each
    #[arg(long, help_heading = "Export", requires = "export")]
    pub(crate) with_labels: bool,
    /// Also write the judge's verdicts and reasons. Labels from such a file are not blind
    #[arg(long, help_heading = "Export", requires = "export")]
    pub(crate) with_verdicts: bool,
    /// Add the labels of a CSV file that was exported from this run
    #[arg(long, help_heading = "Import", value_name = "FILE")]
    pub(crate) import: Option<PathBuf>,
    /// The person who labelled the rows of the file without a labeller [default: the user's name on this machine]
    #[arg(
        long,
        help_heading = "Import",
        value_name = "NAME",
        requires = "import"
    )]
    pub(crate) labeller: Option<String>,
}

/// The end of `labels calibrate --help`, for terminals of 80 columns.
const CALIBRATE_HELP: &str = "\
A calibration compares the verdicts of a judge with labels of people, and is
kept. It corrects the pass rate of every run that the same judge has judged:

  evaluations labels RUN --export labels.csv --sample 100
  evaluations labels calibrate RUN --labels labels.csv --labeller ada
  evaluations labels calibrate OTHER-RUN --with ID

`runs report`, `runs show` and `compare` show the corrected rate of runs that a kept
calibration fits: same judge, same prompt, same data.";

#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = CALIBRATE_HELP,
    group(ArgGroup::new("what").required(true).args(["run", "list", "delete"]))
)]
pub(crate) struct CalibrateArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    pub(crate) run: Option<OsString>,
    #[command(flatten)]
    pub(crate) chosen: ChosenLabelsArgs,
    /// The measure to calibrate, if the run has several judges
    #[arg(long, hide = true, value_name = "M")]
    pub(crate) measure: Option<String>,
    /// Correct the run with a kept calibration, named by its id or the start of it, or with one in a file; reads no labels
    #[arg(long, value_name = "ID|FILE", requires = "run", conflicts_with_all = ["labels", "majority", "labeller", "assume_random", "measure"])]
    pub(crate) with: Option<String>,
    /// Accept a calibration on different data, where you know that the judge errs as often
    #[arg(long, hide = true, requires = "with")]
    pub(crate) other_data: bool,
    /// List at most N disagreements of the judge and people
    #[arg(
        long,
        hide = true,
        value_name = "N",
        default_value_t = 20,
        conflicts_with = "with"
    )]
    pub(crate) disagreements: usize,
    /// Also write the calibration into FILE.json, to use it on a different machine
    #[arg(
        long,
        hide = true,
        value_name = "FILE",
        requires = "run",
        conflicts_with = "with"
    )]
    pub(crate) out: Option<PathBuf>,
    /// List the kept calibrations
    #[arg(long)]
    pub(crate) list: bool,
    /// Delete a kept calibration, named by its id or the start of it
    #[arg(long, value_name = "ID")]
    pub(crate) delete: Option<String>,
}

/// The labels that count.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Labels")]
pub(crate) struct ChosenLabelsArgs {
    /// Labels of people: a CSV file as `labels --export` writes it, an annotations.jsonl, or `annotations` for the labels beside the run
    #[arg(long, value_name = "FILE", default_value = "annotations")]
    pub(crate) labels: PathBuf,
    /// Count only the labels of this person, including the rows of a CSV file without a labeller
    #[arg(long, value_name = "NAME", conflicts_with = "majority")]
    pub(crate) labeller: Option<String>,
    /// Count the label that most people gave to an answer; leave out answers with a tie
    #[arg(long, hide = true)]
    pub(crate) majority: bool,
    /// Treat labelled answers as a random sample, even if their labels do not say how they were drawn
    #[arg(long, hide = true)]
    pub(crate) assume_random: bool,
}
