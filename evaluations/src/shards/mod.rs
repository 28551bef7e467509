//! Shards: parts of a benchmark that run on their own, for several machines.

mod places;
mod record;
mod shard;

pub(crate) use self::places::Places;
pub(crate) use self::record::{ShardHeader, ShardRecord};
pub(crate) use self::shard::Shard;
