//! What a tuning tries, and on which questions: everything that is settled before the first trial.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_data::Manifest;
use evals_guard::regular_file;
use evals_rag::Question;
use evals_runs::run_record::SelectionRecord;
use evals_settings::{Knob as KnobSetting, Layer, Resolved, Settings, Tree, Tune};
use evals_tune::{Candidate, Figure, Knob, Setting, Space, Values};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::objective::Objective;
use super::{idle, limits};
use crate::downloads;
use crate::interruption::Interruption;
use crate::options::{RunArgs, TuneArgs};
use crate::run;
use crate::run::questions::KnownIds;
use crate::run_models::Prompts;
use crate::session::Session;

/// The size limit of a file of `--space`, in bytes.
const LARGEST: u64 = 1_000_000;

/// Settings of our own search, which a target does not read.
const OWN_SEARCH: &[&str] = &["processing.", "search.", "reranking.", "qa."];
/// Settings that only answers depend on.
const OF_ANSWERS: &[&str] = &["qa.", "prompts.answer", "prompts.agent"];

/// What `evaluations tune` tries without a space, for our own pipeline.
const DEFAULT_SPACE: &str = "\
space:
  processing.chunk_size: [128, 256, 512]
  search.profile: [bm25, semantic, hybrid]
";

/// A tuning with every choice made, before its dataset is read.
pub(super) struct Plan {
    /// The options of each trial.
    pub(super) arguments: RunArgs,
    pub(super) manifest: Manifest,
    pub(super) resolved: Resolved,
    pub(super) tune: Tune,
    pub(super) objective: Objective,
    pub(super) limits: Vec<(Figure, f64)>,
    pub(super) space: Space,
    /// The user's own settings.
    pub(super) own: Candidate,
    /// For each knob, what its values are in YAML: those of the list, in its order.
    listed: Vec<Vec<String>>,
    /// For each knob, the user's own value in YAML.
    own_values: Vec<String>,
}

/// A question that the objective can be defined for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) id: String,
    pub(super) cluster: Option<String>,
    pub(super) conversation: Option<String>,
}

impl Plan {
    pub(super) fn new(session: &Session<'_>, arguments: &TuneArgs) -> Result<Self> {
        let mut run = arguments.run.clone();
        refuse(&run)?;
        run.judging.estimate = false;
        let mut manifest = session.manifest(&run.dataset)?;
        if let Some(key) = &run.results.cluster {
            manifest.cluster = Some(key.clone());
        }
        let mut resolved = run::resolve(session, &run, &manifest)?;
        let mut tune = match &arguments.space {
            Some(file) => of_file(file)?,
            None => std::mem::take(&mut resolved.settings.tune),
        };
        if tune.space.is_empty() {
            if resolved.settings.target.is_some() || run.target.target.is_some() {
                bail!(
                    "nothing to tune: name the parameters of your system under `tune.space`, such as `target.body.top_k: [3, 5, 10]`"
                );
            }
            tune.space = of_text("the default space", DEFAULT_SPACE)?.space;
            session.printer.note(
                "no `tune.space`: trying three sizes of chunks with three search profiles; `evaluations tune --help` shows how to name others",
            );
        }
        if let Some(share) = arguments.holdout {
            tune.holdout = share;
        }
        if !(0.1..=0.9).contains(&tune.holdout) {
            bail!(
                "the share to hold out is {}, and has to be from 0.1 to 0.9",
                tune.holdout
            );
        }
        tune.trials = arguments.trials.unwrap_or(tune.trials);
        let objective = Objective::of(&tune.objective)?;
        objective.choose_benchmark(&mut run);
        let settings = serde_json::to_value(&resolved.settings)?;
        let mut plan = Self {
            limits: limits::of(&tune)?,
            space: Space::new(Vec::new())?,
            own: Candidate(Vec::new()),
            listed: Vec::new(),
            own_values: Vec::new(),
            arguments: run,
            manifest,
            resolved,
            tune,
            objective,
        };
        plan.enter_knobs(&settings)?;
        plan.check(session)?;
        Ok(plan)
    }

