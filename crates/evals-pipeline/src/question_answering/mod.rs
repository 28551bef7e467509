//! Question answering for `run` and `rejudge`: opens the models, adds up costs and finishes the report.

mod answering;
pub(crate) mod calls;
mod closing;
mod costs;
mod facts;
mod further_judges;
mod judge_estimate;
mod judge_records;
mod judging;
pub(crate) mod labelled;
mod model_set;

pub(crate) use self::answering::Answering;
pub(crate) use self::closing::Closing;
pub use self::costs::{Attempts, Costs, spent};
pub use self::facts::QaFacts;
pub(crate) use self::judge_estimate::{JudgeRow, foreseen, judge_rows, judging, references};
pub use self::judge_records::JUDGES;
pub(crate) use self::judging::{Judging, JudgingPlan};
pub use self::model_set::{ModelRecord, ModelSet};
