//! The report of a dataset file's run: the facts beside its cases, and what its judges cost.

mod costs;
mod facts;
mod judge_records;

pub(crate) use self::costs::{Costs, INPUT_TOKENS, OUTPUT_TOKENS, payments};
pub(crate) use self::facts::EvalFacts;
pub(crate) use self::judge_records::judge_records;
