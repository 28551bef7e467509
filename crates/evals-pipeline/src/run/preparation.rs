//! Opens everything that a run needs before the first question: models, data and index.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::{Context as _, Result};
use evals::StopSignal;
use evals_data::Collection;
use evals_models::{Embedder, Usage};
use evals_providers::Traffic;
use evals_rag::answering::QueryRecorder;
use evals_rag::{Queries, Question, Rewriter};
use evals_runs::shards::ShardRecord;
use evals_terminal::Printer;

use super::access::ModelAccess;
use super::index::{self, Found, MayBuild, ReadyIndex};
use super::plan::Plan;
use super::plan::answers::QaPlan;
use super::questions::{self, KnownIds};
use crate::case_selection::ChosenCases;
use crate::choices;
use crate::downloads;
use crate::execution::Execution;
use crate::interruption::Interruption;
use crate::options::{Refresh, RunArgs};
use crate::question_answering::{Answering, Judging, ModelSet};
use crate::run_models::embedder::VectorCache;
use crate::run_models::reranker::{self, Reranking};
use crate::run_models::{Opener, Prompted, cache_policy, embedder};
use crate::session::Session;
use crate::spending::Spending;
use crate::spending::dollars;

/// The inputs of a benchmark.
#[derive(Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) session: &'r Session<'r>,
    pub(super) arguments: &'r RunArgs,
    pub(super) plan: &'r Plan,
    pub(super) prepared: &'r Prepared,
    pub(super) interruption: &'r Interruption,
}

impl<'r> Run<'r> {
    /// How the cases of both benchmarks run.
    pub(super) fn execution(self) -> Execution<'r> {
        Execution {
            printer: self.session.printer,
            resolved: &self.plan.resolved,
            interruption: self.interruption,
            stop: self.prepared.stop.clone(),
            concurrency: self.plan.concurrency,
            repeat: self.arguments.control.repeat,
            max_failures: self.arguments.control.max_failures,
            retry_task: None,
            retry_evaluators: None,
        }
    }
}

/// The opened models, questions and index of a run.
pub(super) struct Prepared {
    /// `None` if no profile needs vectors.
    embedder: Option<Arc<dyn Embedder>>,
    pub(super) collection: Collection,
    pub(super) questions: Vec<Question>,
    /// Which of the dataset's questions they are.
    pub(super) chosen: ChosenCases,
    /// `None` if the run is no shard.
    pub(super) shard: Option<ShardRecord>,
    /// The questions of all shards; `None` if the run is no shard.
    pub(super) all_questions: Option<Vec<Question>>,
    pub(super) ready: ReadyIndex,
    /// `None` if no profile reranks.
    pub(super) reranking: Option<Reranking>,
    /// `None` if no question is rewritten.
    pub(super) rewriting: Option<Prompted>,
    /// What is searched in the place of questions.
    pub(super) queries: Queries,
    /// `None` if the run skips question answering.
    pub(super) qa: Option<QaModels>,
    pub(super) spending: Arc<Spending>,
    /// Ends a run early: when the budget is spent, or on a failure that the user has to fix.
    pub(super) stop: StopSignal,
    /// The traffic of each server.
    pub(super) traffic: Vec<Arc<Traffic>>,
}

/// The models that answer and judge.
pub(super) struct QaModels {
    pub(super) answering: Answering,
    pub(super) judging: Judging,
    pub(super) model_set: ModelSet,
    /// Counts the searches that wait or run, for batches; `None` without batches.
    pub(super) searches: Option<Arc<AtomicUsize>>,
}

