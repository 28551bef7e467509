//! The command line of `calibrate`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// The end of `calibrate --help`, for terminals of 80 columns.
const HELP: &str = "\
A calibration compares the verdicts of a judge with labels of people, and is
kept. It corrects the pass rate of every run that the same judge has judged:

  evaluations labels RUN --export labels.csv --sample 100
  evaluations calibrate RUN --labels labels.csv --labeller ada
  evaluations calibrate OTHER-RUN --with ID

`report`, `runs show` and `compare` show the corrected rate of runs that a kept
calibration fits: same judge, same prompt, same data.";

#[derive(Debug, Clone, Args)]
#[command(
    after_long_help = HELP,
    group(ArgGroup::new("what").required(true).args(["run", "list", "delete"]))
)]
pub(crate) struct CalibrateArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    pub(crate) run: Option<OsString>,
    #[command(flatten)]
    pub(crate) chosen: ChosenLabelsArgs,
    /// The measure to calibrate, if the run has several judges
    #[arg(long, value_name = "M")]
    pub(crate) measure: Option<String>,
    /// Correct the run with a kept calibration, named by its id or the start of it, or with one in a file; reads no labels
    #[arg(long, value_name = "ID|FILE", requires = "run", conflicts_with_all = ["labels", "majority", "labeller", "assume_random", "measure"])]
    pub(crate) with: Option<String>,
    /// Accept a calibration on other data: you know that the judge errs as often there
    #[arg(long, requires = "with")]
    pub(crate) other_data: bool,
    /// List at most N disagreements of the judge and people
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "with")]
    pub(crate) disagreements: usize,
    /// Write the calibration into FILE.json too, to use it on another machine
    #[arg(long, value_name = "FILE", requires = "run", conflicts_with = "with")]
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
pub(crate) struct ChosenLabelsArgs {
    /// Labels of people: a CSV file as `labels --export` writes it, an annotations.jsonl, or `annotations` for the labels beside the run
    #[arg(long, value_name = "FILE", default_value = "annotations")]
    pub(crate) labels: PathBuf,
    /// Count only the labels of this person, who also labelled the rows of a CSV file that do not name a labeller
    #[arg(long, value_name = "NAME", conflicts_with = "majority")]
    pub(crate) labeller: Option<String>,
    /// Count the label that most people gave to an answer; leave out answers with a tie
    #[arg(long)]
    pub(crate) majority: bool,
    /// Treat labelled answers as a random sample, even if their labels do not say how they were drawn
    #[arg(long)]
    pub(crate) assume_random: bool,
}
