//! The plan of a run, made before anything is asked or written.

use std::collections::BTreeSet;
use std::mem;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evals::{CaseId, CaseTimeout, ClusterKey, Dataset};
use evals_evaluators::{DatasetFile, FileCase, FileFormat, JudgePrompts, Loaded};
use evals_evaluators::{Registry, Resources, Untyped};
use evals_guard::regular_file;
use evals_messages::quantity;
use evals_pages::out_file::OutFile;
use evals_runs::run_record::LimitRecord;
use evals_runs::shards::ShardRecord;
use evals_settings::redaction;
use evals_settings::{Layer, Resolved, Tree};
use evals_targets::TargetSettings;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::judges::WantedJudges;
use crate::batches;
use crate::case_selection::{Candidate, ChosenCases, MetadataFrom, Selection};
use crate::choices;
use crate::models::ConfiguredModels;
use crate::options::EvalArgs;
use crate::run_models::Prompts;
use crate::session::{Session, named_models};
use crate::settings_files;
use crate::targets;

/// The largest dataset file, in bytes.
const LARGEST: u64 = 512_000_000;

/// A run with every choice made.
pub(super) struct Plan {
    pub(super) registry: Registry,
    pub(super) source: Source,
    /// The contents of the file, without its cases once they are [taken](Self::take_file).
    pub(super) file: DatasetFile,
    pub(super) resolved: Resolved,
    pub(super) models: ConfiguredModels,
    pub(super) judges: WantedJudges,
    /// The commands that evaluators of the file run, as they may be shown.
    pub(super) commands: Vec<String>,
    /// The prompts of evaluators that ask a model.
    pub(super) prompts: Arc<JudgePrompts>,
    pub(super) target: TargetSettings,
    /// The cases to run, in the order of the file.
    pub(super) chosen: Vec<CaseId>,
    /// Which of the file's cases they are.
    pub(super) cases: ChosenCases,
    /// `None` if the run is no shard.
    pub(super) shard: Option<ShardRecord>,
    pub(super) timeout: CaseTimeout,
    pub(super) concurrency: NonZeroUsize,
    pub(super) name: String,
    pub(super) out: Vec<OutFile>,
}

/// A dataset file, read once, so that every part of a run sees the same.
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// SHA-256 of its text, in hexadecimal.
    pub(super) digest: String,
}

impl Source {
    /// Reads the cases, and builds their evaluators without chat models.
    fn read(
        arguments: &EvalArgs,
        registry: &Registry,
        resources: Resources,
    ) -> Result<(Self, Loaded)> {
        let path = arguments.file.clone();
        let format = FileFormat::of(&path).with_context(|| {
            format!(
                "`{}` does not have the name of a dataset file, which ends in .yaml, .yml, .json, .jsonl or .csv",
                path.display()
            )
        })?;
        let text = regular_file::read_named(&path, LARGEST)?;
        let digest = hex::encode(Sha256::digest(&text));
        let source = Self { path, digest };
        let resources = source.located(resources);
        let loaded = DatasetFile::read(&text, format, &source.path, registry, &resources)?;
        Ok((source, loaded))
    }

    /// Paths in arguments are relative to the file's folder.
    fn located(&self, resources: Resources) -> Resources {
        Resources {
            folder: self.path.parent().map(Path::to_owned),
            ..resources
        }
    }
}

/// Warns about the judges, and checks that batches and a budget can be used with them.
fn check_judges(
    session: &Session<'_>,
    arguments: &EvalArgs,
    judges: &WantedJudges,
    resolved: &mut Resolved,
) -> Result<()> {
    for warning in &judges.warnings {
        session.printer.warn(warning);
    }
    let callers: Vec<_> = judges.callers().collect();
    batches::plan(
        session.printer,
        resolved,
        (arguments.judging.no_cache, arguments.control.budget),
        &callers,
    )?;
    if arguments.control.budget.is_some() {
        judges.check_prices(resolved)?;
    }
    Ok(())
}

