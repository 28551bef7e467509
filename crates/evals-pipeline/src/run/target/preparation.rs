//! Opens everything that a run of a target needs before the first question: the judge, the dataset and the target.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, bail};
use evals::{Domain, Report, StopSignal};
use evals_data::Collection;
use evals_providers::Traffic;
use evals_rag::answering::Refusals;
use evals_rag::targets::matching::{IdCheck, Matcher};
use evals_rag::targets::{ConversationPlan, Conversations, History, Script, TargetSystem};
use evals_rag::{Question, SimulatedUser};
use evals_runs::shards::ShardRecord;
use evals_targets::{RecordedTarget, Target};
use evals_terminal::Printer;

use super::corpus::{self, CollectionCorpus};
use super::plan::TargetPlan;
use crate::case_selection::ChosenCases;
use crate::choices;
use crate::downloads;
use crate::interruption::Interruption;
use crate::options::RunArgs;
use crate::question_answering::{Judging, JudgingPlan, ModelSet};
use crate::run::access::ModelAccess;
use crate::run::questions::{self, KnownIds};
use crate::run_models::embedder::VectorCache;
use crate::run_models::user::USER;
use crate::run_models::{Opener, Prompted, cache_policy};
use crate::session::Session;
use crate::spending::Spending;
use crate::targets::{self, Opening};

/// The opened models, questions and target of a run.
pub(super) struct Prepared {
    pub(super) collection: Collection,
    pub(super) questions: Vec<Question>,
    /// The turns of all conversations of the dataset.
    script: Arc<Script>,
    /// The model that plays the users, if the conversations are simulated, and the users, whom both benchmarks share.
    pub(super) user: Option<(Prompted, Arc<SimulatedUser>)>,
    /// Which of the dataset's questions they are.
    pub(super) chosen: ChosenCases,
    /// `None` if the run is no shard.
    pub(super) shard: Option<ShardRecord>,
    pub(super) target: Arc<dyn Target>,
    matcher: Arc<Matcher>,
    refusals: Refusals,
    /// `None` if the run skips question answering.
    pub(super) qa: Option<TargetQa>,
    pub(super) spending: Arc<Spending>,
    /// Ends a run early: when the budget is spent, or on a failure that the user has to fix.
    pub(super) stop: StopSignal,
    /// The traffic of each server.
    pub(super) traffic: Vec<Arc<Traffic>>,
}

/// The judge of the target's answers.
pub(super) struct TargetQa {
    pub(super) judging: Judging,
    /// The judge, and the target as the answerer.
    pub(super) model_set: ModelSet,
}

/// Opens target and judge first, so that an unreachable server is found before the corpus is read.
pub(super) async fn prepare(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &TargetPlan,
    interruption: &Interruption,
) -> Result<Prepared> {
    let printer = session.printer;
    let (resolved, models) = (&plan.resolved, &plan.models);
    let mut access = ModelAccess::new(session, arguments, resolved, models, interruption);
    let cache = cache_policy(arguments.judging.no_cache, arguments.qa.refresh);
    let mut opener = access.opener(cache);
    let (target, fetched) = open_target(session, arguments, plan, &mut opener).await?;
    let user = Prompted::open(&mut opener, models.user.clone(), |prompts| prompts.user).await?;
    let qa = match &plan.qa {
        Some(judging) => Some(TargetQa::open(&mut opener, judging, &*target, user.as_ref()).await?),
        None => None,
    };
    let collection = match fetched {
        Some(collection) => collection,
        None => downloads::fetch(printer, &plan.manifest).await?,
    };
    let collection = collection.allow_missing_judged(arguments.retrieval.allow_missing_judged);
    let ids = Arc::new(corpus::ids(&collection).await?);
    let asked = questions::read(
        printer,
        &plan.manifest,
        &collection,
        KnownIds::Set(Arc::clone(&ids)),
        arguments,
        plan.selection.as_ref(),
    )
    .await?;
    check_conversations(printer, plan, &asked.questions, &asked.script)?;
    check_names(plan, &asked.questions, arguments.control.repeat.get())?;
    let user = user.map(|prompted| playing(prompted, &asked.questions, &access.stop));
    let ids_asked = asked.questions.iter().map(|it| it.id.as_str()).collect();
    for warning in target.warnings(&ids_asked) {
        printer.warn(&warning);
    }
    let target = targets::metered(target, choices::prices(resolved), &access.spending);
    let texts = Arc::new(CollectionCorpus(collection.clone()));
    let matcher = Matcher::new(plan.matching.clone(), Arc::unwrap_or_clone(ids), texts);
    Ok(Prepared {
        collection,
        questions: asked.questions,
        script: Arc::new(asked.script),
        user,
        chosen: asked.chosen,
        shard: asked.shard,
        target,
        matcher: Arc::new(matcher),
        refusals: Refusals::new(&plan.manifest.unanswerable),
        qa,
        traffic: access.servers.traffic_so_far(),
        spending: access.spending,
        stop: access.stop,
    })
}

/// The model that plays users, and the users of these questions.
fn playing(
    prompted: Prompted,
    questions: &[Question],
    stop: &StopSignal,
) -> (Prompted, Arc<SimulatedUser>) {
    let (model, prompt) = (Arc::clone(&prompted.model), prompted.prompt.clone());
    let users = SimulatedUser::new(model, prompt, questions).stopped_by(stop.clone());
    (prompted, Arc::new(users))
}

