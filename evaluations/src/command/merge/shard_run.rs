//! The run of one shard.

use anyhow::{Context as _, Result, anyhow, bail};
use evals::{Domain, Report};
use evals_messages::quantity;
use evals_runs::run_folder::{Left, RunFolder, RunState};
use evals_runs::run_record::{Benchmark, RunRecord, System};
use evals_runs::shards::{Places, ShardHeader, ShardRecord};
use evals_runs::shell_word::shell_word;
use evals_runs::stored_runs::StoredRun;

/// The option that names a shard.
const SHARD: &str = "--shard";

/// The run of one shard.
#[derive(Debug, Clone)]
pub(super) struct ShardRun {
    pub(super) run: StoredRun,
    pub(super) shard: ShardRecord,
}

/// What the shards of one run have in common, before their settings are compared.
pub(super) type RunKey = (Benchmark, String, String, String);

impl ShardRun {
    /// The shard in a run folder; `None` if the run is no shard.
    pub(super) fn of(run: StoredRun) -> Result<Option<Self>> {
        let Some(shard) = run.record.dataset.shard.clone() else {
            return Ok(None);
        };
        let run = Self { run, shard };
        run.check_places()?;
        Ok(Some(run))
    }

    /// Refuses a record that contradicts itself.
    fn check_places(&self) -> Result<()> {
        let shard = self.header();
        let places = &self.shard.places;
        let is_whole = places.iter().count() == self.record().dataset.questions
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

    /// Which shard it is.
    pub(super) fn header(&self) -> ShardHeader {
        self.shard.shard
    }

    pub(super) fn record(&self) -> &RunRecord {
        &self.run.record
    }

    pub(super) fn name(&self) -> String {
        self.run.name()
    }

    /// The shard and the run, for messages.
    pub(super) fn title(&self) -> String {
        format!("{} (`{}`)", self.header(), self.name())
    }

    pub(super) fn key(&self) -> RunKey {
        let record = self.record();
        // The digest of a file with replies identifies it, and its path may be another one on another machine.
        let profile = match record.target() {
            Some(target) if target.is_file() => &target.kind,
            Some(_) | None => &record.profile,
        };
        (
            record.benchmark,
            record.dataset.name.clone(),
            record.name.clone(),
            profile.clone(),
        )
    }

    /// The record of the run as all of its shards have it.
    pub(super) fn shared(&self) -> RunRecord {
        let mut shared = self.record().clone();
        shared.dataset.questions = 0;
        shared.dataset.unanswerable = 0;
        if let Some(record) = &mut shared.dataset.shard {
            record.shard.index = 0;
            record.places = Places::default();
        }
        if let System::Target(target) = &mut shared.system
            && target.is_file()
        {
            shared.profile.clear();
            target.name.clear();
        }
        shared
    }

    /// The command that started the run, to type again.
    pub(super) fn command(&self) -> String {
        typed(&self.record().command_line)
    }

    /// The same command for another shard.
    pub(super) fn command_of(&self, index: u32) -> String {
        let shard = format!("{index}/{}", self.header().of);
        let line = with_shard(&self.record().command_line, &shard);
        typed(&line)
    }

    /// Fails unless all cases of the shard ran, and names the command that resumes it.
    pub(super) fn check_finished(&self) -> Result<()> {
        let state = self.run.state();
        match state {
            RunState::Finished(_) | RunState::Failed(_) => Ok(()),
            RunState::Running => bail!("{} is running; wait for it to finish", self.title()),
            RunState::Unfinished(_) => Err(self.unfinished(state)),
            RunState::Unreadable => {
                let problem = self.folder()?.report_problem();
                Err(problem.unwrap_or_else(|| anyhow!("the report is unreadable")))
                    .with_context(|| format!("cannot read {}", self.title()))
            }
        }
    }

    fn folder(&self) -> Result<&RunFolder> {
        self.run.folder("names its shard")
    }

    fn unfinished(&self, state: RunState) -> anyhow::Error {
        anyhow!(
            "{} is {state}; this command resumes it, where it was started: {}",
            self.title(),
            self.command()
        )
    }

    /// The report, if it has as many cases as the shard. Its summary, which tells the state of a run, may say something else.
    pub(super) fn report<D: Domain>(&self) -> Result<Report<D>> {
        let report: Report<D> = self.folder()?.read_report()?;
        if report.interrupted || report.not_run > 0 {
            return Err(self.unfinished(RunState::Unfinished(Some(Left {
                not_run: report.not_run,
                of: report.cases.len().saturating_add(report.not_run),
            }))));
        }
        let questions = self.record().dataset.questions;
        if Some(report.cases.len()) != questions.checked_mul(report.repeat as usize) {
            bail!(
                "the report of {} has {} instead of {questions} × {}; its folder is damaged",
                self.title(),
                quantity::of(report.cases.len(), "case"),
                report.repeat
            );
        }
        Ok(report)
    }
}

/// A recorded command line as a shell reads it. The program has its plain name: its path may be another one elsewhere.
fn typed(line: &[String]) -> String {
    let words = line.iter().skip(1);
    let words = words.map(|word| shell_word(word).into_owned());
    let program = env!("CARGO_PKG_NAME").to_owned();
    let words: Vec<String> = std::iter::once(program).chain(words).collect();
    format!("`{}`", words.join(" "))
}

/// A recorded command line with another shard.
fn with_shard(line: &[String], shard: &str) -> Vec<String> {
    let mut words = line.to_vec();
    let together = format!("{SHARD}=");
    for place in 0..words.len() {
        if words[place].starts_with(&together) {
            words[place] = format!("{together}{shard}");
        } else if place > 0 && words[place - 1] == SHARD {
            shard.clone_into(&mut words[place]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let line = line(&[
            "/opt/bin/evaluations",
            "./my data.yaml",
            "--set",
            "a=it's",
            "--k",
            "5",
            "--name",
            "",
        ]);
        assert_eq!(
            typed(&line),
            r"`evaluations './my data.yaml' --set 'a=it'\''s' --k 5 --name ''`"
        );
    }

    #[test]
    fn only_the_shard_changes() {
        for (words, other) in [
            (
                line(&["e", "x", "--shard", "1/4", "1/4"]),
                "`evaluations x --shard 3/4 1/4`",
            ),
            (
                line(&["e", "--shard=1/4", "x"]),
                "`evaluations --shard=3/4 x`",
            ),
        ] {
            assert_eq!(typed(&with_shard(&words, "3/4")), other);
        }
    }
}
