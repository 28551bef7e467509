//! Checks the Hugging Face hub: its cache, its address and the token.

use anyhow::{Context as _, Result};
use evals_data::{Greeting, Hub, HubSettings};

use super::finding::Finding;

pub(super) fn check(settings: &HubSettings) -> Result<Vec<Finding>> {
    let cache = match &settings.cache_dir {
        Some(folder) if folder.is_dir() => {
            Finding::Good(format!("hub cache: {}", folder.display()))
        }
        Some(folder) => Finding::Note(format!(
            "hub cache: {} (the first download creates it)",
            folder.display()
        )),
        None => Finding::Bad {
            what: "hub cache: no home folder found".to_owned(),
            remedy: "set HF_HOME to a folder of your own".to_owned(),
        },
    };
    let mut findings = vec![cache];
    if settings.offline {
        findings.push(Finding::Note(
            "hub: offline because HF_HUB_OFFLINE is set; only cached and bundled datasets can be run"
                .to_owned(),
        ));
        return Ok(findings);
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start worker threads")?;
    let greeting = runtime.block_on(Hub::new(settings.clone()).greet());
    findings.push(match &greeting {
        Ok(_) => Finding::Good(format!("hub: {}", settings.endpoint)),
        Err(error) => Finding::Note(format!(
            "hub: {error}; only cached and bundled datasets can be run"
        )),
    });
    findings.push(match (&settings.token, greeting) {
        (None, _) => Finding::Note(
            "hub token: none; only private and gated datasets need one (HF_TOKEN)".to_owned(),
        ),
        (Some(_), Ok(Greeting::TokenRefused)) => Finding::Bad {
            what: format!("hub token: rejected by {}", settings.endpoint),
            remedy: "set HF_TOKEN to a valid token, or remove it: public datasets need no token, but the hub rejects an invalid one"
                .to_owned(),
        },
        (Some(_), Ok(Greeting::Reached)) => Finding::Good("hub token: accepted".to_owned()),
        (Some(_), Err(_)) => Finding::Note("hub token: set".to_owned()),
    });
    Ok(findings)
}
