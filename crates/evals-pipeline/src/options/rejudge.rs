//! The command line of `evaluations rejudge`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use evals_rag::rag_judges::JudgedMeasure;

use super::experiment::JudgingArgs;
use super::numbers::at_least_one;
use super::settings::SettingsArgs;

#[derive(Debug, Clone, Args)]
pub struct RejudgeArgs {
    /// Run whose answers to judge: its folder, the folder's name or the start of it, its `--name`, or `latest` for the newest run with all questions answered
    pub run: OsString,
    /// Compare the answers with those of this run of the same dataset, in both orders: wins, ties and losses, with a test and the judge's
    /// position bias
    #[arg(long, value_name = "RUN")]
    pub against: Option<OsString>,
    /// Answers to judge at the same time [default: the setting evaluations.concurrency]
    #[arg(long, hide = true, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub concurrency: Option<NonZeroUsize>,
    /// Write the report to FILE; its extension chooses the format: .html (a page for browsers) .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// Further judges, separated by commas, e.g. `faithfulness,context_recall` [default: the setting evaluations.judges]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub judges: Vec<JudgedMeasure>,
    #[command(flatten)]
    pub settings: SettingsArgs,
}