/// Opens the target. The answers that a dataset holds are in its own files, which are fetched first then.
async fn open_target(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &TargetPlan,
    opener: &mut Opener<'_, '_>,
) -> Result<(Arc<dyn Target>, Option<Collection>)> {
    if targets::is_of_dataset(&plan.target) {
        let collection = downloads::fetch(session.printer, &plan.manifest).await?;
        let target = targets::of_dataset(&plan.target, &plan.resolved, &collection)?;
        return Ok((target, Some(collection)));
    }
    let opening = Opening {
        concurrency: plan.concurrency,
        folder: session.directories.working.clone(),
        vectors: VectorCache::of(arguments),
    };
    let target = targets::open(&plan.target, &opening, opener).await?;
    Ok((target, None))
}

/// Fails if a live conversation has a turn that the dataset lacks, and warns if requests leave conversations or parts of them out.
fn check_conversations(
    printer: &Printer,
    plan: &TargetPlan,
    questions: &[Question],
    script: &Script,
) -> Result<()> {
    let mut turns = questions.iter().filter_map(|it| it.turn.as_ref());
    if plan.history == History::Live
        && let Some((turn, number)) = Conversations::gap(questions, script)
    {
        bail!(
            "`conversations.history: live` asks every turn, and turn {number} of conversation `{turn}` is not a question of `{}`; use `gold`, or \
             give each turn a row of its own (and judgements, if they are a table)",
            plan.manifest.name
        );
    }
    let has_turns = plan.history == History::Simulated || turns.any(|turn| turn.number > 1);
    match (plan.target.sends("messages"), plan.target.sends("conversation")) {
        (false, false) if has_turns => printer.warn(
            "the request to the target has neither `messages` nor `conversation`, so it sees each question without its conversation",
        ),
        (false, true) if has_turns && !plan.target.session => printer.warn(
            "the request to the target has `conversation` and no `messages`; if it remembers conversations, set `target.session: true`, \
             which asks turns in their order, with new ids in each run",
        ),
        _ => {}
    }
    if plan.history == History::Gold {
        questions::warn_unanswered(printer, questions);
        let mut judged = plan.qa.iter().flat_map(|qa| &qa.further.measures);
        if has_turns && judged.any(|measure| measure.judges_conversations()) {
            printer.warn(
                "the judge `conversation` reads reference answers before each last question; `--set conversations.history=live` shows it \
                 those of the target",
            );
        }
    }
    Ok(())
}

/// Fails if one question or conversation has the name that a repetition or a turn of another one gets, such as `a#2` beside `a`: each would
/// get the replies of the other.
fn check_names(plan: &TargetPlan, questions: &[Question], repeat: u32) -> Result<()> {
    if repeat == 1 && plan.history != History::Simulated {
        return Ok(());
    }
    let ids = questions.iter().map(|it| it.id.as_str());
    let talks = questions.iter().map(|it| {
        let turn = it.turn.as_ref();
        turn.map_or(it.id.as_str(), |turn| turn.conversation.as_str())
    });
    for names in [ids.collect(), talks.collect::<BTreeSet<&str>>()] {
        let taken = names.iter().find_map(|name| {
            let (other, number) = name.rsplit_once('#')?;
            let is_numbered = number.parse::<u64>().is_ok() && names.contains(other);
            is_numbered.then_some((name, other))
        });
        if let Some((name, other)) = taken {
            bail!(
                "`{}` has `{other}` and `{name}`, and repetitions and turns of `{other}` are asked under such names: rename `{name}`",
                plan.manifest.name
            );
        }
    }
    Ok(())
}

impl TargetQa {
    async fn open(
        opener: &mut Opener<'_, '_>,
        plan: &JudgingPlan,
        target: &dyn Target,
        user: Option<&Prompted>,
    ) -> Result<Self> {
        let judging = Judging::open(opener, plan).await?;
        let mut model_set = ModelSet::of(None, &judging);
        let answerer = targets::model(target.identity().to_string());
        model_set.models.insert("answerer", answerer);
        if let Some(user) = user {
            model_set.enter_prompted(USER, user);
        }
        Ok(Self { judging, model_set })
    }
}

impl Prepared {
    /// Compares texts of documents that were matched by id with the corpus; `None` if that is interrupted or fails, which costs a
    /// warning and not the report.
    pub(super) async fn check_ids(
        &self,
        printer: &Printer,
        interruption: &Interruption,
    ) -> Option<IdCheck> {
        let check = async { Ok(self.matcher.check_ids().await?) };
        let check = interruption.guard(check).await;
        if interruption.is_interrupted() {
            return None;
        }
        match check {
            Ok(check) => Some(check),
            Err(error) => {
                printer.warn(&format!("{error:#}"));
                None
            }
        }
    }

    /// A line on what was paid, if simulated conversations did not finish: then their calls are in no case of the report.
    pub(super) fn unfinished<D: Domain>(&self, report: &Report<D>) -> Option<(String, String)> {
        let is_cut = self.user.is_some() && report.interrupted;
        is_cut.then(|| {
            let made = self.spending.in_words();
            let text = format!("{made}, with those of conversations that are not finished");
            ("so far".to_owned(), text)
        })
    }

    /// The target as the system of one benchmark.
    pub(super) fn system(&self, plan: &TargetPlan, recorded: &RecordedTarget) -> Arc<TargetSystem> {
        let run = recorded.path().file_stem();
        let session = run.filter(|_| plan.target.session);
        let conversations = ConversationPlan {
            history: plan.history,
            turns: plan.resolved.settings.conversations.turns.get(),
            session: session.map(|name| name.to_string_lossy().into_owned()),
        };
        let script = Arc::clone(&self.script);
        Arc::new(TargetSystem {
            conversations: Conversations::new(conversations, &self.questions, script)
                .played_by(self.user.as_ref().map(|user| Arc::clone(&user.1))),
            target: Arc::new(recorded.reader()),
            matcher: Arc::clone(&self.matcher),
            refusals: self.refusals.clone(),
            k: plan.k,
        })
    }
}
