//! `evaluations rejudge`: judges the answers of a stored run again.

mod against;
mod estimate;
mod former;
mod kept;
mod source;
mod stored;

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use evals::Dataset;
use evals_models::ModelIdentity;
use evals_pages::out_file::OutFile;
use evals_providers::Traffic;
use evals_rag::Prompt;
use evals_rag::qa::Qa;
use evals_rag::rag_judges::{JudgeTemplates, Preferences};
use evals_runs::clock;
use evals_runs::judged_by::JudgeRecords;
use evals_runs::run_record::{Origin, RecordedSettings, Rejudgement, RunRecord};
use evals_settings::Resolved;
use evals_stores::store::RefreshPolicy;

use self::against::Against;
use self::former::{FormerJudges, FormerVerdicts};
use self::kept::KeptJudges;
use self::source::Source;
use self::stored::Stored;
use crate::batches;
use crate::case_selection::ChosenCases;
use crate::choices;
use crate::execution::{Execution, Work};
use crate::exit::Exit;
use crate::interruption::{Interruption, interruptible};
use crate::models::{ConfiguredModels, Servers};
use crate::options::RejudgeArgs;
use crate::question_answering::{Attempts, Closing, JUDGES, Judging, JudgingPlan, ModelSet};
use crate::resumption::{self, Resume};
use crate::run_models::{Opener, cache_policy};
use crate::session::{Session, named_judges, named_models};
use crate::spending::Spending;
use crate::vector_search;

/// Judges the answers of a stored run again.
///
/// # Errors
///
/// If there is no such run, the settings or a model are unusable, or results cannot be written.
pub fn execute(session: &Session<'_>, arguments: &RejudgeArgs) -> Result<Exit> {
    let files = OutFile::all(&arguments.out)?;
    let source = source::find(session, &arguments.run)?;
    interruptible(session.printer, async |interruption| {
        let rejudging = Rejudging::of(session, arguments, source)?;
        Box::pin(rejudging.run(session, arguments, &files, interruption)).await
    })
}

/// The answers to judge again, and the judges of the current settings.
struct Rejudging {
    /// The stored run, whose report has no cases any more.
    source: Source,
    stored: Arc<Stored>,
    repeat: NonZeroU32,
    answerer: ModelIdentity,
    /// The judges of the stored run.
    former: FormerJudges,
    /// Who judged each of its measures.
    records: Option<JudgeRecords>,
    chosen: ChosenCases,
    resolved: Resolved,
    configured: ConfiguredModels,
    plan: JudgingPlan,
    cache: Option<RefreshPolicy>,
    against: Option<Against>,
}

impl Rejudging {
    fn of(session: &Session<'_>, arguments: &RejudgeArgs, mut source: Source) -> Result<Self> {
        let mut models = named_models(None, arguments.judging.judge.as_ref());
        models.extend(named_judges(&arguments.judges));
        models.extend(batches::layer(arguments.judging.batch));
        let mut resolved =
            evals_settings::resolve(session.user_layers(&arguments.settings, models)?)?;
        session.warn_of_matrix(&resolved);
        let model = |role: &str| {
            let model = source.run.record.models.get(role).cloned();
            model.with_context(|| format!("the record of the stored run has no `models.{role}`"))
        };
        let (answerer, judge) = (model("answerer")?, model("judge")?);
        let cache = cache_policy(arguments.judging.no_cache, None);
        let configured = ConfiguredModels::of(&resolved.settings);
        let plan = JudgingPlan::new(session, &resolved, &configured.judge, &answerer)?;
        let callers: Vec<_> = plan.callers().collect();
        let caches = (arguments.judging.no_cache, None);
        batches::plan(session.printer, &mut resolved, caches, &callers)?;
        let against = arguments.against.as_deref();
        let against = against.map(|wanted| Against::read(session, wanted, &source));
        let against = against.transpose()?;
        let former = FormerJudges::of(&source.report, judge)
            .context("the report of the stored run has no valid list of former judges")?;
        let repeat = NonZeroU32::new(source.report.repeat)
            .context("the report of the stored run has `repeat: 0`")?;
        let records = JudgeRecords::read(&source.report.metadata)?;
        let stored = Arc::new(Stored::new(std::mem::take(&mut source.report.cases)));
        let chosen = ChosenCases::of_report(&source.report.metadata, stored.questions())
            .context("the report of the stored run has no valid record of its selection")?;
        Ok(Self {
            source,
            stored,
            repeat,
            answerer,
            former,
            records,
            chosen,
            resolved,
            configured,
            plan,
            cache,
            against,
        })
    }

