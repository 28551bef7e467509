//! The command line of `evaluations eval`, and the parts of cases that tables show.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evals::render::Part;

use super::experiment::{ControlArgs, JudgingArgs, ResultArgs, SelectionArgs, TargetArgs};
use super::numbers::at_least_once;
use super::settings::SettingsArgs;

#[derive(Debug, Clone, Args)]
#[command(mut_arg("seed", |seed| seed.hide(true)))]
pub struct EvalArgs {
    /// A dataset file: YAML or JSON in pydantic-evals' format, CSV as promptfoo reads it, or JSON Lines
    pub file: PathBuf,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub judging: JudgingArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub control: ControlArgs,
    #[command(flatten)]
    pub attempts: AttemptArgs,
    #[command(flatten)]
    pub settings: SettingsArgs,
    #[command(flatten)]
    pub shown: EvalShownArgs,
    #[command(flatten)]
    pub results: ResultArgs,
}

/// What runs again.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct AttemptArgs {
    /// Ask the target again, up to N times, if it fails. Requests over HTTP are already retried, so the attempts multiply
    #[arg(long, hide = true, value_name = "N", allow_negative_numbers = true, value_parser = at_least_once)]
    pub retry_task: Option<NonZeroU32>,
    /// Run a failed evaluator again, up to N times
    #[arg(long, hide = true, value_name = "N", allow_negative_numbers = true, value_parser = at_least_once)]
    pub retry_evaluators: Option<NonZeroU32>,
    /// Run again whenever the file changes or, for `exec:`, a file in the command's folder, and show what changed
    #[arg(long, conflicts_with_all = ["estimate", "batch"])]
    pub watch: bool,
}

/// The details of cases to print.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct EvalShownArgs {
    /// Show at most N cases, failed and lowest first; 0 shows none
    #[arg(long = "cases", value_name = "N", default_value_t = 20)]
    pub most: usize,
    /// Show the reasons of evaluators, and what was expected where an assertion failed without a reason
    #[arg(long)]
    pub reasons: bool,
    /// Show these parts of each case, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "PARTS",
        value_delimiter = ',',
        default_value = "output"
    )]
    pub show: Vec<ShownPart>,
}

/// A part of a case that the table of cases can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShownPart {
    Input,
    Expected,
    Output,
    Metadata,
}

impl From<ShownPart> for Part {
    fn from(shown: ShownPart) -> Self {
        match shown {
            ShownPart::Input => Self::Input,
            ShownPart::Expected => Self::Expected,
            ShownPart::Output => Self::Output,
            ShownPart::Metadata => Self::Metadata,
        }
    }
}
