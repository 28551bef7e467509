//! Says what a target that a file names will run or be sent, before it happens. A file may come from somebody else.

use std::env;

use evals_settings::Resolved;
use evals_settings::redaction;
use evals_targets::{PostgresAddress, PromptSource, TargetAddress, TargetSettings};

use evals_messages::visible;

/// The command that runs, or the environment variables or the file that are sent. `None` if there are none, or if an option sets them.
pub(super) fn notice(
    settings: &TargetSettings,
    address: &TargetAddress,
    resolved: &Resolved,
) -> Option<String> {
    match address {
        TargetAddress::Exec(line) => {
            let file = resolved.file_of_target("address")?;
            let line = redaction::prose(line);
            Some(format!("{file} runs a command as the target: `{line}`"))
        }
        TargetAddress::Http(url) => {
            let file = resolved.file_of_target("address")?;
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
        TargetAddress::Postgres(url) => {
            let file = resolved.file_of_target("address")?;
            let address = PostgresAddress::parse(url).ok()?;
            let (name, _) = address.password;
            let password = env::var_os(&name).map(|_| format!("the environment variable `{name}`"));
            let statement = match &settings.statement {
                Some(PromptSource::File(statement)) => {
                    let sent = visible::line(&statement.file.display().to_string());
                    Some(format!("the content of the file `{sent}`"))
                }
                _ => None,
            };
            let sent: Vec<String> = password.into_iter().chain(statement).collect();
            (!sent.is_empty()).then(|| {
                let (sent, server) = (sent.join(" and "), address.shown);
                format!("{file} sends {sent} to `{server}`")
            })
        }
        TargetAddress::Chat { provider, name } => {
            let Some(PromptSource::File(prompt)) = &settings.prompt else {
                return None;
            };
            let file = resolved.file_of_target("prompt")?;
            let sent = visible::line(&prompt.file.display().to_string());
            Some(format!(
                "{file} sends the content of the file `{sent}` to the model `{provider}:{name}`"
            ))
        }
        TargetAddress::Outputs(_) | TargetAddress::Trec(_) | TargetAddress::LanceDb { .. } => None,
    }
}
