//! Question answering as `run` and `rejudge` share it: who answers and judges, resuming, costs, and the end of a run.

mod answering;
mod closing;
mod costs;
mod judging;
mod model_set;
mod resume;

pub(crate) use self::answering::Answering;
pub(crate) use self::closing::{Closing, Finished};
pub(crate) use self::costs::{Attempts, spent};
pub(crate) use self::judging::{Judging, JudgingPlan, case_timeout};
pub(crate) use self::model_set::ModelSet;
pub(crate) use self::resume::{Opened, Resume, has_transient_failures, open};
