//! A searcher that has the results of a batch of questions.

use std::collections::HashMap;
use std::fmt;

use async_trait::async_trait;
use evals_rag::{Retrieved, SearchError, Searcher};

use super::observer::BatchObserver;
use super::questions::QuestionBatch;
use super::run::{self, Answer, Timed};
use crate::error::IndexError;
use crate::search::searcher::IndexSearcher;
use crate::search::{Cache, hit, passages};

/// One profile over one index, with the results of a batch.
pub(crate) struct BatchSearcher {
    searcher: IndexSearcher,
    /// The `k` of the batch.
    k: usize,
    answers: HashMap<String, Answer>,
}

impl BatchSearcher {
    /// Searches the questions of `batch`.
    pub(crate) async fn run(
        searcher: IndexSearcher,
        batch: &QuestionBatch,
        observer: &dyn BatchObserver,
    ) -> Result<Self, IndexError> {
        // A server compares vectors by itself, and does not hand them out.
        let answers = if searcher.contents.table.dataset().is_some() {
            let run = run::run(&searcher, batch, observer);
            searcher.contents.guarded(run).await?
        } else {
            HashMap::new()
        };
        Ok(Self {
            searcher,
            k: batch.k,
            answers,
        })
    }

    async fn found(&self, answer: &Answer) -> Result<Retrieved, IndexError> {
        let contents = &self.searcher.contents;
        let mut timings = answer.timings.clone();
        let passages = if self.searcher.wants_passages() {
            let fetch = passages::fetch(&answer.passages, &contents.table, &contents.positions);
            timings.measure("passages", fetch).await?
        } else {
            Vec::new()
        };
        Ok(Retrieved {
            ranking: hit::best_documents(&answer.documents, self.k, &contents.positions)?,
            passages,
            timings: timings.into_stages(),
            in_batch: true,
            ..Retrieved::default()
        })
    }

    /// Searches the question on its own, which takes the time that is measured.
    async fn again(
        &self,
        question: &str,
        answer: &Answer,
        Timed(embedded): &Timed,
    ) -> Result<Retrieved, IndexError> {
        let cache = self.searcher.cache.clone();
        let cache = cache.unwrap_or_else(|| Cache::default().into());
        let retrieve = self
            .searcher
            .retrieve(question, self.k, &cache, embedded.as_ref());
        let retrieved = Box::pin(retrieve).await?;
        let expected = self.found(answer).await?;
        if retrieved.ranking == expected.ranking && retrieved.passages == expected.passages {
            return Ok(retrieved);
        }
        Err(IndexError::Inconsistent {
            profile: self.searcher.name.clone(),
            question: question.to_owned(),
        })
    }
}

#[async_trait]
impl Searcher for BatchSearcher {
    fn profile(&self) -> &str {
        &self.searcher.name
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        let Some(answer) = self.answers.get(question).filter(|_| k == self.k) else {
            return self.searcher.search(question, k).await;
        };
        let retrieve = async {
            match &answer.timed {
                Some(timed) => self.again(question, answer, timed).await,
                None => self.found(answer).await,
            }
        };
        let retrieved = self.searcher.contents.guarded(Box::pin(retrieve)).await;
        retrieved.map_err(SearchError::new)
    }
}

impl fmt::Debug for BatchSearcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BatchSearcher")
            .field("searcher", &self.searcher)
            .field("k", &self.k)
            .field("answers", &self.answers.len())
            .finish_non_exhaustive()
    }
}
