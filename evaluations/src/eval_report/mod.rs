//! The report of a dataset file's run: the facts beside its cases, and what its judges cost.

mod costs;
mod facts;
mod judge_records;

pub(crate) use self::costs::{Costs, INPUT_TOKENS, OUTPUT_TOKENS, payments};
pub(crate) use self::facts::EvalFacts;
pub(crate) use self::judge_records::judge_records;

/// The member of a shard's manifest, below `dataset`, that lists the evaluators of the report as a dataset file does.
pub(crate) const REPORT_EVALUATORS: &str = "report_evaluators";
/// The member beside it of a shard whose judges vote, so that the report counts how far they agree.
pub(crate) const VOTES: &str = "judges_vote";
