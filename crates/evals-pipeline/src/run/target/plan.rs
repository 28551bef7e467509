//! The plan of a run of a target, made before anything is downloaded or written.

use std::num::NonZeroUsize;

use anyhow::{Context as _, Result, bail};
use evals_data::Manifest;
use evals_messages::visible;
use evals_metrics::Measure;
use evals_pages::out_file::OutFile;
use evals_rag::retrieval::IdenticalIds;
use evals_rag::targets::History;
use evals_rag::targets::matching::{IdRule, MatchBy, Matching};
use evals_settings::{EMBEDDED, Resolved, SettingsError};
use evals_targets::{
    MatchBy as WrittenMatchBy, PromptSource, Resumption, TargetAddress, TargetSettings,
};

use crate::batches;
use crate::case_selection::Selection;
use crate::choices::Choices;
use crate::models::{ConfiguredModels, OVERLAP};
use crate::options::{Refresh, RunArgs};
use crate::question_answering::JudgingPlan;
use crate::resumption::Resume;
use crate::run::plan::answers::check_price;
use crate::run::plan::measured::Measured;
use crate::run::plan::{check_groups, concurrency, selection};
use crate::run_models;
use crate::session::Session;
use crate::targets;

/// A run of a target with every choice made.
#[derive(Debug)]
pub(super) struct TargetPlan {
    pub(super) manifest: Manifest,
    pub(super) resolved: Resolved,
    pub(super) target: TargetSettings,
    pub(super) matching: Matching,
    pub(super) models: ConfiguredModels,
    /// Whether the retrieval benchmark runs.
    pub(super) retrieval: bool,
    /// `None` if the run skips question answering.
    pub(super) qa: Option<JudgingPlan>,
    pub(super) measures: Vec<Measure>,
    pub(super) k: NonZeroUsize,
    /// The dataset's measures that look deeper than `k`, each with its replacement.
    pub(super) cut: Vec<(Measure, Measure)>,
    pub(super) identical_ids: IdenticalIds,
    pub(super) concurrency: NonZeroUsize,
    pub(super) retrieval_name: String,
    pub(super) qa_name: String,
    pub(super) resume: Resume,
    pub(super) replies: Resumption,
    pub(super) selection: Option<Selection>,
    pub(super) out: Vec<OutFile>,
    /// Whose answers the history in requests contains.
    pub(super) history: History,
}

impl TargetPlan {
    pub(super) fn new(
        session: &Session<'_>,
        arguments: &RunArgs,
        manifest: Manifest,
        mut resolved: Resolved,
    ) -> Result<Self> {
        refuse_options_without_meaning(arguments, &manifest)?;
        let target = chosen(session, arguments, &resolved)?;
        let matching = matching(&resolved, &target)?;
        let models = Choices::of(&resolved)?.models;
        run_models::user::check(session, &resolved, &models, &manifest, &target)?;
        if let (Some(user), Some(_)) = (&models.user, arguments.control.budget) {
            check_price(&resolved, user)?;
        }
        check_groups(&arguments.results.group_by, &manifest)?;
        let (control, stages) = (&arguments.control, &arguments.stages);
        let (resume, replies) = resumed(arguments)?;
        let qa = if has_answers(session, arguments, &target)? && !stages.skip_qa {
            Some(judging(session, arguments, &resolved, &models)?)
        } else {
            None
        };
        batches::plan(
            session.printer,
            &mut resolved,
            (arguments.judging.no_cache, arguments.control.budget),
            &qa.iter().flat_map(JudgingPlan::callers).collect::<Vec<_>>(),
        )?;
        let Measured {
            measures,
            k,
            cut,
            identical_ids,
        } = Measured::of(arguments, &manifest)?;
        let named = |suffix: &str| {
            let name = control.name.clone();
            name.unwrap_or_else(|| format!("{}{suffix}", manifest.name))
        };
        Ok(Self {
            history: history(session, &resolved, &target)?,
            target,
            matching,
            models,
            retrieval: !stages.skip_retrieval && manifest.has_documents(),
            qa,
            measures,
            k,
            cut,
            identical_ids,
            concurrency: concurrency(arguments, &resolved),
            retrieval_name: named("_retrieval_evaluation"),
            qa_name: named("_qa_evaluation"),
            resume,
            replies,
            selection: selection(session, arguments, &manifest)?,
            out: OutFile::all(&arguments.results.out)?,
            manifest,
            resolved,
        })
    }
}

