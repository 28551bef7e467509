//! A target as the system of both benchmarks.

use std::num::NonZeroUsize;
use std::sync::Arc;

use evals::{Case, FailureClass, TaskError, TaskScope};
use evals_targets::{Inputs, Reply, Request, Target};
use futures::future::BoxFuture;

use super::conversations::Conversations;
use super::matching::{MatchRecord, Matched, Matcher};
use super::reading::{self, ReadingError};
use crate::answering::Refusals;
use crate::call::{self, Purpose};
use crate::qa::{Answer, Qa};
use crate::retrieval::IdenticalIds;
use crate::{Retrieval, Retrieved};

/// A target, and how its replies are read.
#[derive(Debug)]
pub struct TargetSystem {
    /// The target. If both benchmarks run, a reader of a [`RecordedTarget`](evals_targets::RecordedTarget) for each.
    pub target: Arc<dyn Target>,
    /// Matches the documents of a reply to those of the corpus.
    pub matcher: Arc<Matcher>,
    /// The sentences that are refusals, for replies that do not say whether they refuse.
    pub refusals: Refusals,
    /// How many documents of a reply count. The request names it, as a hint.
    pub k: NonZeroUsize,
    /// The conversations that questions are part of.
    pub conversations: Conversations,
}

/// Makes the task that asks a target for documents.
///
/// Records what [`Reply::record`] does, the tokens under the names of [`Purpose::Answerer`], and as attributes how the documents
/// were matched ([`MatchRecord::ATTRIBUTE`]), and the model and the version that the reply names ([`TargetSystem::MODEL`],
/// [`TargetSystem::VERSION`]).
pub fn retrieval_task(
    system: Arc<TargetSystem>,
    identical: IdenticalIds,
) -> impl Fn(Arc<Case<Retrieval>>, TaskScope) -> BoxFuture<'static, Result<Retrieved, TaskError>> {
    move |case, scope| {
        let system = Arc::clone(&system);
        Box::pin(async move {
            let (reply, matched) = system.ask(case.id.as_str(), &case.input, &scope).await?;
            let left_out = match identical {
                IdenticalIds::Keep => None,
                IdenticalIds::LeaveOut => Some(case.id.as_str()),
            };
            let with_passages = !case.metadata.evidence.is_empty();
            let retrieved = reading::retrieved(&reply, &matched, system.k, left_out, with_passages);
            retrieved.map_err(|error| system.unusable(case.id.as_str(), &scope, error))
        })
    }
}

/// Makes the task that asks a target for an answer. Records the same as [`retrieval_task`].
pub fn qa_task(
    system: Arc<TargetSystem>,
) -> impl Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>> {
    move |case, scope| {
        let system = Arc::clone(&system);
        Box::pin(async move {
            let (reply, matched) = system.ask(case.id.as_str(), &case.input, &scope).await?;
            let TargetSystem {
                matcher,
                refusals,
                k,
                ..
            } = &*system;
            let answer = reading::answer(&reply, &matched, *k, matcher, refusals);
            answer.map_err(|error| system.unusable(case.id.as_str(), &scope, error))
        })
    }
}

/// Records a reply, with its tokens, model and version.
pub(super) fn record(reply: &Reply, target: &dyn Target, scope: &TaskScope) {
    reply.record(target.identity(), scope);
    if let Some(usage) = reply.usage {
        call::record_usage(usage, Purpose::Answerer, scope);
    }
    let named = [
        (TargetSystem::MODEL, &reply.model),
        (TargetSystem::VERSION, &reply.version),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            scope.attribute(name, value.as_str());
        }
    }
}

impl TargetSystem {
    /// The attribute of a case that holds the model which the reply names.
    pub const MODEL: &str = "target model";
    /// The attribute of a case that holds the version which the reply names.
    pub const VERSION: &str = "target version";

    /// Asks a question and matches the documents of the reply.
    async fn ask(
        &self,
        id: &str,
        question: &str,
        scope: &TaskScope,
    ) -> Result<(Reply, Vec<Matched>), TaskError> {
        let request = Request {
            id: id.to_owned(),
            repeat: scope.repeat(),
            inputs: Inputs::Question(question.to_owned()),
            k: Some(self.k.get()),
            vector: None,
            conversation: None,
        };
        let reply = self.conversations.ask(&*self.target, request, scope).await;
        let reply = reply.map_err(evals_targets::TargetError::into_task_error)?;
        reading::check(&reply).map_err(|error| self.unusable(id, scope, error))?;
        let documents = reply.documents.as_deref().unwrap_or_default();
        // The same for every case.
        let matched = self.matcher.documents(documents).await;
        let matched =
            matched.map_err(|error| TaskError::new(error).classed(FailureClass::Terminal))?;
        if reply.documents.is_some() {
            let record = MatchRecord {
                scores: reading::score_use(&reply),
                ..MatchRecord::of(&matched)
            };
            scope.attribute(MatchRecord::ATTRIBUTE, serde_json::to_value(record)?);
        }
        Ok((reply, matched))
    }

    /// The failure of a case that cannot use its reply. A conversation does not go on from there.
    fn unusable(&self, case: &str, scope: &TaskScope, error: ReadingError) -> TaskError {
        self.conversations.end(case, scope.repeat());
        TaskError::new(error).classed(FailureClass::Content)
    }
}