/// Opens models, data and index. Models come first, so that an unreachable server is found before an hour of indexing.
pub(super) async fn prepare(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &Plan,
    interruption: &Interruption,
) -> Result<Prepared> {
    let printer = session.printer;
    let (resolved, models) = (&plan.resolved, &plan.models);
    let mut access = ModelAccess::new(session, arguments, resolved, models, interruption);
    // `--refresh failed` only concerns question answering: cached vectors and scores stay in use.
    let refresh = arguments.qa.refresh.filter(|what| *what == Refresh::All);
    let mut opener = access.opener(cache_policy(arguments.judging.no_cache, refresh));
    let embedder = open_embedder(&mut opener, arguments, plan).await?;
    let reranking = if plan.profiles.iter().any(|profile| profile.rerank) {
        Some(reranker::open(&mut opener).await?)
    } else {
        None
    };
    opener.cache = cache_policy(arguments.judging.no_cache, arguments.qa.refresh);
    let rewriting = Prompted::open(&mut opener, models.rewriter.clone(), |it| it.rewrite).await?;
    let search = (reranking.as_ref(), rewriting.as_ref());
    let qa = QaModels::open(&mut opener, plan.qa.as_ref(), search).await?;
    let collection = downloads::fetch(printer, &plan.manifest)
        .await?
        .allow_missing_judged(arguments.retrieval.allow_missing_judged);
    // A finished index knows the ids of the documents, so the files need not be searched for judged documents. If both the index and
    // the questions cannot be read, the error about the questions comes first.
    let found = find_index(session, arguments, plan, embedder.clone(), &collection).await;
    let index = found.as_ref().ok().and_then(|found| found.index.clone());
    let asked = questions::read(
        printer,
        &plan.manifest,
        &collection,
        index.map_or(KnownIds::None, |index| KnownIds::Index(Box::new(index))),
        arguments,
        plan.selection.as_ref(),
    )
    .await?;
    let turns = resolved.settings.turns_read();
    note_turns(printer, turns, &asked.questions);
    let ready = open_index(session, arguments, plan, found, &collection).await?;
    Ok(Prepared {
        embedder,
        collection,
        queries: queries(rewriting.as_ref(), turns, &asked.questions),
        rewriting,
        questions: asked.questions,
        chosen: asked.chosen,
        shard: asked.shard,
        all_questions: asked.all,
        ready,
        reranking,
        qa,
        traffic: access.servers.traffic_so_far(),
        spending: access.spending,
        stop: access.stop,
    })
}

impl Prepared {
    /// What the answering model reads before questions that have earlier turns, of which the last `turns` count.
    pub(super) fn in_conversations(&self, turns: usize) -> Queries {
        let said = self.questions.iter();
        let said = said.map(|it| (it.id.clone(), it.last_turns(turns).to_vec()));
        Queries::Spoken(Arc::new(said.filter(|it| !it.1.is_empty()).collect()))
    }
}

/// What is searched in the place of questions, if the last `turns` of their conversations count.
fn queries(rewriting: Option<&Prompted>, turns: usize, questions: &[Question]) -> Queries {
    if let Some(rewriting) = rewriting {
        let (model, prompt) = (Arc::clone(&rewriting.model), rewriting.prompt.clone());
        return Queries::Rewritten(Arc::new(Rewriter::new(model, prompt, questions, turns)));
    }
    let questions = questions.iter().filter(|_| turns > 0);
    let texts = questions.map(|it| (it.id.clone(), it.query(turns)));
    Queries::Texts(Arc::new(texts.collect()))
}

/// Says that conversations do not count, unless the settings name how many turns of them do: then warns of turns without an answer.
fn note_turns(printer: &Printer, history: usize, questions: &[Question]) {
    if history > 0 {
        return questions::warn_unanswered(printer, questions);
    }
    let mut turns = questions.iter().filter_map(|it| it.turn.as_ref());
    if turns.any(|turn| turn.number > 1) {
        printer.note(
            "each question is asked without the turns before it; `--set search.history=2` adds the last two",
        );
    }
}

/// Opens the embedding model; `None` if no profile needs vectors.
async fn open_embedder(
    opener: &mut Opener<'_, '_>,
    arguments: &RunArgs,
    plan: &Plan,
) -> Result<Option<Arc<dyn Embedder>>> {
    if !plan.needs_embeddings {
        return Ok(None);
    }
    let embedder = embedder::open(opener, VectorCache::of(arguments)).await?;
    Ok(Some(record_queries(opener, plan, embedder)))
}

