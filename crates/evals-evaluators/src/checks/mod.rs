//! Evaluators that ask no model.

mod argument;
mod check;
mod duration;
mod equality;
mod instance;

use crate::Entry;

/// The evaluators that ask no model.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = Vec::from(equality::entries());
    entries.extend([instance::entry(), duration::entry()]);
    entries
}
