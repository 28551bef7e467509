//! Finds the shards that a command line names.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use evals_pipeline::session::Session;
use evals_runs::run_folder::RunFolder;
use evals_runs::run_record::Origin;
use evals_runs::stored_runs::StoredRun;

use super::shard_run::{RunKey, ShardRun};
use super::shards_of_run::ShardsOfRun;

/// The folder of a data folder that holds the runs.
const RUNS: &str = "runs";

/// The shards that `wanted` names, or those of the data folder, by their runs. Leaves out shards that are merged already, which a note says,
/// unless one of them is named.
pub(super) fn gather(session: &Session<'_>, wanted: &[OsString]) -> Result<Vec<ShardsOfRun>> {
    let mut gathering = Gathering {
        session,
        found: Vec::new(),
        named: BTreeSet::new(),
    };
    if wanted.is_empty() {
        gathering.scan(&session.directories.runs(), |_| true)?;
    }
    for wanted in wanted {
        gathering.add(wanted)?;
    }
    let Gathering { found, named, .. } = gathering;
    let merged = merged(session)?;
    let mut runs = ShardsOfRun::group(found);
    runs.retain(|run| {
        let mut names: Vec<String> = run.shards().iter().map(ShardRun::name).collect();
        names.sort_unstable();
        let merged = merged.get(&names);
        let merged = merged.filter(|_| !names.iter().any(|name| named.contains(name)));
        if let Some(merged) = merged {
            let record = run.first().record();
            session.printer.note(&format!(
                "the shards of `{}` ({}) are merged already: `{merged}`",
                record.dataset.name, record.benchmark
            ));
        }
        merged.is_none()
    });
    Ok(runs)
}

/// The shards found so far.
struct Gathering<'s> {
    session: &'s Session<'s>,
    found: Vec<ShardRun>,
    /// The shards that are named one by one.
    named: BTreeSet<String>,
}

/// The runs of the data folder that were merged from shards: the sorted names of the shards, and the name of the run.
fn merged(session: &Session<'_>) -> Result<BTreeMap<Vec<String>, String>> {
    let mut merged = BTreeMap::new();
    for folder in RunFolder::list(&session.directories.runs())? {
        let Ok(record) = folder.read_record() else {
            continue;
        };
        let (Origin::Merge(merge) | Origin::Rejudgement(_, Some(merge))) = record.origin else {
            continue;
        };
        if !folder.state().is_complete() {
            continue;
        }
        let names = merge.shards.into_iter().map(|shard| shard.run);
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        merged.insert(names, folder.name());
    }
    Ok(merged)
}

impl Gathering<'_> {
    /// Adds the shards of a folder, one run, or all shards with that `--name` in the data folder.
    fn add(&mut self, wanted: &OsStr) -> Result<()> {
        let path = Path::new(wanted);
        if let Some(folder) = RunFolder::open(path) {
            return self.add_run(folder);
        }
        let runs = self.session.stored_runs();
        match runs.by_name(wanted) {
            Ok(folder) => self.add_run(folder),
            Err(_) if path.is_dir() => self.scan(&runs_in(path), |_| true),
            Err(unknown) => {
                let has_name = |run: &ShardRun| wanted == OsStr::new(&run.record().name);
                let here = self.session.directories.runs();
                let shards = shards_in(&here)?;
                if shards.iter().any(has_name) {
                    self.scan(&here, has_name)
                } else {
                    Err(unknown)
                }
            }
        }
    }

    fn add_run(&mut self, folder: RunFolder) -> Result<()> {
        let name = folder.name();
        let Some(run) = ShardRun::of(StoredRun::of_folder(folder)?)? else {
            bail!(
                "run `{name}` is not a shard: it has all cases of its benchmark, so there is nothing to merge"
            );
        };
        if let Some(rejudged) = run.record().rejudged() {
            bail!(
                "run `{name}` judged the answers of `{}` again; merge the shards themselves, then judge the merged run with \
                 `evaluations rejudge`",
                rejudged.source.run
            );
        }
        self.named.insert(name);
        self.keep(run);
        Ok(())
    }

    /// Keeps a run once, however often it is named.
    fn keep(&mut self, run: ShardRun) {
        if self
            .found
            .iter()
            .all(|known| !known.run.is_same_as(&run.run))
        {
            self.found.push(run);
        }
    }

    /// Adds the wanted shards in a folder of runs: of each run its newest shards.
    fn scan(&mut self, folder: &Path, is_wanted: impl Fn(&ShardRun) -> bool) -> Result<()> {
        let mut runs: BTreeMap<RunKey, Vec<ShardRun>> = BTreeMap::new();
        let mut order = Vec::new();
        for run in shards_in(folder)?.into_iter().filter(is_wanted) {
            let key = run.key();
            if !runs.contains_key(&key) {
                order.push(key.clone());
            }
            runs.entry(key).or_default().push(run);
        }
        if runs.is_empty() {
            bail!(
                "there are no shards in `{}`; `evaluations DATASET --shard I/N` makes them",
                folder.display()
            );
        }
        for key in order {
            for run in newest(runs.remove(&key).unwrap_or_default()) {
                self.keep(run);
            }
        }
        Ok(())
    }
}

/// The folder with the runs of a data folder, or the folder itself.
fn runs_in(folder: &Path) -> PathBuf {
    let runs = folder.join(RUNS);
    if runs.is_dir() {
        runs
    } else {
        folder.to_owned()
    }
}

/// All shards in a folder of runs, oldest first, without those that judged answers again.
fn shards_in(folder: &Path) -> Result<Vec<ShardRun>> {
    let mut shards = Vec::new();
    for folder in RunFolder::list(folder)? {
        // A run that this version cannot read is no reason not to merge others.
        if let Ok(run) = StoredRun::of_folder(folder) {
            let shard = ShardRun::of(run)?;
            shards.extend(shard.filter(|shard| shard.record().rejudged().is_none()));
        }
    }
    Ok(shards)
}

/// The newest run of each shard, of those that were split as the newest run is. A run that ended comes before a newer one that did not:
/// the retrieval benchmark starts over when its command is given again.
fn newest(shards: Vec<ShardRun>) -> Vec<ShardRun> {
    let of = shards.last().map(|run| run.header().of);
    let mut newest: BTreeMap<u32, ShardRun> = BTreeMap::new();
    for run in shards {
        let shard = run.header();
        let is_outdone = newest
            .get(&shard.index)
            .is_some_and(|known| known.run.state().is_complete() && !run.run.state().is_complete());
        if Some(shard.of) == of && !is_outdone {
            newest.insert(shard.index, run);
        }
    }
    newest.into_values().collect()
}
