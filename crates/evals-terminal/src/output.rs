//! The options of every command about its output.

use clap::{Args, ColorChoice};

/// Output options, which every command accepts.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Print results and errors only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more details, such as paths and timings
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Hide progress: bars on a terminal, and a line each minute in a pipe or a file
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// When to colour the output; `auto`: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}