/// The target of the settings and of `--filter`, checked with the texts of its files.
fn chosen(
    session: &Session<'_>,
    arguments: &RunArgs,
    resolved: &Resolved,
) -> Result<TargetSettings> {
    let Some(target) = targets::chosen(resolved, &arguments.target)?.cloned() else {
        unreachable!("the caller has found a target");
    };
    let target = filtered(session, target, arguments)?;
    let checked = with_texts(session, target.clone())?.check();
    checked.map_err(|problem| targets::located(resolved, &problem))?;
    Ok(target)
}

/// The target with the filter of `--filter`, which a text in a file may use, too.
fn filtered(
    session: &Session<'_>,
    mut target: TargetSettings,
    arguments: &RunArgs,
) -> Result<TargetSettings> {
    let Some(filter) = &arguments.retrieval.filter else {
        return Ok(target);
    };
    // Engines have languages of their own, so nobody can join the two.
    let own = target.parameters.get("filter").filter(|it| !it.is_null());
    let own = own.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    if let Some(own) = own.filter(|own| !own.is_empty() && own != filter) {
        session.printer.warn(&format!(
            "`--filter` replaces the target's own `parameters.filter`, `{}`",
            visible::line(&own)
        ));
    }
    let filtered = with_texts(session, target.clone())?.with_filter(filter);
    let filtered = filtered.context("`--filter` cannot be used")?;
    target.parameters = filtered.parameters;
    Ok(target)
}

/// The target with the texts of its files in their places.
fn with_texts(session: &Session<'_>, mut target: TargetSettings) -> Result<TargetSettings> {
    let sources = [
        ("prompt", &mut target.prompt),
        ("statement", &mut target.statement),
    ];
    for (key, source) in sources {
        if let Some(written) = source {
            let text = written.text(&session.directories.working);
            let text = text.with_context(|| format!("cannot read the {key} of the target"))?;
            *written = PromptSource::Text(text);
        }
    }
    Ok(target)
}

/// Refuses options that would be ignored.
fn refuse_options_without_meaning(arguments: &RunArgs, manifest: &Manifest) -> Result<()> {
    let (stages, retrieval) = (&arguments.stages, &arguments.retrieval);
    let ours = [
        ("--profile", !retrieval.profiles.is_empty()),
        ("--db", stages.db.is_some()),
        ("--skip-db", stages.skip_db),
        ("--model", arguments.qa.model.is_some()),
    ];
    if let Some((option, _)) = ours.into_iter().find(|(_, is_given)| *is_given) {
        bail!(
            "`{option}` configures our own pipeline and has no meaning for a target, which searches and answers by itself"
        );
    }
    if stages.skip_retrieval && stages.skip_qa {
        bail!("`--skip-retrieval` and `--skip-qa` together leave nothing to ask the target");
    }
    if stages.skip_qa && !manifest.has_documents() {
        bail!(
            "`{}` has no documents, so `--skip-qa` leaves nothing to ask the target",
            manifest.name
        );
    }
    Ok(())
}

