//! Cases in groups, by a key of their metadata.

mod name;

pub use name::{NO_GROUP, group_name};