    /// Judges the answers with the current settings.
    async fn run(
        self,
        session: &Session<'_>,
        arguments: &RejudgeArgs,
        files: &[OutFile],
        interruption: &Interruption,
    ) -> Result<Exit> {
        let (resolved, printer) = (&self.resolved, session.printer);
        let spending = Spending::new(None, interruption.stop());
        let (judging, traffic) = Box::pin(self.open(session, &spending, interruption)).await?;
        let kept = self.kept(&judging)?;
        let model_set = self.model_set(session, &judging, &kept)?;
        if arguments.judging.estimate {
            let against = self.against.as_ref();
            let text = estimate::text(&self.stored, &judging, &self.plan, against, resolved)?;
            printer.result(&text)?;
            return Ok(Exit::Done);
        }
        let started = clock::now();
        let concurrency = arguments.concurrency;
        let concurrency = concurrency.unwrap_or(resolved.settings.evaluations.concurrency);
        let record = self.record(&model_set, started, concurrency)?;
        let opening = resumption::open(session, &record, started, Resume::Unfinished);
        let mut opened = interruption.guard(opening).await?;
        let dataset = self.dataset(session, &judging, &kept)?;
        let facts = vector_search::fact_of_run(&record).into_iter();
        let closing = Closing {
            session,
            model_set: &model_set,
            prices: choices::prices(resolved),
            seed: record.seed,
            spending: &spending,
            traffic: &traffic,
            attempts_before: Attempts::so_far(&traffic),
            chosen: self.chosen.clone(),
            group_by: &[],
            facts: facts.chain(batches::fact(resolved)).collect(),
        };
        let work = Work {
            name: self.source.report.name.clone(),
            dataset,
            task: self.stored.task(),
            metadata: vec![
                ("rejudged", self.source.run.name().into()),
                (FormerJudges::KEY, self.former.to_value()?),
            ],
            timeout: Some(choices::case_timeout(resolved)?),
            doing: "judging".to_owned(),
        };
        let execution = self.execution(session, concurrency, interruption);
        let judged = execution.resume(work, &mut opened).await;
        let judged = closing.close(judged, opened.folder)?;
        printer.result(&judged.text(printer)?)?;
        judged.close(printer, files, interruption.is_interrupted())
    }

