//! The options of `evaluations questions SOURCE`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::numbers::{at_least_one, dollars, seed};
use super::settings::ModelName;

/// The options of its own. It is optional beside subcommands, so it must not contain other groups of options.
#[derive(Debug, Clone, Args)]
pub struct WriteQuestionsArgs {
    /// Documents: a folder of texts, a dataset's name, or the path of a manifest, which needs no questions
    pub source: String,
    /// Folder to write the test set into; it must not exist, or be empty
    #[arg(long, value_name = "FOLDER")]
    pub to: PathBuf,
    /// Questions to write, or to draw from the log
    #[arg(long, value_name = "N", default_value = "100", allow_negative_numbers = true, value_parser = at_least_one)]
    pub count: NonZeroUsize,
    /// Take the questions from a log of what users asked: .jsonl or .csv with a column `question`, or one question on each line
    #[arg(long, value_name = "LOG")]
    pub from: Option<PathBuf>,
    /// The model that writes [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<ModelName>,
    /// The model that filters, ideally of a different family [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub judge: Option<ModelName>,
    /// Seed that draws passages, kinds and the questions of the log
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub seed: u64,
    /// Estimate the calls, tokens and cost, and send nothing
    #[arg(long)]
    pub estimate: bool,
    /// Stop once the calls of this command have cost this much; needs the setting `prices`. The same command goes on from there
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
    pub budget: Option<f64>,
}
