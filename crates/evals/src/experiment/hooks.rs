//! Calls the hooks of a case, with errors and panics as data.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use futures::FutureExt as _;

use super::timeout::{Clock, HookStep};
use crate::{Case, CaseReport, Domain, Lifecycle, Prepared, TaskError, TaskFailure};

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
        let setup = guarded(async { self.0.setup(case).await });
        clock.step(HookStep::Setup, setup).await
    }

    pub(super) async fn prepare(
        &mut self,
        prepared: &mut Prepared<'_, D>,
        clock: Clock<'_>,
    ) -> Result<(), TaskFailure> {
        let prepare = guarded(async { self.0.prepare_context(prepared).await });
        clock.step(HookStep::Prepare, prepare).await
    }

    /// Runs the teardown with a time limit of its own, and returns its failure.
    pub(super) async fn teardown(
        mut self,
        report: Option<&CaseReport<D>>,
        clock: Clock<'_>,
    ) -> Option<TaskFailure> {
        let teardown = guarded(async { self.0.teardown(report).await });
        clock.step(HookStep::Teardown, teardown).await.err()
    }
}

/// Turns an error or a panic into a failure.
async fn guarded(hook: impl Future<Output = Result<(), TaskError>>) -> Result<(), TaskFailure> {
    match AssertUnwindSafe(hook).catch_unwind().await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(TaskFailure::from_error(&error)),
        Err(payload) => Err(TaskFailure::from_panic(&*payload)),
    }
}
