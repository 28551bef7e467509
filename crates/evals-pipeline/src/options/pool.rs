//! The command line of `evaluations pool`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::AskingArgs;
use super::numbers::{at_least_one, seed};

/// The end of `pool --help`, for terminals of 80 columns.
const HELP: &str = "\
A model grades the passages in the top of every run from 0 to 3. People grade
all passages of a few drawn questions, and correct the model's numbers:

  evaluations pool RUN RUN --judge ollama:gpt-oss
  evaluations pool RUN RUN --view
  evaluations pool RUN RUN --export grades.csv --sample 20
  evaluations pool RUN RUN --import grades.csv --labeller ada

Judgements are kept for each dataset, and lines are only added: a further run
asks for its new passages alone. Recall, nDCG and AP of the other runs count
these passages too; `--at VERSION` shows what was printed before.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = HELP)]
pub struct PoolArgs {
    /// Retrieval runs of one dataset: folders, names of folders or their starts, `--name`s, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<OsString>,
    /// Judge the first N documents of each ranking [default: 10, or all if the runs have fewer]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub k: Option<NonZeroUsize>,
    /// The dataset or manifest with the documents [default: the dataset of that name in the catalog]
    #[arg(long, value_name = "DATASET")]
    pub dataset: Option<String>,
    /// Open a page in the browser on which people grade passages
    #[arg(long, help_heading = "People", group = "next", conflicts_with_all = ["import", "estimate", "at"])]
    pub view: bool,
    /// Write passages for people to grade to a CSV file, which must not exist
    #[arg(long, help_heading = "People", value_name = "FILE", group = "next", conflicts_with_all = ["import", "estimate"])]
    pub export: Option<PathBuf>,
    /// Take the passages of the next N questions
    #[arg(long, help_heading = "People", value_name = "N", requires = "next", default_value = "20", allow_negative_numbers = true, value_parser = at_least_one)]
    pub sample: NonZeroUsize,
    /// Add the grades of a CSV file that was exported from these runs
    #[arg(
        long,
        help_heading = "People",
        value_name = "FILE",
        conflicts_with = "estimate"
    )]
    pub import: Option<PathBuf>,
    /// The person who graded the rows of the file without a labeller [default: the user's name on this machine]
    #[arg(
        long,
        help_heading = "People",
        value_name = "NAME",
        requires = "import"
    )]
    pub labeller: Option<String>,
    /// Say how many questions people have to grade for intervals of this width
    #[arg(long, hide = true, value_name = "WIDTH", default_value_t = 0.1)]
    pub width: f64,
    /// Seed of the order in which people grade questions
    #[arg(long, hide = true, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub seed: u64,
    /// Use only the first N judgements: the numbers of the version that begins with N
    #[arg(long, hide = true, value_name = "N", conflicts_with_all = ["import", "export", "estimate"])]
    pub at: Option<usize>,
    #[command(flatten)]
    pub asking: AskingArgs,
}
