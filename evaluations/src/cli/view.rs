//! The command line of `evaluations view`.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct ViewArgs {
    /// Run whose page to open: its folder, the folder's name or the start of it, its `--name`, or `latest` for the newest finished
    /// run [default: the list of runs]
    pub(crate) run: Option<OsString>,
    /// Listen on this port of 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Print the address and do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}
