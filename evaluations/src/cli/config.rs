//! The command lines of `evaluations config` and `evaluations doctor`.

use clap::{Args, Subcommand};

use super::settings::{ModelName, SettingsArgs};

#[derive(Debug, Clone, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings in force as YAML, and where they come from
    Show {
        #[command(flatten)]
        settings: SettingsArgs,
        /// Include the settings of this dataset
        #[arg(long)]
        dataset: Option<String>,
    },
    /// Print the JSON Schema of the settings file
    Schema,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// The answering model [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<ModelName>,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Have Ollama pull the models of the settings that it does not have
    #[arg(long)]
    pub(crate) pull: bool,
}
