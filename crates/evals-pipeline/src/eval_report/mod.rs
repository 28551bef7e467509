//! The report of a dataset file's run: the facts beside its cases, and what its judges cost.

mod costs;
mod facts;
mod judge_records;

pub use self::costs::{Costs, INPUT_TOKENS, OUTPUT_TOKENS, payments};
pub use self::facts::EvalFacts;
pub use self::judge_records::judge_records;
