//! The options that override settings.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

/// Where settings come from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingsArgs {
    /// Settings file [default: ./evaluations.yaml or ./haiku.rag.yaml, else the same names in the user's configuration
    /// folder]; of several, a later one overrides single keys
    #[arg(long, value_name = "PATH")]
    pub config: Vec<PathBuf>,
    /// Override one setting, e.g. `--set search.limit=10`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub assignments: Vec<String>,
}

/// `PROVIDER:NAME`; the name may contain further colons, as Ollama's tags do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    pub provider: String,
    pub name: String,
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
