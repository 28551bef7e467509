//! The rules, runs and verdicts of `gate`, and of its simulation.

mod github;
mod names;
mod out;
mod rules;
mod rules_file;
mod subjects;

pub(crate) use self::github::announce;
pub(crate) use self::names::Names;
pub(crate) use self::out::{VerdictFile, VerdictFormat};
pub(crate) use self::rules::{Gating, gate, gating};
pub(crate) use self::subjects::{Side, baselines, matched, runs};
