//! Says what a target that a file names will run or be sent, before it happens. A file may come from somebody else.

use evals_targets::{TargetAddress, TargetSettings};

use crate::redaction;
use crate::settings::Resolved;

/// The command that runs, or the environment variables that are sent. `None` if there are none, or if an option names the target.
pub(super) fn notice(
    settings: &TargetSettings,
    address: &TargetAddress,
    resolved: &Resolved,
) -> Option<String> {
    let file = resolved.file_of_target()?;
    match address {
        TargetAddress::Exec(line) => {
            let line = redaction::prose(line);
            Some(format!("{file} runs a command as the target: `{line}`"))
        }
        TargetAddress::Http(url) => {
            let names: Vec<String> = settings
                .variables()
                .iter()
                .map(|name| format!("`{name}`"))
                .collect();
            let variables = match names.len() {
                0 => return None,
                1 => "environment variable",
                _ => "environment variables",
            };
            Some(format!(
                "{file} sends the {variables} {} to `{}`",
                names.join(", "),
                redaction::prose(url)
            ))
        }
        _ => None,
    }
}
