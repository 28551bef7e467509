//! Shards: parts of a benchmark that run on their own, for several machines.

mod places;
mod record;
mod shard;

pub use self::places::Places;
pub use self::record::{ShardHeader, ShardRecord};
pub use self::shard::Shard;
