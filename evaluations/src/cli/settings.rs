//! The options that override settings, and the command lines of `evaluations config` and `evaluations doctor`, which show and check them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use evals_targets::TargetAddress;

/// Where settings come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingsArgs {
    /// Settings file [default: ./evaluations.yaml or ./haiku.rag.yaml, else the same names in the user's configuration
    /// folder]
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Override one setting, e.g. `--set search.limit=10`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) assignments: Vec<String>,
}

/// `PROVIDER:NAME`; the name may contain further colons, as Ollama's tags do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelName {
    pub(crate) provider: String,
    pub(crate) name: String,
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(Self {
                provider: provider.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err("has to be of the form PROVIDER:NAME, e.g. ollama:gpt-oss".to_owned()),
        }
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective settings as YAML, and where they come from
    Show {
        #[command(flatten)]
        settings: SettingsArgs,
        /// Include the settings of this dataset
        #[arg(long)]
        dataset: Option<String>,
    },
    /// List the prompts in use and where they come from, or print one
    Prompts {
        /// Print the text of this prompt
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Print the JSON Schema of the settings file, or write that of a dataset file beside it
    Schema {
        /// Write the JSON Schema of this dataset file beside it, as `STEM_schema.json`. Editors use it to complete and check the file
        #[arg(long, value_name = "FILE")]
        dataset: Option<PathBuf>,
    },
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
    /// Pull configured models that Ollama does not have yet
    #[arg(long)]
    pub(crate) pull: bool,
    /// Check this database, too: a folder, or an address such as `s3://…`, where `doctor` writes a small object and deletes it
    #[arg(long, value_name = "URI")]
    pub(crate) db: Option<String>,
    /// Ask this system a question, too: `http://…` or `chat:PROVIDER:NAME` [default: the setting target, or ./target.yaml]
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<TargetAddress>,
}
