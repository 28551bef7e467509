//! What the commands `gate`, `baseline` and `aa` share: rules, and the numbers of stored runs.

mod github;
mod names;
mod out;
mod rules;
mod rules_file;
mod stored_snapshot;
mod subjects;

pub(crate) use self::github::announce;
pub(crate) use self::names::means;
pub(crate) use self::out::{VerdictFile, VerdictFormat};
pub(crate) use self::rules::gate;
pub(crate) use self::stored_snapshot::{finished, settings, snapshot};
pub(crate) use self::subjects::{baselines, matched, runs};
