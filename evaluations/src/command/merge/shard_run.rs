//! The run of one shard.

use anyhow::{Context as _, Result, anyhow, bail};
use evals::{Domain, Report};
use evals_messages::quantity;
use evals_targets::TargetIdentity;
use serde::Deserialize as _;
use serde_json::Value;

use super::command_line;
use crate::run_folder::{Left, RunFolder, RunHeader, RunState};
use crate::shards::ShardRecord;

/// The run of one shard.
#[derive(Debug, Clone)]
pub(super) struct ShardRun {
    pub(super) folder: RunFolder,
    pub(super) manifest: Value,
    pub(super) header: RunHeader,
    pub(super) record: ShardRecord,
}

/// What the shards of one run have in common, before their settings are compared.
pub(super) type RunKey = (String, String, String, String);

impl ShardRun {
    /// The shard in a run folder; `None` if the run is no shard.
    pub(super) fn read(folder: RunFolder) -> Result<Option<Self>> {
        let manifest: Value = folder.read_manifest()?;
        let shard = &manifest["dataset"]["shard"];
        if shard.is_null() {
            return Ok(None);
        }
        let damaged = || format!("`manifest.json` of run `{}` is damaged", folder.name());
        let record = serde_json::from_value(shard.clone()).with_context(damaged)?;
        let header = serde_json::from_value(manifest.clone()).with_context(damaged)?;
        let run = Self {
            folder,
            manifest,
            header,
            record,
        };
        run.check_places()?;
        Ok(Some(run))
    }

    /// Refuses a record that contradicts itself.
    fn check_places(&self) -> Result<()> {
        let shard = self.record.shard;
        let places = &self.record.places;
        let is_whole = places.iter().count() == self.header.dataset.questions
            && places.iter().last().is_none_or(|last| last < shard.cases)
            && (1..=shard.of).contains(&shard.index);
        if !is_whole {
            bail!(
                "`manifest.json` of run `{}` is damaged: its record of the shard contradicts itself",
                self.name()
            );
        }
        Ok(())
    }

    pub(super) fn name(&self) -> String {
        self.folder.name()
    }

    /// The shard and the run, for messages.
    pub(super) fn title(&self) -> String {
        format!("{} (`{}`)", self.record.shard, self.name())
    }

    /// Whether the replies come out of a file. Its digest identifies it, and its path may be another one on another machine.
    pub(super) fn is_of_file(&self) -> bool {
        let target = TargetIdentity::deserialize(&self.manifest["target"]);
        target.is_ok_and(|target| target.is_file())
    }

    pub(super) fn key(&self) -> RunKey {
        let header = &self.header;
        let profile = if self.is_of_file() {
            self.manifest["target"]["kind"].to_string()
        } else {
            header.profile.clone()
        };
        (
            header.benchmark.clone(),
            header.dataset.name.clone(),
            header.name.clone(),
            profile,
        )
    }

    pub(super) fn state(&self) -> RunState {
        self.folder.state()
    }

    /// The command that started the run, to type again.
    pub(super) fn command(&self) -> String {
        command_line::typed(&self.header.command_line)
    }

    /// The same command for another shard.
    pub(super) fn command_of(&self, index: u32) -> String {
        let shard = format!("{index}/{}", self.record.shard.of);
        let line = command_line::with_shard(&self.header.command_line, &shard);
        command_line::typed(&line)
    }

    /// Fails unless all cases of the shard ran, and names the command that resumes it.
    pub(super) fn check_finished(&self) -> Result<()> {
        let state = self.state();
        match state {
            RunState::Finished(_) | RunState::Failed(_) => Ok(()),
            RunState::Running => bail!("{} is running; wait for it to finish", self.title()),
            RunState::Unfinished(_) => Err(self.unfinished(state)),
            RunState::Unreadable => {
                let problem = self.folder.report_problem();
                Err(problem.unwrap_or_else(|| anyhow!("the report is unreadable")))
                    .with_context(|| format!("cannot read {}", self.title()))
            }
        }
    }

    fn unfinished(&self, state: RunState) -> anyhow::Error {
        anyhow!(
            "{} is {state}; this command resumes it, where it was started: {}",
            self.title(),
            self.command()
        )
    }

    /// The report, if it has all cases of the shard and no other. Its summary, which tells the state of a run, may say something else.
    pub(super) fn report<D: Domain>(&self) -> Result<Report<D>> {
        let report: Report<D> = self.folder.read_report()?;
        if report.interrupted || report.not_run > 0 {
            return Err(self.unfinished(RunState::Unfinished(Some(Left {
                not_run: report.not_run,
                of: report.cases.len().saturating_add(report.not_run),
            }))));
        }
        let questions = self.header.dataset.questions;
        if Some(report.cases.len()) != questions.checked_mul(report.repeat as usize) {
            bail!(
                "the report of {} has {} instead of {questions} × {}; its folder is damaged",
                self.title(),
                quantity::of(report.cases.len(), "case"),
                report.repeat
            );
        }
        let shard = self.record.shard;
        let mut cases = report.cases.iter();
        if let Some(foreign) = cases.find(|case| !shard.takes(case.id.as_str())) {
            bail!(
                "the report of {} has the case `{}`, which belongs to another shard; its folder is damaged",
                self.title(),
                foreign.id
            );
        }
        Ok(report)
    }
}
