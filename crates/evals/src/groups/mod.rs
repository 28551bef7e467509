//! Cases in groups, by a key of their metadata or by a fact.

mod members;
mod name;
mod summary;

pub use members::GroupError;
pub(crate) use members::{check_key, members, metadata_keys};
pub use name::{NO_GROUP, group_name};
pub use summary::{Group, GroupMean, Groups};
