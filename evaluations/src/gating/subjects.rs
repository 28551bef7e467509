//! The runs that a gate judges, each with its baseline.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Result, bail};
use evals::{Allowance, ClusterKey, Snapshot};
use evals_messages::nearest;
use evals_pipeline::session::Session;
use evals_runs::baseline_file::{BaselineFile, standing_for};
use evals_runs::judged_by::JudgeRecords;
use evals_runs::run_record::{Configuration, Sameness, differences};
use evals_runs::stored_runs::{
    StoredRun, finished, is_finished, is_latest, is_unknown, settings, snapshot,
};
use serde_json::{Map, Value};

use evals_runs::run_folder::RunFolder;

/// The numbers of a run or of a baseline, with what has to fit.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) snapshot: Snapshot,
    pub(crate) seed: u64,
    /// The stored run; `None` for a baseline file.
    pub(crate) stored: Option<StoredRun>,
    dataset: String,
    benchmark: String,
    profile: String,
    /// By dotted path; empty if they are not known.
    settings: Map<String, Value>,
}

impl Side {
    pub(crate) fn of_run(run: StoredRun) -> Result<Self> {
        finished(&run)?;
        let record = &run.record;
        Ok(Self {
            snapshot: snapshot(&run)?,
            seed: record.seed,
            dataset: record.dataset.name.clone(),
            benchmark: record.benchmark.to_string(),
            profile: record.profile.clone(),
            settings: settings(&run),
            stored: Some(run),
        })
    }

    fn of_file(path: &Path) -> Result<Self> {
        let mut file = BaselineFile::read(path)?;
        let identity = &mut file.snapshot.identity;
        identity.judge = JudgeRecords::known(identity.judge.take());
        let title = format!("{} ({})", path.display(), file.run);
        Ok(Self {
            snapshot: Snapshot {
                title,
                ..file.snapshot
            },
            seed: 0,
            stored: None,
            dataset: file.dataset,
            benchmark: file.benchmark,
            profile: file.profile,
            settings: file.settings,
        })
    }

    /// Whether both measured the same dataset in the same benchmark.
    fn is_of_kind(&self, other: &Self) -> bool {
        self.dataset == other.dataset && self.benchmark == other.benchmark
    }

    pub(crate) fn kind(&self) -> String {
        format!("{} on {}", self.benchmark, self.dataset)
    }

    fn configuration(&self) -> Configuration {
        let text = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let values = self.settings.iter();
        Configuration::of_values(values.map(|(path, value)| (path.clone(), text(value))))
    }

    /// The differences in settings from a baseline, as far as both are known.
    pub(crate) fn made_by(&self, baseline: &Self) -> Vec<String> {
        if self.settings.is_empty() || baseline.settings.is_empty() {
            return Vec::new();
        }
        let [old, new] = [baseline, self].map(Self::configuration);
        differences(&old, &new, Sameness::Configuration)
    }
}

/// The runs to judge: the named ones, or those of the last command. A newer run that is not finished is an error: the verdict on an older one
/// would look like a verdict on it. A key of `cluster` makes other clusters than those that the runs declare.
pub(crate) fn runs(
    session: &Session<'_>,
    wanted: &[OsString],
    cluster: Option<&ClusterKey>,
) -> Result<Vec<Side>> {
    let stored = session.stored_runs();
    let mut folders = stored.list()?;
    let chosen = match wanted {
        [wanted] if is_latest(wanted) => stored
            .pop_newest(&mut folders, |_| true, is_finished)
            .map(|(run, skipped)| (vec![run], skipped)),
        [] => stored.pop_last_command(&mut folders),
        several if several.iter().any(|wanted| is_latest(wanted)) => {
            bail!("`latest` is one run; name each of several runs")
        }
        named => {
            let runs = named.iter().map(|wanted| stored.named(wanted));
            Ok((runs.collect::<Result<_>>()?, Vec::new()))
        }
    };
    if wanted.iter().all(|wanted| is_latest(wanted)) {
        let judged = chosen.as_ref().map_or(&[][..], |(runs, _)| runs);
        check_manifests(session, judged)?;
    }
    let (runs, skipped) = chosen?;
    if let Some(newer) = skipped.first() {
        bail!(
            "a newer run is not finished or not readable, and a decision about an older one would say nothing about it: {}; name the run to judge",
            newer.text()
        );
    }
    let runs = runs.into_iter().map(|run| run.clustered(cluster));
    runs.map(Side::of_run).collect()
}

