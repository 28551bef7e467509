//! A searcher that knows its questions beforehand, and searches a group of them at once.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use async_trait::async_trait;
use evals_rag::{Retrieved, SearchError, Searcher};
use futures::future::BoxFuture;
use tokio::sync::{OnceCell, RwLock};

use super::QuestionBatch;
use super::observer::BatchObserver;
use super::run::{self, Answer, Timed};
use crate::error::IndexError;
use crate::profile::Profile;
use crate::search::searcher::IndexSearcher;
use crate::search::{Cache, hit, passages};

/// One profile over one index, and a batch of questions.
///
/// The first search for a question of a group searches the whole group, and the others wait for it. An interruption thus loses one group.
pub(crate) struct BatchSearcher {
    searcher: IndexSearcher,
    batch: QuestionBatch,
    observer: Arc<dyn BatchObserver>,
    /// The group of each question.
    groups: HashMap<String, Arc<Group>>,
    is_model_down: AtomicBool,
    /// Held while a group is searched, and shared by the searches whose time is measured.
    quiet: RwLock<()>,
}

/// Questions that are searched together.
#[derive(Debug)]
struct Group {
    questions: Vec<String>,
    answers: OnceCell<HashMap<String, Answer>>,
}

impl BatchSearcher {
    pub(crate) fn new(
        searcher: IndexSearcher,
        batch: QuestionBatch,
        observer: Arc<dyn BatchObserver>,
    ) -> Self {
        Self {
            groups: groups(&searcher, &batch),
            searcher,
            batch,
            observer,
            is_model_down: AtomicBool::new(false),
            quiet: RwLock::default(),
        }
    }

    /// The result of the question, once its group is searched. `None` for a question that has to be searched on its own.
    async fn answer(&self, question: &str, k: usize) -> Option<&Answer> {
        let group = self.groups.get(question).filter(|_| k == self.batch.k)?;
        let search = async {
            let _quiet = self.quiet.write().await;
            let questions: Vec<&str> = group.questions.iter().map(String::as_str).collect();
            let run = run::run(
                &self.searcher,
                &self.batch,
                &questions,
                &self.is_model_down,
                self.observer.as_ref(),
            );
            let run: BoxFuture<'_, _> = Box::pin(run);
            let answers = self.searcher.contents.guarded(run).await;
            self.observer.on_end();
            // The questions of a group that fails are searched one by one, and each reports its own failure.
            answers.unwrap_or_default()
        };
        group.answers.get_or_init(|| search).await.get(question)
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
            ranking: hit::best_documents(&answer.documents, self.batch.k, &contents.positions)?,
            passages,
            timings: timings.into_stages(),
            in_batch: true,
            ..Retrieved::default()
        })
    }

    /// Searches the question on its own, which takes the time that is measured. `began` is when it was asked.
    async fn again(
        &self,
        question: &str,
        answer: &Answer,
        Timed(embedded): &Timed,
        began: Instant,
    ) -> Result<Retrieved, IndexError> {
        let expected = self.found(answer).await?;
        let quiet = self.quiet.read().await;
        let waited = began.elapsed();
        let cache = self.searcher.cache.clone();
        let cache = cache.unwrap_or_else(|| Cache::default().into());
        let k = self.batch.k;
        let retrieve = self
            .searcher
            .retrieve(question, k, &cache, embedded.as_ref());
        let retrieved = Box::pin(retrieve).await?;
        drop(quiet);
        if retrieved.ranking == expected.ranking && retrieved.passages == expected.passages {
            return Ok(Retrieved {
                waited,
                ..retrieved
            });
        }
        Err(IndexError::Inconsistent {
            profile: self.searcher.name.clone(),
            question: question.to_owned(),
        })
    }
}

/// The groups of a batch, by question. Empty for the ranking that is the same for all questions, and for an approximate search, which is not
/// exact search in bulk.
fn groups(searcher: &IndexSearcher, batch: &QuestionBatch) -> HashMap<String, Arc<Group>> {
    let mut groups = HashMap::new();
    let is_exact = searcher.approximate.is_none();
    if searcher.profile == Profile::Unranked || !is_exact || batch.k == 0 {
        return groups;
    }
    let mut seen = HashSet::new();
    let distinct = batch.questions.iter();
    let distinct: Vec<_> = distinct.filter(|it| seen.insert(it.as_str())).collect();
    for questions in distinct.chunks(run::group_size(searcher, batch)) {
        let group = Arc::new(Group {
            questions: questions.iter().copied().cloned().collect(),
            answers: OnceCell::new(),
        });
        for question in questions {
            groups.insert((*question).clone(), Arc::clone(&group));
        }
    }
    groups
}

#[async_trait]
impl Searcher for BatchSearcher {
    fn profile(&self) -> &str {
        &self.searcher.name
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        let began = Instant::now();
        let Some(answer) = self.answer(question, k).await else {
            return self.searcher.search(question, k).await;
        };
        let retrieve = async {
            match &answer.timed {
                Some(timed) => self.again(question, answer, timed, began).await,
                None => self.found(answer).await,
            }
        };
        let retrieved = self.searcher.contents.guarded(Box::pin(retrieve)).await;
        retrieved.map_err(SearchError::from)
    }
}

impl fmt::Debug for BatchSearcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BatchSearcher")
            .field("searcher", &self.searcher)
            .field("questions", &self.groups.len())
            .finish_non_exhaustive()
    }
}
