//! The command lines of `evaluations questions`: a test set from documents, its review, its facts, and its check against changed documents.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use evals_pipeline::options::numbers::at_least_one;
use evals_pipeline::options::{AskingArgs, SettingsArgs, WriteQuestionsArgs};

#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct QuestionsArgs {
    /// `None` only if there is a command.
    #[command(flatten)]
    pub(crate) write: Option<WriteQuestionsArgs>,
    /// Beside those of `write`, because the parser knows options only as there if their type has no options of a further type.
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(subcommand)]
    pub(crate) command: Option<QuestionsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum QuestionsCommand {
    /// Draw questions to review, exchange reviews as CSV, and show how many questions are defective
    Review(ReviewQuestionsArgs),
    /// Write the facts of good answers into the set, for the judge `nuggets`
    Nuggets(Box<NuggetsArgs>),
    /// List questions whose evidence changed in the documents
    Check(CheckQuestionsArgs),
}

/// The end of `questions review --help`, for terminals of 80 columns.
const REVIEW_HELP: &str = "\
People say of each question: keep, edit or drop. They do so in the browser, with
`evaluations view FOLDER`, or in the column `verdict` of the CSV file. A run of
the folder asks what was edited, and leaves out what was dropped.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = REVIEW_HELP)]
pub(crate) struct ReviewQuestionsArgs {
    /// Folder of the test set
    pub(crate) folder: PathBuf,
    /// Draw N questions at random from all kinds [default: all]
    #[arg(long, value_name = "N", conflicts_with = "import", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) sample: Option<NonZeroUsize>,
    /// Seed of the sample
    #[arg(long, hide = true, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write questions to review to a CSV file, which must not exist
    #[arg(long, value_name = "FILE", conflicts_with = "import")]
    pub(crate) export: Option<PathBuf>,
    /// Add the reviews of a CSV file that was exported from this set
    #[arg(long, value_name = "FILE")]
    pub(crate) import: Option<PathBuf>,
    /// The person who reviewed the rows of the file without an author [default: the user's name on this machine]
    #[arg(long, value_name = "NAME", requires = "import")]
    pub(crate) labeller: Option<String>,
}

/// The end of `questions nuggets --help`, for terminals of 80 columns.
const NUGGETS_HELP: &str = "\
The judge `nuggets` of a run asks which facts of a good answer an answer has.
With the facts in the set, people can edit them in questions.jsonl, and every
system is judged by the same ones. A question that has some is not asked about.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = NUGGETS_HELP)]
pub(crate) struct NuggetsArgs {
    /// Folder of the test set
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) asking: AskingArgs,
}

/// The end of `questions check --help`, for terminals of 80 columns.
const CHECK_HELP: &str = "\
A question is stale if its evidence vanished or changed, or also stands in a
document that the set does not call relevant. Evidence that only moved is found
by its quote. Exits with 1 if a question is stale.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = CHECK_HELP)]
pub(crate) struct CheckQuestionsArgs {
    /// Folder of the test set
    pub(crate) folder: PathBuf,
    /// Rewrite the set without stale questions, which history.jsonl keeps
    #[arg(long)]
    pub(crate) update: bool,
}