/// Fails if a newer run than the oldest of these has lost its manifest, without which it is no run.
fn check_manifests(session: &Session<'_>, judged: &[StoredRun]) -> Result<()> {
    let lost = RunFolder::newest_without_manifest(&session.directories.runs())?;
    let is_newer = |lost: &RunFolder| judged.first().is_none_or(|run| run.name() < lost.name());
    match lost.filter(is_newer) {
        None => Ok(()),
        Some(lost) => bail!(
            "`{}` has results of a run and no `manifest.json`, and a decision about an older run would say nothing about it; restore the file \
             from a copy, delete the folder, or name the run to judge",
            lost.path().display()
        ),
    }
}

/// The baselines that a command line names. With a key of `cluster` the runs alone say which cases are a cluster.
pub(crate) fn baselines(
    session: &Session<'_>,
    wanted: &[OsString],
    cluster: Option<&ClusterKey>,
) -> Result<Vec<Side>> {
    let baselines = wanted.iter().map(|wanted| {
        let mut side = baseline(session, wanted)?;
        if cluster.is_some() {
            side.snapshot = side.snapshot.without_clusters();
        }
        Ok(side)
    });
    baselines.collect()
}

fn baseline(session: &Session<'_>, wanted: &OsStr) -> Result<Side> {
    let path = Path::new(wanted);
    if BaselineFile::is_at(path) {
        return Side::of_file(path);
    }
    if let Some(named) = standing_for(path).filter(|named| named.is_file()) {
        return Side::of_file(&named);
    }
    // A file that is missing must not be taken for the start of a run's name.
    let is_file_name = path
        .extension()
        .is_some_and(|extension| extension == "json");
    if is_file_name && !path.exists() {
        return Side::of_file(path);
    }
    let stored = session.stored_runs();
    let run = match (stored.find(wanted), standing_for(path)) {
        (Err(unknown), Some(file)) if is_unknown(&unknown) => bail!(missing(wanted, &file)),
        (run, _) => run?,
    };
    Side::of_run(run)
}

/// The error for a name that is neither that of a baseline nor of a run.
fn missing(wanted: &OsStr, file: &Path) -> String {
    let folder = file.parent().and_then(|folder| folder.read_dir().ok());
    let entries = folder.into_iter().flatten().filter_map(Result::ok);
    let saved: Vec<String> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let is_baseline = path.extension().is_some_and(|it| it == "json");
            let name = path.file_stem()?.to_str()?.to_owned();
            is_baseline.then_some(name)
        })
        .collect();
    let wanted = wanted.to_string_lossy();
    let suggestion = nearest::did_you_mean(nearest::of(&wanted, saved.iter().map(String::as_str)));
    format!(
        "there is no baseline `{}` and no run `{wanted}`; `evaluations runs baseline save {wanted} RUN` saves a run as this baseline, and \
         `evaluations runs` lists the runs{suggestion}",
        file.display(),
    )
}

/// The baseline of each run, by its position: of the same dataset and benchmark, and of the same profile where several runs or baselines are.
/// A baseline that fits no run is an error, whatever the user allows: two datasets have no case in common.
pub(crate) fn matched(
    runs: &[Side],
    baselines: &[Side],
    allowed: &BTreeSet<Allowance>,
) -> Result<Vec<Option<usize>>> {
    let alike =
        |side: &Side, others: &[Side]| others.iter().filter(|it| it.is_of_kind(side)).count();
    let mut found = Vec::new();
    for run in runs {
        let is_alone = alike(run, runs) == 1 && alike(run, baselines) <= 1;
        let fits = |it: &&Side| it.is_of_kind(run) && (is_alone || it.profile == run.profile);
        if baselines.iter().filter(fits).count() > 1 {
            bail!(
                "several baselines fit run `{}` ({}, profile {})",
                run.snapshot.title,
                run.kind(),
                run.profile
            );
        }
        found.push(baselines.iter().position(|it| fits(&it)));
    }
    for (place, baseline) in baselines.iter().enumerate() {
        if !found.contains(&Some(place)) {
            bail!(no_run_fits(baseline, runs, allowed));
        }
    }
    Ok(found)
}

/// The error for a baseline that fits none of the runs.
fn no_run_fits(baseline: &Side, runs: &[Side], allowed: &BTreeSet<Allowance>) -> String {
    let described = |side: &Side| format!("{} with the profile {}", side.kind(), side.profile);
    let judged: Vec<String> = runs.iter().map(described).collect();
    let covers = if allowed.contains(&Allowance::ChangedDataset)
        && runs.iter().all(|run| run.dataset != baseline.dataset)
    {
        "; `--allow changed-dataset` accepts other files, and added, removed and edited cases of one dataset, but not a different dataset"
    } else {
        ""
    };
    format!(
        "baseline `{}` measures {}, but the gate judges {}; choose a baseline and a run of the same benchmark, dataset and profile{covers}",
        baseline.snapshot.title,
        described(baseline),
        judged.join(", and ")
    )
}
