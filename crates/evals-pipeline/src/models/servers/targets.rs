//! Targets behind servers: services, and chat models with a prompt.

use std::env;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_models::ChatModel;
use evals_providers::{HttpTarget, PostgresError, PostgresTarget, Traffic, TrafficSettings};
use evals_targets::{ChatTarget, SettingsProblem, Target, TargetSettings, Template};

use super::Servers;
use super::served_model::duration;

impl Servers<'_> {
    /// Opens the service of these settings. At most `concurrency` questions are asked at the same time. Nothing is sent yet.
    pub fn service(
        &mut self,
        settings: &TargetSettings,
        concurrency: NonZeroUsize,
    ) -> Result<Arc<dyn Target>> {
        let most = settings.max_concurrency.unwrap_or(concurrency);
        let mut limits = TrafficSettings {
            max_concurrency: Some(most.min(concurrency)),
            requests_per_minute: settings.requests_per_minute,
            seed: self.seed,
            ..TrafficSettings::default()
        };
        limits.max_attempts = settings.max_attempts.unwrap_or(limits.max_attempts);
        if self.once {
            limits.max_attempts = NonZeroU32::MIN;
        }
        let case_timeout = self.resolved.settings.evaluations.case_timeout;
        limits.call_deadline = duration(case_timeout).ok_or_else(|| {
            let message = "must be more than 0 seconds";
            self.resolved
                .bad_value("evaluations.case_timeout", &message)
        })?;
        let traffic = Traffic::new("target", limits).with_watch(self.printer.watch());
        let traffic = Arc::new(traffic);
        let target = HttpTarget::new(settings, Arc::clone(&traffic), |name| env::var(name).ok());
        let target = target.map_err(|problem| self.misplaced(&problem))?;
        if let Some(interruption) = &self.interruption {
            interruption.track_traffic(&traffic);
        }
        self.targets.push(traffic);
        Ok(Arc::new(target))
    }

    /// Connects to the database of these settings. Relative paths of statements start from `folder`.
    pub async fn database(
        &self,
        settings: &TargetSettings,
        concurrency: NonZeroUsize,
        folder: &Path,
    ) -> Result<PostgresTarget> {
        let Some(source) = &settings.statement else {
            unreachable!("checked settings of a database have a statement");
        };
        let statement = source.text(folder);
        let statement = statement.context("cannot read the statement of the target")?;
        let variable = |name: &str| env::var(name).ok();
        let target = PostgresTarget::open(settings, &statement, concurrency, variable).await;
        target.map_err(|error| match error {
            PostgresError::Setting(problem) => self.misplaced(&problem),
            refused @ PostgresError::Refused(_) => refused.into(),
        })
    }

    /// The error of a setting of the target, with its place if a file sets it.
    fn misplaced(&self, problem: &SettingsProblem) -> anyhow::Error {
        let path = format!("target.{}", problem.key);
        self.resolved
            .bad_value(path.trim_end_matches('.'), &problem.message)
            .into()
    }
}

/// A target that sends `model` the prompt of the settings. Relative paths of prompts start from `folder`.
pub fn prompted(
    model: Arc<dyn ChatModel>,
    settings: &TargetSettings,
    folder: &Path,
) -> Result<Arc<dyn Target>> {
    let mut target = ChatTarget::new(model);
    if let Some(prompt) = &settings.prompt {
        let text = prompt
            .text(folder)
            .context("cannot read the prompt of the target")?;
        let template = Template::with(text, &settings.parameters);
        let template = template.context("the prompt of the target cannot be used")?;
        target = target.prompt(template);
    }
    if let Some(version) = &settings.version {
        target = target.version(version);
    }
    Ok(Arc::new(target))
}