/// The system that the arguments, the file or the settings name.
fn target_of(arguments: &EvalArgs, source: &Source, resolved: &Resolved) -> Result<TargetSettings> {
    let target = targets::chosen(resolved, &arguments.target)?.cloned();
    target.with_context(|| {
        format!(
            "`{}` does not say what to test; name it with `--target`, such as `--target http://localhost:8000/ask` or \
             `--target 'exec:python my_rag.py'`",
            source.path.display()
        )
    })
}

impl Plan {
    pub(super) fn new(session: &Session<'_>, arguments: &EvalArgs) -> Result<Self> {
        let out = OutFile::all_of_eval(&arguments.results.out)?;
        let registry = Registry::built_in();
        let resources = Resources::default();
        let workers = resources.workers.clone();
        let (source, loaded) = Source::read(arguments, &registry, resources)?;
        let commands = workers.commands();
        let shown = commands
            .iter()
            .map(|line| redaction::prose(line).into_owned());
        for warning in &loaded.warnings {
            session.printer.warn(&warning.at(&source.path));
        }
        let mut resolved = settings_of(session, arguments, &source, &loaded)?;
        settings_files::note(session, &resolved, Some(&source.path));
        let models = ConfiguredModels::of(&resolved.settings);
        let target = target_of(arguments, &source, &resolved)?;
        let judges = WantedJudges::of(&registry, &loaded, &source.path, &resolved)?;
        check_judges(session, arguments, &judges, &mut resolved)?;
        let prompts = if judges.is_empty() {
            JudgePrompts::default()
        } else {
            Prompts::of_evaluators(&session.directories, &resolved.settings.prompts)?
        };
        let (control, dataset) = (&arguments.control, &loaded.file.name);
        let Chosen {
            ids: chosen,
            cases,
            shard,
        } = chosen_cases(session, arguments, &loaded)?;
        Ok(Self {
            target,
            chosen,
            cases,
            shard,
            commands: shown.collect(),
            timeout: choices::case_timeout(&resolved)?.task("the target"),
            concurrency: control
                .concurrency
                .unwrap_or(resolved.settings.evaluations.concurrency),
            name: control
                .name
                .clone()
                .unwrap_or_else(|| format!("{dataset}_eval")),
            out,
            registry,
            source,
            resolved,
            models,
            judges,
            prompts: Arc::new(prompts),
            file: loaded.file,
        })
    }

    /// Takes the file with its cases out of the plan, so that no second copy of them lasts as long as the run.
    pub(super) fn take_file(&mut self) -> DatasetFile {
        DatasetFile {
            cases: mem::take(&mut self.file.cases),
            ..self.file.clone()
        }
    }

    /// The dataset that runs: the chosen cases of the file, with evaluators that have these resources, and in clusters of this key if there is
    /// one. Cases that do not run link others, too.
    pub(super) fn dataset(
        &self,
        file: DatasetFile,
        resources: Resources,
        cluster: Option<&ClusterKey>,
    ) -> Result<Dataset<Untyped>> {
        let resources = self.source.located(resources);
        let loaded = file.load(&self.source.path, &self.registry, &resources)?;
        let mut chosen = self.chosen.iter().peekable();
        let dataset = match cluster {
            Some(key) => loaded.dataset.cluster_by(key)?,
            None => loaded.dataset,
        };
        Ok(dataset.retain(|case| chosen.next_if(|id| **id == case.id).is_some()))
    }

    /// The evaluators of the report, as a dataset file in JSON lists them.
    pub(super) fn report_evaluators(&self) -> Result<Vec<Value>> {
        let file = DatasetFile {
            cases: Vec::new(),
            evaluators: Vec::new(),
            cluster: None,
            target: None,
            ..self.file.clone()
        };
        let mut written: Value = serde_json::from_str(&file.to_json(&self.registry, None))?;
        Ok(match written["report_evaluators"].take() {
            Value::Array(evaluators) => evaluators,
            _ => Vec::new(),
        })
    }

