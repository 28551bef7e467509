//! The record of a shard in the manifest and the report of its run.

use std::fmt;

use evals_messages::quantity;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::places::Places;
use crate::Notes;

/// Which shard a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardHeader {
    /// From 1.
    pub index: u32,
    /// The number of shards.
    pub of: u32,
    /// The number of cases of all shards together.
    pub cases: usize,
}

/// The record of a shard in the manifest of its run: which cases it has, and of which others it is a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardRecord {
    /// Which of how many shards it is.
    #[serde(flatten)]
    pub shard: ShardHeader,
    /// SHA-256 of the ids of the cases of all shards in their order, one in a line.
    pub ids: String,
    /// The places of its cases among all.
    pub places: Places,
}

impl ShardHeader {
    /// Whether the case with this id, or of the unit with it, belongs to the shard.
    ///
    /// The first eight bytes of the SHA-256 of the id, read as a big-endian number, modulo the number of shards, give the shard, counted
    /// from 0. So the shard of a case depends on nothing but its id and the number of shards.
    pub(super) fn takes(self, id: &str) -> bool {
        let digest = Sha256::digest(id);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        let place = u64::from_be_bytes(first).checked_rem(u64::from(self.of));
        place.is_some_and(|place| place + 1 == u64::from(self.index))
    }

    /// The key of a report's metadata that holds it, and its label among the facts.
    pub const KEY: &str = "shard";

    /// Which shard it is, and how many of all cases it has.
    pub fn text(self, cases: usize) -> String {
        let all = quantity::of(self.cases, "case");
        format!("{} of {}: {cases} of {all}", self.index, self.of)
    }
}

impl ShardRecord {
    /// As much of the record as a report holds.
    pub fn of_header(shard: ShardHeader) -> Self {
        Self {
            shard,
            ids: String::new(),
            places: Places::default(),
        }
    }

    /// SHA-256 of the ids of cases, one in a line.
    pub fn digest(ids: &[&str]) -> String {
        hex::encode(Sha256::digest(ids.join("\n")))
    }

    /// Notes which shard a run is, and how many of all cases it has.
    pub fn note(&self, notes: &dyn Notes, cases: usize) {
        let nothing = if cases == 0 {
            ", so there is nothing to run; `evaluations runs merge` needs no run of this shard"
        } else {
            ""
        };
        let text = self.shard.text(cases);
        notes.note(&format!("shard {text}{nothing}"));
    }
}

impl fmt::Display for ShardHeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "shard {} of {}", self.index, self.of)
    }
}
