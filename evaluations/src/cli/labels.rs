//! The command line of `labels`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::numbers::at_least_one;

/// The end of `labels --help`, for terminals of 80 columns.
const HELP: &str = "\
Labels are the verdicts of people about the answers of a run: pass, fail or
cannot say. They show how far the judge can be trusted. Give them in the browser
(`evaluations view RUN`), in a terminal, or in a spreadsheet:

  evaluations labels RUN --in-terminal --labeller ada
  evaluations labels RUN --export labels.csv --sample 100 --stratified
  evaluations labels RUN --import labels.csv --labeller ada

The exported file does not tell what the judge said. Fill in the columns
`verdict` (pass, fail, cannot say) and `note`, and leave the others. Labels are
kept in annotations.jsonl in the run's folder.

`evaluations calibrate RUN` compares the judge with the labels, lists where they
disagree, and corrects pass rates for the judge's errors.";

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
#[command(after_long_help = HELP)]
pub(crate) struct LabelsArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    pub(crate) run: OsString,
    /// The measure to label for, if the run has several judges
    #[arg(long, value_name = "M")]
    pub(crate) measure: Option<String>,
    /// Label answers in this terminal, one at a time and with one key each
    #[arg(long, groups = ["drawing", "naming"])]
    pub(crate) in_terminal: bool,
    /// Write answers to label to a CSV file, which must not exist
    #[arg(
        long,
        value_name = "FILE",
        group = "drawing",
        conflicts_with = "import"
    )]
    pub(crate) export: Option<PathBuf>,
    /// Label or write only N answers, drawn at random. Without it, `--in-terminal` takes 100, and `--export` all
    #[arg(long, value_name = "N", requires = "drawing", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) sample: Option<NonZeroUsize>,
    /// Draw half of the answers among those that the judge passed, and half among those that it failed
    #[arg(long, requires = "drawing")]
    pub(crate) stratified: bool,
    /// Seed of the sample and of the order of the answers
    #[arg(long, value_name = "N", requires = "drawing", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write the labels so far too, with a row for each
    #[arg(long, requires = "export")]
    pub(crate) with_labels: bool,
    /// Write the judge's verdicts and reasons too. Labels from such a file are not blind
    #[arg(long, requires = "export")]
    pub(crate) with_verdicts: bool,
    /// Add the labels of a CSV file that was exported from this run
    #[arg(long, value_name = "FILE", group = "naming")]
    pub(crate) import: Option<PathBuf>,
    /// The person who labels in the terminal, or who labelled the rows of the file without a labeller [default: the user's name on this machine]
    #[arg(long, value_name = "NAME", requires = "naming")]
    pub(crate) labeller: Option<String>,
}
