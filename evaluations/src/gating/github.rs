//! Verdicts for GitHub Actions: annotations, and the summary of a step.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use evals::{GateReport, render};
use evals_terminal::{Printer, text};

use crate::cli::GithubChoice;

/// Prints annotations on stdout, and appends the verdicts to the file that `GITHUB_STEP_SUMMARY` names, if the program runs in GitHub Actions
/// or the user asks for it.
pub(crate) fn announce(printer: &Printer, choice: GithubChoice, report: &GateReport) -> Result<()> {
    let is_on = match choice {
        GithubChoice::Always => true,
        GithubChoice::Never => false,
        GithubChoice::Auto => std::env::var_os("GITHUB_ACTIONS").is_some_and(|it| it == "true"),
    };
    if !is_on {
        return Ok(());
    }
    printer.result(&text(|out| render::github::gate(out, report))?)?;
    let summary = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
    if let Some(path) = summary.map(PathBuf::from) {
        let markdown = text(|out| render::markdown::gate(out, report))?;
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| writeln!(file, "{markdown}"))
            .with_context(|| format!("cannot append to the step summary `{}`", path.display()))?;
    }
    Ok(())
}
