//! Calls the hooks of a case, with errors and panics as data.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use super::timeout::Clock;
use crate::{Case, CaseReport, Domain, Lifecycle, Prepared, TaskFailure};

/// Makes the hooks of one repetition of a case.
pub(super) type Factory<D> = dyn Fn(&Arc<Case<D>>) -> Box<dyn Lifecycle<D>> + Send + Sync;

/// The hooks of one repetition of a case.
pub(super) struct Hooks<D: Domain>(Box<dyn Lifecycle<D>>);

/// The hooks of an experiment without a lifecycle.
struct NoHooks;

impl<D: Domain> Lifecycle<D> for NoHooks {}

impl<D: Domain> Hooks<D> {
    /// Makes the hooks. The failure says that the factory panicked.
    pub(super) fn of(
        factory: Option<&Factory<D>>,
        case: &Arc<Case<D>>,
    ) -> (Self, Result<(), TaskFailure>) {
        let make = || factory.map_or_else(|| Box::new(NoHooks) as _, |factory| factory(case));
        match panic::catch_unwind(AssertUnwindSafe(make)) {
            Ok(lifecycle) => (Self(lifecycle), Ok(())),
            Err(payload) => {
                let failure = TaskFailure::from_panic(&*payload);
                (Self(Box::new(NoHooks)), Err(failure))
            }
        }
    }

    pub(super) async fn setup(
        &mut self,
        case: &Case<D>,
        clock: Clock<'_>,
    ) -> Result<(), TaskFailure> {
        let setup = TaskFailure::guard(async { self.0.setup(case).await });
        clock.step("the setup of the case", setup).await
    }

    pub(super) async fn prepare(
        &mut self,
        prepared: &mut Prepared<'_, D>,
        clock: Clock<'_>,
    ) -> Result<(), TaskFailure> {
        let prepare = TaskFailure::guard(async { self.0.prepare_context(prepared).await });
        clock.step("the hook before the evaluators", prepare).await
    }

    /// Runs the teardown with a time limit of its own, and returns its failure.
    pub(super) async fn teardown(
        mut self,
        report: Option<&CaseReport<D>>,
        clock: Clock<'_>,
    ) -> Option<TaskFailure> {
        let teardown = TaskFailure::guard(async { self.0.teardown(report).await });
        clock.step("the teardown of the case", teardown).await.err()
    }
}