    fn execution<'e>(
        &'e self,
        session: &Session<'e>,
        concurrency: NonZeroUsize,
        interruption: &'e Interruption,
    ) -> Execution<'e> {
        Execution {
            printer: session.printer,
            resolved: &self.resolved,
            interruption,
            stop: interruption.stop(),
            concurrency,
            repeat: self.repeat,
            max_failures: None,
            retry_task: None,
            retry_evaluators: None,
        }
    }

    /// Opens the judges, with the traffic of their servers.
    async fn open(
        &self,
        session: &Session<'_>,
        spending: &Arc<Spending>,
        interruption: &Interruption,
    ) -> Result<(Judging, Vec<Arc<Traffic>>)> {
        let (resolved, configured) = (&self.resolved, &self.configured);
        let servers = Servers::new(resolved, configured, session.printer, 0);
        let mut servers = servers.interrupted_by(interruption);
        let mut opener = Opener::new(
            session,
            resolved,
            configured,
            &mut servers,
            self.cache,
            spending,
            interruption,
        );
        let opening = Box::pin(Judging::open(&mut opener, &self.plan));
        let judging = interruption.guard(opening).await?;
        Ok((judging, servers.traffic_so_far()))
    }

    /// The further judges of the stored run that are not asked again.
    fn kept(&self, judging: &Judging) -> Result<KeptJudges> {
        let settings = &self.source.run.record.settings;
        let rubrics = settings.get("evaluations.rubrics")?.unwrap_or_default();
        let again = judging.further_names();
        Ok(KeptJudges::of(&self.stored, &rubrics, &again))
    }

    fn model_set(
        &self,
        session: &Session<'_>,
        judging: &Judging,
        kept: &KeptJudges,
    ) -> Result<ModelSet> {
        if self.against.is_some() && judging.further.is_none() {
            bail!(
                "`--against` needs a chat model as the judge; add `--judge PROVIDER:NAME` or set `evaluations.judge`"
            );
        }
        let mut model_set = ModelSet::of(None, judging);
        model_set.models.insert("answerer", self.answerer.clone());
        if let Some(warning) = model_set.self_preference() {
            session.printer.warn(&warning);
        }
        self.former
            .enter(&mut model_set.judges, self.records.as_ref());
        kept.enter(&mut model_set.judges, self.records.as_ref());
        Ok(model_set)
    }

    /// The record of the stored run, with everything about judging replaced.
    fn record(
        &self,
        model_set: &ModelSet,
        started: DateTime<Utc>,
        concurrency: NonZeroUsize,
    ) -> Result<RunRecord> {
        let mut record = (*self.source.run.record).clone();
        let begun = RunRecord::begun(started);
        record.tool = begun.tool;
        record.started = begun.started;
        record.command_line = begun.command_line;
        record.concurrency = concurrency.get();
        let unanswerable = self.stored.unanswerable();
        if unanswerable > 0 {
            record.dataset.unanswerable = unanswerable;
        }
        record.settings_from = self.resolved.origins();
        let settings = RecordedSettings::of(&self.resolved.settings)?;
        let of_judging = ["evaluations", "providers", "prices", "batch"];
        record.settings.replace(&of_judging, &settings);
        let is_other = |role: &String| !JUDGES.contains(&role.as_str());
        record.models.retain(|role, _| is_other(role));
        if let Some(parameters) = record.parameters.get_or_insert_default() {
            parameters.retain(|role, _| is_other(role));
        }
        let own = [Prompt::judge(), Prompt::refusal()];
        let templates = JudgeTemplates::default();
        let judging: Vec<&Prompt> = own.iter().chain(templates.all()).collect();
        let is_judging = |file: &str| judging.iter().any(|prompt| prompt.name() == file);
        record.prompts.retain(|file, _| !is_judging(file));
        model_set.record_in(&mut record);
        if self.against.is_some() {
            let pair = &self.plan.prompts.judges.pair;
            let digest = pair.digest().to_owned();
            record.prompts.insert(pair.name().to_owned(), digest);
        }
        let rejudged = Rejudgement {
            source: self.source.entry(),
            against: self.against.as_ref().map(|it| it.source.clone()),
        };
        let merged = match record.origin {
            Origin::Merge(merged) | Origin::Rejudgement(_, Some(merged)) => Some(merged),
            Origin::Run | Origin::Rejudgement(_, None) => None,
        };
        record.origin = Origin::Rejudgement(rejudged, merged);
        Ok(record)
    }

    /// The stored cases with all judges, the former ones included.
    fn dataset(
        &self,
        session: &Session<'_>,
        judging: &Judging,
        kept: &KeptJudges,
    ) -> Result<Dataset<Qa>> {
        let report = &self.source.report;
        let dataset = self
            .stored
            .dataset(&report.dataset, report.cluster.clone())?;
        let names: Vec<&str> = kept.names().collect();
        if !names.is_empty() {
            session.printer.note(&format!(
                "keeps the verdicts of run `{}` by {}; `--judges` names judges to ask again",
                self.source.run.name(),
                names.join(", ")
            ));
        }
        let further = judging.further.as_ref();
        let counts_votes = further.is_some_and(|further| further.votes() > 1);
        let dataset = judging.add_evaluators(session.printer, dataset, &self.chosen);
        let dataset = kept.add_to(dataset, &self.stored, counts_votes);
        let dataset = dataset.evaluator(FormerVerdicts::new(self.former.clone(), &self.stored));
        Ok(match self.against.as_ref().zip(further) {
            Some((against, further)) => dataset
                .evaluator(further.pairwise(against.answers.clone()))
                .report_evaluator(Preferences),
            None => dataset,
        })
    }
}