/// Whether the target may have answers. A TREC run and a table have rankings alone.
fn has_answers(
    session: &Session<'_>,
    arguments: &RunArgs,
    target: &TargetSettings,
) -> Result<bool> {
    let kind = match target.address {
        Some(TargetAddress::Trec(_)) => "a TREC run",
        Some(TargetAddress::LanceDb { .. }) => "a table of LanceDB",
        _ => return Ok(true),
    };
    if arguments.stages.skip_retrieval {
        bail!("{kind} has no answers, so `--skip-retrieval` leaves nothing to measure");
    }
    if !arguments.stages.skip_qa {
        let note = format!("{kind} has no answers; only retrieval is measured");
        session.printer.note(&note);
    }
    Ok(false)
}

/// Which earlier run goes on, and what becomes of its recorded replies.
fn resumed(arguments: &RunArgs) -> Result<(Resume, Resumption)> {
    Ok(match (arguments.control.fresh, arguments.qa.refresh) {
        (true, Some(Refresh::Failed)) => {
            bail!("`--fresh` starts over and `--refresh failed` resumes an earlier run; choose one")
        }
        (true, _) => (Resume::Fresh, Resumption::Fresh),
        (false, Some(Refresh::Failed)) => (Resume::Failed, Resumption::Reopen),
        // An interrupted run goes on; a finished one asks again anyway.
        (false, Some(Refresh::All) | None) => (Resume::Unfinished, Resumption::Resume),
    })
}

/// Whose answers the history in requests contains. A target with `session: true` keeps the history itself, with its own answers.
fn history(
    session: &Session<'_>,
    resolved: &Resolved,
    target: &TargetSettings,
) -> Result<History, SettingsError> {
    if resolved.sets("search.history") {
        session.printer.warn(
            "`search.history` is for our own pipeline; what a target is sent depends on `conversations.history`",
        );
    }
    let key = "conversations.history";
    let history = resolved.settings.conversations.history;
    if !target.session || history == History::Simulated {
        return Ok(history);
    }
    if history == History::Gold && resolved.sets(key) {
        let message =
            "a target with `session: true` keeps its own answers in its history; use `live`";
        return Err(resolved.bad_value(key, &message));
    }
    Ok(History::Live)
}

/// How the settings match documents.
fn matching(resolved: &Resolved, target: &TargetSettings) -> Result<Matching, SettingsError> {
    let written = &target.matching;
    let rule = written.id.as_deref().map(IdRule::parse).transpose();
    let rule = rule.map_err(|error| resolved.bad_value("target.match.id", &error))?;
    let by = match written.by() {
        WrittenMatchBy::Auto => MatchBy::Auto,
        WrittenMatchBy::Id => MatchBy::Id,
        WrittenMatchBy::Rule => MatchBy::Rule,
        WrittenMatchBy::Text => MatchBy::Text,
    };
    if by == MatchBy::Rule && rule.is_none() {
        let message = "`rule` needs `match.id`: `last path segment` or a regular expression";
        return Err(resolved.bad_value("target.match.by", &message));
    }
    let threshold = written.threshold.unwrap_or(Matching::THRESHOLD);
    if !(threshold > 0.0 && threshold <= 1.0) {
        let message = "must be more than 0 and at most 1";
        return Err(resolved.bad_value("target.match.threshold", &message));
    }
    Ok(Matching {
        by,
        rule,
        threshold,
    })
}

/// Plans the judge. Without a choice of the user's it is the embedded one, with a warning: it shares no model with the target and needs
/// no server, but it only compares words.
fn judging(
    session: &Session<'_>,
    arguments: &RunArgs,
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Result<JudgingPlan> {
    if !resolved.sets("evaluations.judge") {
        session.printer.warn(&format!(
            "no judge is set, so `{EMBEDDED}:{OVERLAP}` compares words; add `--judge PROVIDER:NAME` for verdicts on the meaning"
        ));
    }
    let plan = JudgingPlan::with_default(session, resolved, &models.judge)?;
    if arguments.control.budget.is_some() {
        check_price(resolved, &plan.judge)?;
        session.printer.note(
            "`--budget` counts the cost of the target only as far as its replies name tokens and a model that has a price",
        );
    }
    Ok(plan)
}