    /// Enters the knobs of the space, with the user's own values.
    fn enter_knobs(&mut self, settings: &Value) -> Result<()> {
        let mut knobs = Vec::new();
        for (key, knob) in &self.tune.space {
            self.check_use(key)?;
            if self
                .arguments
                .settings
                .assignments
                .iter()
                .any(|it| it.split('=').next() == Some(key))
            {
                bail!("`--set {key}=…` and `tune.space` set the same key; leave one of them out");
            }
            let bundled = key.strip_prefix("prompts.");
            let bundled = bundled.map(|name| Value::from(format!("{name}.md.jinja")));
            let own = settings.pointer(&format!("/{}", key.replace('.', "/")));
            let own = own.or(bundled.as_ref());
            let (values, own_setting, listed) = match knob {
                KnobSetting::Values(values) => {
                    let texts: Vec<String> = values.iter().map(yaml).collect();
                    let place = own.and_then(|own| {
                        values
                            .iter()
                            .position(|it| it == own || Some(it) == named(own).as_ref())
                    });
                    (
                        Values::Listed(texts.clone()),
                        place.map(Setting::Listed),
                        texts,
                    )
                }
                KnobSetting::Range { from, to, whole } => {
                    let number = own
                        .and_then(Value::as_f64)
                        .filter(|it| (*from..=*to).contains(it));
                    let values = Values::Range {
                        from: *from,
                        to: *to,
                        whole: *whole,
                    };
                    (values, number.map(Setting::Number), Vec::new())
                }
            };
            self.own_values.push(own.map_or_else(
                || "not set".to_owned(),
                |own| yaml(named(own).as_ref().unwrap_or(own)),
            ));
            self.own.0.push(own_setting);
            self.listed.push(listed);
            knobs.push(Knob {
                name: key.clone(),
                values,
                rank: rank(key),
                idle_with: idle::with(key, &self.tune.space, settings)?,
            });
        }
        self.space = Space::new(knobs).context("`tune.space`")?;
        Ok(())
    }

    /// Refuses a setting that no trial reads.
    fn check_use(&self, key: &str) -> Result<()> {
        let is_of = |sections: &[&str]| sections.iter().any(|it| key.starts_with(it));
        if self.resolved.settings.target.is_some() && is_of(OWN_SEARCH) {
            bail!(
                "`tune.space`: the system under test does not read `{key}`; its own are `target.parameters`"
            );
        }
        if self.arguments.stages.skip_qa && is_of(OF_ANSWERS) {
            bail!(
                "`tune.space`: `{}` does not depend on `{key}`; choose a measure of answers as `tune.objective`",
                self.objective
            );
        }
        Ok(())
    }

    /// Plans a run with each value, so that a bad one is found before anything runs.
    fn check(&self, session: &Session<'_>) -> Result<()> {
        let printer = session.printer.silent();
        let quiet = Session {
            printer: &printer,
            directories: session.directories.clone(),
        };
        for (place, knob) in self.space.knobs().iter().enumerate() {
            let values: Vec<Setting> = match knob.values {
                Values::Listed(ref labels) => (0..labels.len()).map(Setting::Listed).collect(),
                Values::Range { from, to, .. } => [from, to].map(Setting::Number).to_vec(),
            };
            for value in values {
                let mut candidate = Candidate(vec![None; self.own.0.len()]);
                candidate.0[place] = Some(value);
                let assignments = self.assignments(&candidate);
                Layer::assigned_by("tune.space", &assignments)?;
                let mut arguments = self.arguments.clone();
                arguments.settings.assignments.extend(assignments);
                run::check(&quiet, &arguments)
                    .with_context(|| format!("`tune.space`: {}", self.label(&candidate)))?;
            }
        }
        Ok(())
    }

    /// How many settings are tried beside the user's.
    pub(super) fn others(&self) -> usize {
        let most = self.tune.trials.get();
        let own = self.space.effective(self.own.clone());
        let grid = self.space.grid(most);
        grid.map_or(most, |it| it.iter().filter(|it| **it != own).count())
    }

    /// What all trials may cost together, in USD. Rank measures cost nothing.
    pub(super) fn budget(&self) -> Option<f64> {
        let usd = self.arguments.control.budget.or(self.tune.budget.usd);
        usd.filter(|_| !self.arguments.stages.skip_qa)
    }

