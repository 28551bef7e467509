//! The task of question answering: search, cut the context, answer.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use evals::{Case, TaskError, TaskScope};
use futures::future::BoxFuture;

use super::context::{self, Budget};
use super::{Answer, Expansion, Qa};
use crate::answering::Answerer;
use crate::call::{self, Purpose};
use crate::{Passage, SearchError, Searcher};

/// The settings that turn passages into the context of an answer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The number of documents to search for, and the most passages to show to the answerer.
    pub limit: NonZeroUsize,
    /// Widens passages by the chunks around them; `None` keeps them unchanged.
    pub expansion: Option<Expansion>,
    /// Limits the tokens of the context; `None` sets no limit.
    pub budget: Option<Budget>,
}

impl Settings {
    /// Shows up to `limit` passages unchanged, however long they are.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self {
            limit,
            expansion: None,
            budget: None,
        }
    }
}

/// Makes the task: search, cut the context, answer.
///
/// Records the search's stages, `neighbours` if passages are widened, and the answerer's calls under the names of
/// [`Purpose::Answerer`], those of a failed answer included; also the metrics `context passages` and, with a budget,
/// `context tokens`. If the best passage was cut, the attribute `context cut from` holds its original number of tokens.
pub fn task(
    searcher: Arc<dyn Searcher>,
    answerer: Arc<dyn Answerer>,
    settings: Settings,
) -> impl Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>> {
    let pipeline = Arc::new(Pipeline {
        searcher,
        answerer,
        settings,
    });
    move |case, scope| {
        let pipeline = Arc::clone(&pipeline);
        Box::pin(async move { pipeline.run(&case, &scope).await })
    }
}

/// The searcher, the answerer and the settings of the task.
#[derive(Debug)]
struct Pipeline {
    searcher: Arc<dyn Searcher>,
    answerer: Arc<dyn Answerer>,
    settings: Settings,
}

impl Pipeline {
    async fn run(&self, case: &Case<Qa>, scope: &TaskScope) -> Result<Answer, TaskError> {
        let limit = self.settings.limit.get();
        let searched = self
            .searcher
            .search_again(&case.input, limit, scope.repeat());
        let mut retrieved = searched.await.map_err(SearchError::of_task)?;
        retrieved.passages.truncate(limit);
        retrieved.record(scope);
        let passages = self.context(retrieved.passages, scope).await?;
        let answered = self.answerer.answer(&case.input, &passages, scope.repeat());
        match answered.await {
            Ok(answered) => {
                call::record(&answered.calls, Purpose::Answerer, scope);
                Ok(Answer::new(answered, passages, retrieved.ranking))
            }
            Err(error) => {
                call::record(&error.calls, Purpose::Answerer, scope);
                Err(error.of_task())
            }
        }
    }

    /// The passages for the answerer.
    async fn context(
        &self,
        mut passages: Vec<Passage>,
        scope: &TaskScope,
    ) -> Result<Vec<Passage>, SearchError> {
        if let Some(expansion) = &self.settings.expansion {
            let started = Instant::now();
            passages = expansion.widen(passages).await?;
            scope.timing("neighbours", started.elapsed());
        }
        if let Some(budget) = &self.settings.budget {
            let fitted = context::fit(passages, budget);
            scope.metric("context tokens", call::number(fitted.tokens));
            if let Some(tokens) = fitted.cut_from {
                scope.attribute("context cut from", tokens);
            }
            passages = fitted.passages;
        }
        scope.metric("context passages", call::number(passages.len()));
        Ok(passages)
    }
}