    pub(super) fn chosen_ids(&self) -> BTreeSet<&str> {
        self.chosen.iter().map(CaseId::as_str).collect()
    }

    /// How often the target is asked, if nothing fails.
    pub(super) fn runs(&self, repeat: u32) -> usize {
        self.chosen.len().saturating_mul(repeat as usize)
    }
}

/// The settings: those of the user, with the target of the dataset file below them.
fn settings_of(
    session: &Session<'_>,
    arguments: &EvalArgs,
    source: &Source,
    loaded: &Loaded,
) -> Result<Resolved> {
    let target = targets::layers(session, &arguments.target)?;
    let mut layers: Vec<Layer> = target.file.into_iter().collect();
    if let Some(section) = &loaded.file.target {
        let origin = source.path.display().to_string();
        let section = Tree::from_value(&section.to_value());
        layers.push(Layer::value(origin, "target", section));
    }
    let judge = named_models(None, arguments.judging.judge.as_ref());
    let judge = judge
        .into_iter()
        .chain(batches::layer(arguments.judging.batch));
    let options = target.options.into_iter().chain(judge);
    layers.extend(session.user_layers(&arguments.settings, options)?);
    let resolved = evals_settings::resolve(layers)?;
    session.warn_of_matrix(&resolved);
    Ok(resolved)
}

/// The cases to run.
struct Chosen {
    ids: Vec<CaseId>,
    cases: ChosenCases,
    shard: Option<ShardRecord>,
}

/// The cases to run: those that the options choose, up to `--limit`, and of these the ones of `--shard`.
fn chosen_cases(session: &Session<'_>, arguments: &EvalArgs, loaded: &Loaded) -> Result<Chosen> {
    let none = Map::new();
    let mut cases: Vec<&FileCase> = loaded.file.cases.iter().collect();
    let known = keys(loaded);
    for key in &arguments.results.group_by {
        MetadataFrom::Cases.check_key(&format!("--group-by {key}"), key, &known)?;
    }
    let selection = Selection::new(
        session,
        &arguments.selection,
        &loaded.file.name,
        MetadataFrom::Cases,
        Some(&known),
    )?;
    let selection = match selection {
        Some(selection) => {
            let record = selection.retain(&mut cases, |case| Candidate {
                id: case.id.as_str(),
                metadata: case.metadata.as_object().unwrap_or(&none),
            })?;
            session.printer.note(&format!("cases: {}", record.text()));
            Some(record)
        }
        None => None,
    };
    if cases.is_empty() {
        bail!("`{}` has no cases", loaded.file.name);
    }
    let limit = arguments.control.limit.map(NonZeroUsize::get);
    let limit = limit.and_then(|first| LimitRecord::truncate(first, &mut cases));
    if let Some(LimitRecord { first, of }) = limit {
        let of = quantity::of(of, "case");
        session.printer.note(&format!("the first {first} of {of}"));
    }
    let shard = arguments.selection.shard.map(|shard| {
        let record = shard.retain(&mut cases, |case| case.id.as_str(), |_| None);
        record.note(session.printer, cases.len());
        record
    });
    let chosen = ChosenCases {
        selection,
        limit,
        shard: shard.as_ref().map(|it: &ShardRecord| it.shard),
        count: cases.len(),
        filter: None,
        defects: None,
        cut: BTreeSet::new(),
    };
    let ids = cases.into_iter().map(|case| case.id.clone()).collect();
    Ok(Chosen {
        ids,
        cases: chosen,
        shard,
    })
}

/// The keys of all cases' metadata.
fn keys(loaded: &Loaded) -> Vec<String> {
    let cases = loaded.file.cases.iter();
    let objects = cases.filter_map(|case| match &case.metadata {
        Value::Object(metadata) => Some(metadata),
        _ => None,
    });
    let keys: BTreeSet<&String> = objects.flat_map(Map::keys).collect();
    keys.into_iter().cloned().collect()
}