    /// The settings of a candidate as `--set` takes them. A value of the user's own settings needs none.
    pub(super) fn assignments(&self, candidate: &Candidate) -> Vec<String> {
        let values = self.values(candidate).into_iter();
        let set = values
            .zip(self.space.knobs())
            .filter_map(|(value, knob)| Some((value?, &knob.name)));
        set.map(|(value, name)| format!("{name}={value}")).collect()
    }

    /// Its values in YAML; `None` where it has the user's own that the space lacks.
    fn values(&self, candidate: &Candidate) -> Vec<Option<String>> {
        let settings = candidate.0.iter().enumerate();
        let values = settings.map(|(knob, setting)| match setting {
            Some(Setting::Listed(place)) => Some(self.listed[knob][*place].clone()),
            Some(Setting::Number(number)) => Some(self.number(knob, *number)),
            None => None,
        });
        values.collect()
    }

    /// A number of a range. Four digits are more than any measure can tell apart.
    fn number(&self, knob: usize, number: f64) -> String {
        if let Values::Range { whole: true, .. } = self.space.knobs()[knob].values {
            return format!("{number:.0}");
        }
        let rounded: f64 = format!("{number:.3e}").parse().unwrap_or(number);
        rounded.to_string()
    }

    /// What people call a candidate: `chunk_size=128,profile=bm25`. Settings without an effect are left out.
    pub(super) fn label(&self, candidate: &Candidate) -> String {
        let knobs = self.space.knobs();
        let keys: Vec<&str> = knobs.iter().map(|it| it.name.as_str()).collect();
        let values = self.values(candidate).into_iter().enumerate();
        let idle = self.space.idle(candidate);
        let parts = values
            .filter(|(knob, _)| !idle[*knob])
            .map(|(knob, value)| {
                let value = value.unwrap_or_else(|| self.own_values[knob].clone());
                format!("{}={value}", short_name(keys[knob], &keys))
            });
        parts.collect::<Vec<_>>().join(",")
    }

    /// The settings of a candidate that differ from the user's, as a settings file.
    pub(super) fn file(&self, candidate: &Candidate) -> String {
        let mut tree = Tree::Mapping(Vec::new());
        let values = self.values(candidate).into_iter();
        for ((value, own), knob) in values.zip(&self.own_values).zip(self.space.knobs()) {
            if let Some(value) = value.filter(|it| it != own)
                && let Ok(value) = Tree::parse(&value)
            {
                tree.merge(Tree::at(&knob.name, value));
            }
        }
        evals_yaml::to_yaml(&tree.to_value())
    }

    /// The questions that the objective can be defined for, in the order of the dataset, with the digest of everything that a value
    /// depends on.
    pub(super) async fn questions(
        &self,
        session: &Session<'_>,
        interruption: &Interruption,
    ) -> Result<(Vec<Asked>, String)> {
        let collection = interruption
            .guard(downloads::fetch(session.printer, &self.manifest))
            .await?;
        let selection = run::plan::selection(session, &self.arguments, &self.manifest)?;
        let reading = run::questions::read(
            session.printer,
            &self.manifest,
            &collection,
            KnownIds::None,
            &self.arguments,
            selection.as_ref(),
        );
        let read = interruption.guard(Box::pin(reading)).await?;
        let is_rank = matches!(self.objective, Objective::Rank(_));
        let is_defined =
            |it: &&Question| !is_rank || it.answerable && it.relevant.relevant().next().is_some();
        let asked: Vec<Asked> = read
            .questions
            .iter()
            .filter(is_defined)
            .map(|it| Asked {
                id: it.id.clone(),
                cluster: it.cluster.clone(),
                conversation: it.turn.as_ref().map(|turn| turn.conversation.clone()),
            })
            .collect();
        if asked.is_empty() {
            bail!(
                "no question has a relevant document, so `{}` is undefined for all of them",
                self.objective
            );
        }
        let ids: Vec<&str> = asked.iter().map(|it| it.id.as_str()).collect();
        let digest = self.digest(
            session,
            &serde_json::to_value(collection.provenance())?,
            &ids,
        )?;
        Ok((asked, digest))
    }