/// Lets the extractive answerer reuse the question vectors that the search computes.
fn record_queries(
    opener: &mut Opener<'_, '_>,
    plan: &Plan,
    embedder: Arc<dyn Embedder>,
) -> Arc<dyn Embedder> {
    let qa = plan.qa.as_ref();
    if qa.is_none_or(|qa| !qa.answerer.is_embedded()) {
        return embedder;
    }
    let recorder = Arc::new(QueryRecorder::new(embedder));
    opener.query_recorder = Some(Arc::clone(&recorder));
    recorder
}

impl QaModels {
    /// Opens the models of a plan, and asks servers whether they have them.
    async fn open(
        opener: &mut Opener<'_, '_>,
        qa: Option<&QaPlan>,
        (reranking, rewriting): (Option<&Reranking>, Option<&Prompted>),
    ) -> Result<Option<Self>> {
        let Some(qa) = qa else { return Ok(None) };
        let answering = Answering::open(
            opener,
            &qa.answerer,
            &qa.judging.prompts,
            &qa.refusal_sentences,
        )
        .await?;
        let judging = Judging::open(opener, &qa.judging).await?;
        let mut model_set = ModelSet::of(Some(&answering), &judging);
        if let Some(reranking) = reranking.filter(|_| qa.profile.rerank) {
            model_set.enter_reranker(reranking);
        }
        if let Some(rewriting) = rewriting {
            model_set.enter_prompted("rewriter", rewriting);
        }
        Ok(Some(Self {
            answering,
            judging,
            model_set,
            searches: opener.batches.searches(),
        }))
    }
}

/// Looks for a finished index of the run.
async fn find_index(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &Plan,
    embedder: Option<Arc<dyn Embedder>>,
    collection: &Collection,
) -> Result<Found> {
    let uri = match &arguments.stages.db {
        Some(uri) => uri.clone(),
        None => session
            .directories
            .database(&plan.manifest.name)
            .display()
            .to_string(),
    };
    index::find(session.printer, plan.index(), embedder, collection, &uri).await
}

/// Opens or builds the index of the run, and notes its size.
async fn open_index(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &Plan,
    found: Result<Found>,
    collection: &Collection,
) -> Result<ReadyIndex> {
    let printer = session.printer;
    // An estimate must not pay for the embeddings of a corpus.
    let unpaid = arguments.judging.estimate && is_served(plan);
    let may_build = MayBuild {
        index: !arguments.stages.skip_db && !unpaid,
        vectors: !arguments.stages.skip_db,
    };
    let index = match found {
        Ok(found) => index::prepare(printer, plan.index(), found, collection, may_build).await,
        Err(error) => Err(error),
    };
    let index = if unpaid {
        index.context(
            "`--estimate` does not build an index with a model behind a server, because embedding may cost money; build the index \
             with `--skip-retrieval --skip-qa`, or estimate with `--profile bm25`",
        )?
    } else {
        index?
    };
    index::describe_index(printer, &index);
    if let Some(note) = index::cut_note(&index.statistics) {
        printer.note(&note);
    }
    if let Some(filter) = &arguments.retrieval.filter {
        index::describe_filter(printer, filter, &index).await?;
    }
    Ok(index)
}

/// Notes the tokens and cost of the embeddings that this run requested. Cached vectors and existing indexes were paid for earlier.
pub(super) fn note_embedding(session: &Session<'_>, plan: &Plan, prepared: &Prepared) {
    let Some(embedder) = prepared.embedder.as_ref().filter(|_| is_served(plan)) else {
        return;
    };
    let model = embedder.identity();
    let line = match embedder.input_tokens() {
        None => format!("{model}, tokens unknown"),
        Some(tokens) => {
            let usage = Usage {
                input_tokens: tokens,
                ..Usage::default()
            };
            let cost = choices::prices(&plan.resolved).of(model).cost(usage);
            format!("{model}, {tokens} tokens read, {}", dollars(cost))
        }
    };
    session.printer.note(&format!("while embedding: {line}"));
}

/// Whether vectors come from a server.
fn is_served(plan: &Plan) -> bool {
    plan.needs_embeddings && plan.models.embedder.server().is_some()
}
