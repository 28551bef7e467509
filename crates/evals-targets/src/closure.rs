//! A target that is a closure.

use std::fmt;

use async_trait::async_trait;

use crate::{Reply, Request, Target, TargetError, TargetIdentity};

/// A target that is a closure of the program that runs the benchmark.
pub struct FnTarget<F> {
    identity: TargetIdentity,
    ask: F,
}

impl<F, R> FnTarget<F>
where
    F: Fn(Request) -> R + Send + Sync,
    R: Future<Output = Result<Reply, TargetError>> + Send,
{
    /// A target of this name.
    pub fn new(name: impl Into<String>, ask: F) -> Self {
        Self {
            identity: TargetIdentity::new("fn", name),
            ask,
        }
    }
}

#[async_trait]
impl<F, R> Target for FnTarget<F>
where
    F: Fn(Request) -> R + Send + Sync,
    R: Future<Output = Result<Reply, TargetError>> + Send,
{
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        (self.ask)(request.clone()).await
    }
}

impl<F> fmt::Debug for FnTarget<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FnTarget")
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}