    /// The digest of data, settings, prompts and space. A tuning with the same digest is the same, resumed.
    fn digest(&self, session: &Session<'_>, provenance: &Value, ids: &[&str]) -> Result<String> {
        let settings = Settings {
            tune: Tune::default(),
            ..self.resolved.settings.clone()
        };
        let space: BTreeMap<_, _> = self.tune.space.iter().collect();
        let digests = |files: &BTreeMap<String, String>| -> Result<_> {
            let prompts = Prompts::replaceable(&session.directories, files)?;
            Ok(Prompts::digests(prompts.iter().map(|it| &it.prompt)))
        };
        let mut prompts = vec![digests(&settings.prompts)?];
        for (key, knob) in &self.tune.space {
            if let (Some(name), KnobSetting::Values(files)) = (key.strip_prefix("prompts."), knob) {
                for file in files.iter().filter_map(Value::as_str) {
                    prompts.push(digests(&[(name.to_owned(), file.to_owned())].into())?);
                }
            }
        }
        let all = json!({
            "data": provenance,
            "questions": SelectionRecord::digest(ids),
            "settings": settings,
            "prompts": prompts,
            "options": format!("{:?} {:?}", self.arguments.retrieval, self.arguments.target),
            "objective": self.tune.objective,
            "space": space,
            "holdout": self.tune.holdout,
            "trials": self.tune.trials,
            "seed": self.arguments.control.seed,
            "version": env!("CARGO_PKG_VERSION"),
        });
        Ok(hex::encode(Sha256::digest(all.to_string())))
    }
}

/// Refuses options that a tuning has no use for.
fn refuse(run: &RunArgs) -> Result<()> {
    let refused = [
        (
            !run.variants.each.is_empty(),
            "--set-each",
            "list the values under `tune.space`",
        ),
        (
            run.variants.figures.is_some(),
            "--figures",
            "`--out FILE.html` has the figures",
        ),
        (
            run.selection.shard.is_some(),
            "--shard",
            "a tuning compares all settings on the same questions",
        ),
        (
            run.retrieval.profiles.len() > 1 || run.retrieval.profiles.iter().any(|it| it == "all"),
            "--profile",
            "list the profiles under `tune.space` as `search.profile: [bm25, hybrid]`",
        ),
        (
            run.stages.skip_qa || run.stages.skip_retrieval,
            "--skip-qa and --skip-retrieval",
            "the objective decides which benchmark runs",
        ),
        (
            run.control.repeat.get() > 1,
            "--repeat",
            "each question is asked once for each of the settings",
        ),
    ];
    match refused.iter().find(|(is_used, ..)| *is_used) {
        Some((_, option, advice)) => bail!("`tune` takes no {option}: {advice}"),
        None => Ok(()),
    }
}

fn of_file(path: &Path) -> Result<Tune> {
    let shown = path.display().to_string();
    let text =
        regular_file::read_text(path, LARGEST).with_context(|| format!("cannot read `{shown}`"))?;
    of_text(&shown, &text)
}

fn of_text(origin: &str, text: &str) -> Result<Tune> {
    let layer = Layer::section(origin, "tune", text)?;
    Ok(evals_settings::resolve(vec![layer])?.settings.tune)
}

/// A value as one line of YAML, without quotes where it needs none.
fn yaml(value: &Value) -> String {
    match value.as_str() {
        Some(text) if Tree::parse(text) == Ok(Tree::Leaf(value.clone())) => text.to_owned(),
        // JSON is YAML.
        _ => value.to_string(),
    }
}

/// A model as `PROVIDER:NAME`, which is how a space names it.
fn named(value: &Value) -> Option<Value> {
    let text = |key| value.get(key)?.as_str();
    Some(format!("{}:{}", text("provider")?, text("name")?).into())
}

/// How much has to be done again if a setting changes: the lower, the more.
fn rank(key: &str) -> usize {
    let order = [
        "processing",
        "embeddings",
        "target",
        "search",
        "reranking",
        "prompts",
        "qa",
    ];
    let section = key.split('.').next().unwrap_or(key);
    order
        .iter()
        .position(|it| *it == section)
        .unwrap_or(order.len())
}

/// The last part of a key, or all of it if another key ends in the same. A model has the name of its role.
pub fn short_name<'k>(key: &'k str, keys: &[&str]) -> &'k str {
    fn last(key: &str) -> &str {
        let named = key.strip_suffix(".model").unwrap_or(key);
        named.rsplit('.').next().unwrap_or(named)
    }
    let is_taken = keys.iter().any(|it| *it != key && last(it) == last(key));
    if is_taken { key } else { last(key) }
}
