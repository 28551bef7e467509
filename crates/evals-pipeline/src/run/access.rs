//! What a run opens its models with: the servers, the budget, and the signal that ends the run.

use std::sync::Arc;

use evals::StopSignal;
use evals_settings::Resolved;
use evals_stores::store::RefreshPolicy;

use crate::interruption::Interruption;
use crate::models::{ConfiguredModels, Servers};
use crate::options::RunArgs;
use crate::run_models::Opener;
use crate::session::Session;
use crate::spending::Spending;

/// The servers of a run, and what its calls cost.
pub(super) struct ModelAccess<'r> {
    session: &'r Session<'r>,
    resolved: &'r Resolved,
    models: &'r ConfiguredModels,
    interruption: &'r Interruption,
    pub(super) servers: Servers<'r>,
    pub(super) spending: Arc<Spending>,
    /// Ends a run early: when the budget is spent, or on a failure that the user has to fix.
    pub(super) stop: StopSignal,
}

impl<'r> ModelAccess<'r> {
    pub(super) fn new(
        session: &'r Session<'r>,
        arguments: &RunArgs,
        resolved: &'r Resolved,
        models: &'r ConfiguredModels,
        interruption: &'r Interruption,
    ) -> Self {
        let seed = arguments.control.seed;
        let servers = Servers::new(resolved, models, session.printer, seed);
        let stop = interruption.stop();
        Self {
            session,
            resolved,
            models,
            interruption,
            servers: servers
                .interrupted_by(interruption)
                .pulling(arguments.control.pull),
            spending: Spending::new(arguments.control.budget, stop.clone()),
            stop,
        }
    }

    /// Opens models with their stores as `cache` says; `None` uses no store.
    pub(super) fn opener(&mut self, cache: Option<RefreshPolicy>) -> Opener<'_, 'r> {
        Opener::new(
            self.session,
            self.resolved,
            self.models,
            &mut self.servers,
            cache,
            &self.spending,
            self.interruption,
        )
    }
}
