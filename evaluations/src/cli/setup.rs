//! The command lines of the commands around the runs: `init`, `config`, `doctor`, `validate`, `view`, `completions` and `man`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;
use evals_pipeline::options::TargetArgs;
use evals_pipeline::options::{ModelName, SettingsArgs};

#[derive(Debug, Clone, Args)]
pub(crate) struct InitArgs {
    /// Kind of system to evaluate
    #[arg(value_enum, default_value_t = StarterKind::Rag)]
    pub(crate) kind: StarterKind,
    /// A new or empty folder to write to [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: Option<PathBuf>,
}

/// The kind of system that a new folder evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StarterKind {
    /// Search and answers over a folder of documents
    Rag,
    /// A service over HTTP
    Http,
    /// A prompt of a chat model
    Prompt,
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
        /// Include the settings of this dataset
        #[arg(long, hide = true)]
        dataset: Option<String>,
        #[command(flatten)]
        settings: SettingsArgs,
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
#[command(
    mut_arg("target", |target| target.help(
        "Also ask this system a question: `http://…` or `chat:PROVIDER:NAME` [default: the setting target, or ./target.yaml]"
    )),
    mut_arg("assignments", |assignments| assignments.hide(true))
)]
pub(crate) struct DoctorArgs {
    /// The answering model [default: the setting qa.model]
    #[arg(long, hide = true, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<ModelName>,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, hide = true, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Pull configured models that Ollama does not have yet
    #[arg(long)]
    pub(crate) pull: bool,
    /// Also check this database: a folder, or an address such as `s3://…`, where `doctor` writes a small object and deletes it
    #[arg(long, value_name = "URI")]
    pub(crate) db: Option<String>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ValidateArgs {
    /// Files to check: dataset files, dataset manifests, settings, targets, or judgements and rankings in TREC format
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ViewArgs {
    /// Run whose page to open: its folder, the folder's name or the start of it, its `--name`, or `latest` for the newest finished
    /// run; or the folder of a test set, to review its questions [default: the list of runs]
    pub(crate) run: Option<OsString>,
    /// Listen on this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Print the address and do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ManArgs {
    /// Print the page of this command, e.g. `runs show` [default: the page of the program]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into the folder DIR, which is created if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
