//! The task of question answering: search, cut the context, answer.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals::{Case, TaskError, TaskScope};
use futures::future::BoxFuture;

use super::context::{self, Budget};
use super::{Answer, Expansion, Qa};
use crate::answering::{AgentAnswerer, AgentSearch, Answerer};
use crate::call::{self, Call, Purpose};
use crate::{Passage, Queries, Retrieved, SearchError, Searcher, ranking_in_order};

/// The settings that turn passages into the context of an answer.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The number of documents to search for, and the most passages to show to the answerer.
    pub limit: NonZeroUsize,
    /// Widens passages by the chunks around them; `None` keeps them unchanged.
    pub expansion: Option<Expansion>,
    /// Limits the tokens of the context; `None` sets no limit.
    pub budget: Option<Budget>,
    /// Whether the run uses batches. All cases then run at once and wait for each other, and the duration of a case leaves these waits out:
    /// of an answer, also of an agent's, it counts the time that the calls and the searches took.
    pub in_batches: bool,
    /// What is searched in the place of the inputs of cases. An agent writes its queries itself.
    pub queries: Queries,
}

impl Settings {
    /// Shows up to `limit` passages unchanged, however long they are.
    pub fn new(limit: NonZeroUsize) -> Self {
        Self {
            limit,
            expansion: None,
            budget: None,
            in_batches: false,
            queries: Queries::default(),
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
    let retrieval = Retrieval { searcher, settings };
    let pipeline = Arc::new((retrieval, answerer));
    move |case, scope| {
        let pipeline = Arc::clone(&pipeline);
        Box::pin(async move {
            let (retrieval, answerer) = &*pipeline;
            retrieval.answer(&**answerer, &case, &scope).await
        })
    }
}

/// Makes the task of an agent, which searches by itself.
///
/// Each of its searches finds and cuts passages as [`task`] does, and records the same. `context passages` counts the passages that the
/// model was shown, each once, and `context tokens` those of all results. The metric `searches` counts its searches. The ranking holds
/// all documents found, in the order in which they were first found.
pub fn agent_task(
    searcher: Arc<dyn Searcher>,
    agent: AgentAnswerer,
    settings: Settings,
) -> impl Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>> {
    let retrieval = Retrieval { searcher, settings };
    let pipeline = Arc::new((retrieval, agent));
    move |case, scope| {
        let pipeline = Arc::clone(&pipeline);
        Box::pin(async move {
            let (retrieval, agent) = &*pipeline;
            retrieval.answer_as_agent(agent, &case, &scope).await
        })
    }
}

/// The searcher, and the settings of the context.
#[derive(Debug)]
struct Retrieval {
    searcher: Arc<dyn Searcher>,
    settings: Settings,
}

/// The searches of an agent for one case.
struct Searches<'a> {
    retrieval: &'a Retrieval,
    scope: &'a TaskScope,
    /// The documents found, in the order in which they were first found.
    documents: Vec<String>,
    /// How long the searches took, with their waits.
    took: Duration,
}

#[async_trait]
impl AgentSearch for Searches<'_> {
    async fn search(&mut self, query: &str) -> Result<Vec<Passage>, SearchError> {
        let began = Instant::now();
        let found = self.find(query).await;
        self.took += began.elapsed();
        found
    }
}

impl Searches<'_> {
    async fn find(&mut self, query: &str) -> Result<Vec<Passage>, SearchError> {
        let retrieved = self.retrieval.search(query, self.scope).await?;
        for document in &retrieved.ranking {
            if !self.documents.contains(&document.id) {
                self.documents.push(document.id.clone());
            }
        }
        self.retrieval.context(retrieved.passages, self.scope).await
    }
}

impl Retrieval {
    async fn answer(
        &self,
        answerer: &dyn Answerer,
        case: &Case<Qa>,
        scope: &TaskScope,
    ) -> Result<Answer, TaskError> {
        let queries = &self.settings.queries;
        let query = queries.of(case.id.as_str(), &case.input, scope).await?;
        let query = query.as_deref().unwrap_or(&case.input);
        let retrieved = self.search(query, scope).await;
        let retrieved = retrieved.map_err(SearchError::of_task)?;
        let passages = self.context(retrieved.passages, scope).await;
        let passages = passages.map_err(SearchError::of_task)?;
        scope.metric("context passages", call::number(passages.len()));
        let began = Instant::now();
        let answered = answerer.answer(&case.input, &passages, scope.repeat());
        let answered = answered.await;
        let calls = match &answered {
            Ok(answered) => &answered.calls,
            Err(error) => &error.calls,
        };
        self.leave_waits_out(began.elapsed(), calls, scope);
        call::record(calls, Purpose::Answerer, scope);
        match answered {
            Ok(answered) => Ok(Answer::new(answered, passages, retrieved.ranking)),
            Err(error) => Err(error.of_task()),
        }
    }

    async fn answer_as_agent(
        &self,
        agent: &AgentAnswerer,
        case: &Case<Qa>,
        scope: &TaskScope,
    ) -> Result<Answer, TaskError> {
        let mut searches = Searches {
            retrieval: self,
            scope,
            documents: Vec::new(),
            took: Duration::ZERO,
        };
        let began = Instant::now();
        let answered = agent.answer(&case.input, &mut searches, scope.repeat(), scope);
        let answered = answered.await;
        let calls = match &answered {
            Ok(it) => &it.answered.calls,
            Err(error) => &error.calls,
        };
        // The searches leave their own waits out.
        let asking = began.elapsed().saturating_sub(searches.took);
        self.leave_waits_out(asking, calls, scope);
        call::record(calls, Purpose::Answerer, scope);
        match answered {
            Ok(it) => {
                scope.metric("context passages", call::number(it.passages.len()));
                scope.metric("searches", call::number(it.searches.len()));
                let ranking = ranking_in_order(searches.documents)?;
                let answer = Answer::new(it.answered, it.passages, ranking);
                Ok(Answer {
                    searches: Some(it.searches),
                    ..answer
                })
            }
            Err(error) => Err(error.of_task()),
        }
    }

    /// Leaves the waits out of the duration of a case that spent `asking` on these calls.
    fn leave_waits_out(&self, asking: Duration, calls: &[Call], scope: &TaskScope) {
        // Without batches, too, a reply may come from a batch: that of an earlier session.
        if !self.settings.in_batches && !calls.iter().any(|call| call.batched) {
            return;
        }
        let own = calls.iter().filter(|call| !call.cached);
        let own = own.map(|call| call.service_time).sum();
        scope.leave_out(asking.saturating_sub(own));
    }

    /// Searches, and records the stages.
    async fn search(&self, query: &str, scope: &TaskScope) -> Result<Retrieved, SearchError> {
        let limit = self.settings.limit.get();
        let searched = self.searcher.search_again(query, limit, scope.repeat());
        let mut retrieved = searched.await?;
        retrieved.passages.truncate(limit);
        retrieved.record(scope);
        Ok(retrieved)
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
            scope.add_metric("context tokens", call::number(fitted.tokens));
            if let Some(tokens) = fitted.cut_from {
                scope.attribute("context cut from", tokens);
            }
            passages = fitted.passages;
        }
        Ok(passages)
    }
}
