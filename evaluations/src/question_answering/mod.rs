//! Question answering for `run` and `rejudge`: opens the models, resumes runs, adds up costs and finishes the report.

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
