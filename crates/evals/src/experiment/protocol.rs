//! How every case of a run is run.

use std::sync::Arc;

use super::CaseTimeout;
use super::hooks::Factory;
use super::retry::Retry;
use super::roster::Enrolled;
use crate::{Domain, StopSignal};

/// How every case of a run is run.
pub(super) struct RunProtocol<D: Domain> {
    pub(super) timeout: Option<CaseTimeout>,
    pub(super) retry_task: Option<Retry>,
    pub(super) retry_evaluators: Option<Retry>,
    pub(super) lifecycle: Option<Arc<Factory<D>>>,
    /// The dataset's evaluators.
    pub(super) evaluators: Vec<Enrolled<D>>,
    /// Set once no further case starts. Nothing is retried from then on.
    pub(super) stop: StopSignal,
}
