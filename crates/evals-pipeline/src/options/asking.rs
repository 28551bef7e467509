//! The options of commands that ask a judge without running cases.

use clap::Args;

use super::numbers::dollars;
use super::settings::{ModelName, SettingsArgs};

/// Which judge is asked, and for how much.
#[derive(Debug, Clone, Args)]
pub struct AskingArgs {
    /// The model that judges [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub judge: Option<ModelName>,
    /// Estimate the calls, tokens and cost, and exit before the first paid request
    #[arg(long)]
    pub estimate: bool,
    /// Ask no more once the calls have cost this much; needs the setting `prices`. The same command goes on from there
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
    pub budget: Option<f64>,
    #[command(flatten)]
    pub settings: SettingsArgs,
}
