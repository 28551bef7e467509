//! Cases in groups, by a key of their metadata or by a fact.

mod members;
mod summary;

pub use members::{GroupError, NO_GROUP, group_name};
pub(crate) use members::{check_key, members, metadata_keys};
pub use summary::{Group, GroupMean, Groups};
