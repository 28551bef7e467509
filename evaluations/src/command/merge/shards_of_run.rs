//! The shards of one run, and whether they are all of it.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use evals_messages::quantity;

use super::shard_run::{RunKey, ShardRun};
/// Most differences that are listed.
const LISTED: usize = 8;

/// The shards of one run, in the order of their numbers.
#[derive(Debug)]
pub(super) struct ShardsOfRun(Vec<ShardRun>);

impl ShardsOfRun {
    /// The shards of each benchmark, dataset, name and profile, in the order in which these were found.
    pub(super) fn group(shards: Vec<ShardRun>) -> Vec<Self> {
        let mut places: BTreeMap<RunKey, usize> = BTreeMap::new();
        let mut runs: Vec<Self> = Vec::new();
        for shard in shards {
            let place = *places.entry(shard.key()).or_insert(runs.len());
            match runs.get_mut(place) {
                Some(run) => run.0.push(shard),
                None => runs.push(Self(vec![shard])),
            }
        }
        for run in &mut runs {
            run.0.sort_by_key(|shard| shard.header().index);
        }
        runs
    }

    pub(super) fn shards(&self) -> &[ShardRun] {
        &self.0
    }

    /// The shard whose record of the run stands for all.
    pub(super) fn first(&self) -> &ShardRun {
        &self.0[0]
    }

    /// The number of cases of all shards together.
    pub(super) fn cases(&self) -> usize {
        self.first().header().cases
    }

    /// Fails unless the shards are parts of one run, none is missing or doubled, and each is finished.
    pub(super) fn check(&self) -> Result<()> {
        self.check_agreement()?;
        self.check_doubles()?;
        self.0.iter().try_for_each(ShardRun::check_finished)?;
        self.check_complete()
    }

    fn check_agreement(&self) -> Result<()> {
        let first = self.first();
        let wanted = first.shared();
        for other in &self.0[1..] {
            let mut lines = wanted.differences(&other.shared());
            if lines.is_empty() {
                continue;
            }
            if lines.len() > LISTED {
                let more = lines.len() - LISTED;
                lines.truncate(LISTED);
                lines.push(format!("and {more} more"));
            }
            bail!(
                "`{}` and `{}` are shards of different runs; these values differ:\n  {}",
                first.name(),
                other.name(),
                lines.join("\n  ")
            );
        }
        Ok(())
    }

    fn check_doubles(&self) -> Result<()> {
        let mut pairs = self.0.windows(2);
        let double = pairs.find(|pair| pair[0].header().index == pair[1].header().index);
        let Some([one, other]) = double else {
            return Ok(());
        };
        bail!(
            "{} is there twice: `{}` and `{}`; name the runs to merge, one of each shard",
            one.header(),
            one.run.path().display(),
            other.run.path().display()
        );
    }

    /// Fails if cases are left out. A shard without cases needs no run.
    fn check_complete(&self) -> Result<()> {
        let of = self.first().header().of;
        let mut times = vec![0_u32; self.cases()];
        for place in self.0.iter().flat_map(|shard| shard.shard.places.iter()) {
            times[place] = times[place].saturating_add(1);
        }
        let left_out = times.iter().filter(|times| **times == 0).count();
        let has_run = |index: &u32| self.0.iter().any(|run| run.header().index == *index);
        let missing: Vec<u32> = (1..=of).filter(|index| !has_run(index)).collect();
        if left_out > 0 && !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(u32::to_string).collect();
            let what = match names.as_slice() {
                [one] => format!("shard {one} of {of} is missing"),
                several => format!("shards {} of {of} are missing", several.join(", ")),
            };
            bail!(
                "{what} beside {}, and with it {} of {}; {} runs shard {}",
                self.first().title(),
                quantity::of(left_out, "case"),
                self.cases(),
                self.first().command_of(missing[0]),
                missing[0]
            );
        }
        if times.iter().any(|times| *times != 1) {
            bail!(
                "the records of the shards of `{}` are damaged: their cases are not those of one run",
                self.first().record().name
            );
        }
        Ok(())
    }
}
