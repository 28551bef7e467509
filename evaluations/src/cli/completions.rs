//! The command line of `evaluations completions`.

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
