//! Whether two records are of the same run, or of runs with the same configuration; if not, which values differ.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::settings::{Lists, flatten};
use super::{Benchmark, RunRecord, System};
use evals_settings::RERANK;
use evals_settings::Role;
use evals_targets::EmbeddingTarget;

/// What is asked about two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sameness {
    /// Whether they are of the same run, which can be resumed.
    Run,
    /// Whether the runs are repetitions: no setting differs that their figures depend on.
    Configuration,
}

/// What is another one if a member of a record has another value. All but the first keep a run from being resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    /// The run alone.
    Run,
    /// All figures.
    Figures,
    /// The figures of answers.
    Answers,
    /// Those of our own pipeline.
    Pipeline,
    /// Those with a reranker.
    Reranked,
    /// Those of a profile that compares embeddings, or of a target that gets them.
    Vectors,
    /// Those whose profile has full-text search.
    FullText,
}

/// The effects of members with everything below them, by dotted path; the longest path counts. A member that is not listed affects the run
/// alone.
const EFFECTS: &[(Effect, &[&str])] = &[
    // When, from where and how fast a run was started does not affect its results. Prices only give the costs at the end, batches give the
    // same replies as direct calls, and `store` only says how to reach an index. The parameters of an answerer that searches by itself state
    // `qa.mode` and `qa.agent`, and other answerers ignore them.
    (
        Effect::Nothing,
        &[
            "started",
            "command_line",
            "settings_from",
            "concurrency",
            "merged",
            "index.uri",
            "index.build",
            "index.statistics",
            "settings.batch",
            "settings.evaluations.case_timeout",
            "settings.evaluations.concurrency",
            "settings.prices",
            "settings.qa.agent",
            "settings.qa.mode",
            "settings.questions",
            "settings.reranking.batch_size",
            "settings.search.latency_sample",
            "settings.store",
        ],
    ),
    (
        Effect::Figures,
        &[
            "benchmark",
            "profile",
            "dataset.name",
            "dataset.provenance",
            "dataset.shard.index",
            "dataset.shard.of",
            UNANSWERABLE,
            "index.approximate",
            "index.identity",
            "target.parameters",
            "target.version",
            "models",
            "parameters",
            "prompts",
            "filter",
            "k",
            "repeat",
            "settings.conversations",
            "settings.target.match",
        ],
    ),
    (
        Effect::Answers,
        &[
            "settings.qa.context_tokens",
            "settings.search.context_radius",
        ],
    ),
    (
        Effect::Pipeline,
        &["models.answerer", "settings.search.history"],
    ),
    (Effect::Reranked, &["settings.reranking"]),
    (
        Effect::Vectors,
        &[
            "index.identity.embedder",
            "models.embedder",
            "settings.embeddings.model.document_prefix",
            "settings.embeddings.model.dtype",
            "settings.embeddings.model.max_tokens",
            "settings.embeddings.model.pooling",
            "settings.embeddings.model.query_prefix",
        ],
    ),
    (
        Effect::FullText,
        &["index.identity.analyzer", "index.identity.full_text"],
    ),
];

/// The settings of a provider, a target or a model that affect how requests are sent, but not the replies.
const TRAFFIC: [&str; 6] = [
    "api_key_env",
    "max_attempts",
    "max_concurrency",
    "requests_per_minute",
    "timeout",
    "tokens_per_minute",
];

/// The settings that have [`TRAFFIC`], beside the models of all roles. `*` stands for any name.
const WITH_TRAFFIC: [&str; 2] = ["providers.*", "target"];

/// The effects of a member and of those below it. The member `*` stands for those that are not listed.
#[derive(Debug, Default)]
struct EffectTree {
    /// `None` if it is that of the member above.
    own: Option<Effect>,
    below: BTreeMap<String, EffectTree>,
}

/// The effects of a record.
static EFFECTS_OF_RECORD: LazyLock<EffectTree> = LazyLock::new(|| {
    let mut tree = EffectTree::default();
    for (effect, paths) in EFFECTS {
        for path in *paths {
            tree.add(path, *effect);
        }
    }
    let roles = Role::ALL.iter().map(|role| role.path());
    for section in WITH_TRAFFIC.into_iter().chain(roles) {
        for setting in TRAFFIC {
            tree.add(&format!("settings.{section}.{setting}"), Effect::Nothing);
        }
    }
    tree
});

impl EffectTree {
    fn add(&mut self, path: &str, effect: Effect) {
        let member = path.split('.').fold(self, |tree, name| {
            tree.below.entry(name.to_owned()).or_default()
        });
        member.own = Some(effect);
    }
}

/// The effect of a member, with the listed ones below it.
#[derive(Debug, Clone, Copy)]
struct Effects {
    own: Effect,
    listed: Option<&'static EffectTree>,
}

impl Effects {
    /// The effects of a record.
    fn of_record() -> Self {
        Self {
            own: Effect::Run,
            listed: Some(&EFFECTS_OF_RECORD),
        }
    }

    /// The effects of the member with a name.
    fn of_member(self, name: &str) -> Self {
        let below = self.listed.map(|listed| &listed.below);
        let listed = below.and_then(|below| below.get(name).or_else(|| below.get("*")));
        Self {
            own: listed.and_then(|listed| listed.own).unwrap_or(self.own),
            listed,
        }
    }

    /// Whether members below this one have effects of their own.
    fn differ_below(self) -> bool {
        self.listed.is_some_and(|listed| !listed.below.is_empty())
    }
}

/// The number of questions excluded from the measures because the corpus does not answer them. Earlier versions measured them, so
/// their runs exclude none. The number varies with `--limit`, so only its being zero or not belongs to the configuration.
const UNANSWERABLE: &str = "dataset.unanswerable";

/// Marks the configuration of a system under test, which has no index. Its name is part of the profile.
const IS_TARGET: &str = "target";

/// Parts that only our own pipeline has.
const OF_OUR_PIPELINE: &[&str] = &[
    "index.",
    "settings.",
    "models.embedder",
    "models.reranker",
    "models.rewriter",
];

/// Most differences that a configuration's distinction lists.
const LISTED: usize = 3;

/// Most characters of a value that are shown.
const SHOWN: usize = 24;

/// The values that identify a configuration, by dotted paths into the record. Runs with equal configurations are repetitions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Configuration(BTreeMap<String, String>);

impl RunRecord {
    /// The members that have to be equal to resume the run. Its journal begins with them.
    pub fn identity(&self) -> Value {
        self.part(|effect| effect != Effect::Nothing)
    }

    /// The values in which the record of another run differs, as `path: old -> new`; empty if both are of the same run.
    pub fn differences(&self, new: &Self) -> Vec<String> {
        let [old, new] = [self, new].map(Configuration::of_identity);
        differences(&old, &new, Sameness::Run)
    }

    /// The members whose effects are wanted.
    fn part(&self, is_wanted: impl Fn(Effect) -> bool + Copy) -> Value {
        let record = serde_json::to_value(self).expect("a record is texts, numbers and JSON");
        wanted(record, Effects::of_record(), is_wanted).unwrap_or_default()
    }
}

/// The wanted values of a tree; `None` if there are none. An object that was empty stays if it is wanted.
fn wanted(
    value: Value,
    effects: Effects,
    is_wanted: impl Fn(Effect) -> bool + Copy,
) -> Option<Value> {
    let is_kept = is_wanted(effects.own);
    let members = match value {
        Value::Object(members) if effects.differ_below() => members,
        whole => return is_kept.then_some(whole),
    };
    let mut kept = Map::new();
    for (name, value) in members {
        let value = wanted(value, effects.of_member(&name), is_wanted);
        kept.extend(value.map(|value| (name, value)));
    }
    (is_kept || !kept.is_empty()).then(|| kept.into())
}

impl Configuration {
    /// The configuration of a run.
    pub fn of(record: &RunRecord) -> Self {
        let profile = ProfileUse::of(&record.profile);
        let is_target = matches!(record.system, System::Target(_));
        let vectors = match &record.system {
            System::Target(target) => target.parameters.contains_key(EmbeddingTarget::EMBEDDER),
            _ => profile.vectors,
        };
        let part = record.part(|effect| match effect {
            Effect::Nothing | Effect::Run => false,
            Effect::Figures => true,
            Effect::Answers => record.benchmark == Benchmark::Qa,
            Effect::Pipeline => !is_target,
            Effect::Reranked => record.models.contains_key("reranker"),
            Effect::Vectors => vectors,
            Effect::FullText => profile.full_text,
        });
        let mut found = Self::flat(&part);
        let values = &mut found.0;
        values.remove(UNANSWERABLE);
        if record.dataset.unanswerable > 0 {
            values.insert(UNANSWERABLE.to_owned(), "left out".to_owned());
        }
        if is_target {
            values.insert(IS_TARGET.to_owned(), "yes".to_owned());
            values.insert("profile".to_owned(), record.system_name().to_owned());
        }
        found
    }

    /// The values that have to be equal to resume a run.
    pub fn of_identity(record: &RunRecord) -> Self {
        Self::flat(&record.identity())
    }

    fn flat(value: &Value) -> Self {
        let mut values = BTreeMap::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            flatten(name, value, Lists::Items, &mut values);
        }
        Self(values)
    }

    /// The configuration with these values, by dotted path.
    pub fn of_values(values: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(values.into_iter().collect())
    }

    /// The values by dotted path.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(path, value)| (path.as_str(), value.as_str()))
    }

    /// The configuration without the dataset's digests and the treatment of unanswerable questions.
    #[must_use]
    pub fn without_data(&self) -> Self {
        let kept = self.0.iter();
        let kept = kept.filter(|(path, _)| !is_of_data(path) && *path != UNANSWERABLE);
        Self(
            kept.map(|(path, value)| (path.clone(), value.clone()))
                .collect(),
        )
    }

    /// Whether two runs read the same files of the dataset.
    pub fn has_data_of(&self, other: &Self) -> bool {
        let crosses = self.0.contains_key(IS_TARGET) != other.0.contains_key(IS_TARGET);
        let is_asked =
            |(path, _): &(&String, &String)| is_of_data(path) && !(crosses && is_of_one_side(path));
        let [one, two] = [self, other].map(|it| it.0.iter().filter(is_asked));
        one.eq(two)
    }

    /// Identifies the files of the dataset: the beginning of a SHA-256.
    pub fn data_digest(&self) -> String {
        const DIGITS: usize = 8;
        let mut hash = Sha256::new();
        for (path, value) in self.0.iter().filter(|(path, _)| is_provenance(path)) {
            hash.update(format!("{path}={value}\n"));
        }
        hex::encode(hash.finalize())[..DIGITS].to_owned()
    }

    /// Describes how this configuration differs from `others`; empty if it does not. A difference in digests is described by the
    /// time `seen`.
    pub fn distinction<'c>(&self, others: impl Iterator<Item = &'c Self>, seen: &str) -> String {
        let mut paths = BTreeSet::new();
        for other in others {
            paths.extend(self.differing(other, Sameness::Configuration));
        }
        let paths = significant(&paths);
        let (contents, settings): (Vec<&str>, Vec<&str>) =
            paths.iter().partition(|path| self.is_content(path));
        let mut named: Vec<String> = settings
            .iter()
            .take(LISTED)
            .map(|path| format!("{}={}", shown(path), self.value(path)))
            .collect();
        if settings.len() > LISTED {
            named.push(format!("{} more", settings.len() - LISTED));
        }
        let contents: BTreeSet<_> = contents.into_iter().map(content).collect();
        if !contents.is_empty() {
            let contents: Vec<_> = contents.into_iter().collect();
            named.push(format!("{} as of {seen}", contents.join(" and ")));
        }
        named.join(", ")
    }

    /// The paths of the values that differ, and that answer the question. A value that only one of two profiles depends on is no difference
    /// of configurations: the profiles say it already.
    fn differing<'c>(
        &'c self,
        other: &'c Self,
        question: Sameness,
    ) -> impl Iterator<Item = &'c str> {
        let profiles =
            [self, other].map(|it| ProfileUse::of(it.0.get("profile").map_or("", String::as_str)));
        let crosses = self.0.contains_key(IS_TARGET) != other.0.contains_key(IS_TARGET);
        let is_said = move |path: &str| {
            let names = path.split(['.', '[']);
            let effects = names.fold(Effects::of_record(), Effects::of_member);
            let depends = |profile: &ProfileUse| match effects.own {
                Effect::Vectors => profile.vectors,
                Effect::FullText => profile.full_text,
                _ => true,
            };
            !profiles.iter().all(depends) || (crosses && is_of_one_side(path))
        };
        let both = self.0.keys().chain(other.0.keys()).map(String::as_str);
        both.filter(|path| self.0.get(*path) != other.0.get(*path))
            .filter(move |path| question == Sameness::Run || !is_said(path))
    }

    /// Whether a value is a digest of files, which is meaningless to people.
    fn is_content(&self, path: &str) -> bool {
        is_of_data(path) || self.0.get(path).is_some_and(|value| is_digest(value))
    }

    fn value(&self, path: &str) -> String {
        let absent = match path {
            UNANSWERABLE => "none left out",
            _ => "none",
        };
        let value = self.0.get(path).map_or(absent, String::as_str);
        match value.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &value[..end]),
            None => value.to_owned(),
        }
    }
}

/// The values in which two runs differ, as `path: old -> new`; empty if they are the same.
pub fn differences(old: &Configuration, new: &Configuration, question: Sameness) -> Vec<String> {
    let paths = old.differing(new, question).collect();
    let mut lines: Vec<String> = Vec::new();
    for path in significant(&paths) {
        let values = [old, new].map(|side| side.value(path));
        let line = if old.is_content(path) && new.is_content(path) {
            format!("{}: other content", content(path))
        } else {
            format!("{}: {} -> {}", shown(path), values[0], values[1])
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// What a search profile uses of an index.
#[derive(Debug, Clone, Copy)]
struct ProfileUse {
    vectors: bool,
    full_text: bool,
}

impl ProfileUse {
    fn of(profile: &str) -> Self {
        let base = profile.strip_suffix(RERANK).unwrap_or(profile);
        Self {
            vectors: !matches!(base, "unranked" | "bm25"),
            full_text: !matches!(base, "unranked" | "semantic"),
        }
    }
}

/// Whether a path says nothing about the difference of our own pipeline and a system under test.
fn is_of_one_side(path: &str) -> bool {
    path == IS_TARGET || OF_OUR_PIPELINE.iter().any(|start| path.starts_with(start))
}

/// Whether a path leads to a digest of the dataset's files.
fn is_of_data(path: &str) -> bool {
    is_provenance(path) || path == "index.identity.dataset"
}

fn is_provenance(path: &str) -> bool {
    path.starts_with("dataset.provenance.")
}

/// Names the content whose digest is at a path.
fn content(path: &str) -> Cow<'_, str> {
    if is_of_data(path) {
        return "dataset files".into();
    }
    let path = path.strip_suffix(".digest").unwrap_or(path);
    let path = path.strip_prefix("prompts.").unwrap_or(path);
    shown(path)
}

/// Whether a value is a hash in hexadecimal.
fn is_digest(value: &str) -> bool {
    let digits = value.strip_prefix("sha256:").unwrap_or(value);
    digits.len() >= 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The paths without redundant ones. The index's embedder and the reranker's settings appear under `models` too, and a digest adds
/// nothing if the name or a setting of its model differs.
fn significant<'p>(paths: &BTreeSet<&'p str>) -> Vec<&'p str> {
    let any = |start: &str| paths.iter().any(|path| path.starts_with(start));
    let twins = [
        ("index.identity.embedder.model.", "models.embedder."),
        ("settings.reranking.model.", "models.reranker."),
    ];
    let is_significant = |path: &&&str| {
        let settings = match **path {
            "models.embedder.digest" => "settings.embeddings.model.",
            "models.reranker.digest" => "settings.reranking.model.",
            _ => "",
        };
        let is_stated = !settings.is_empty() && any(settings);
        let is_named = path
            .strip_suffix(".digest")
            .is_some_and(|model| paths.contains(&*format!("{model}.name")));
        let is_twice = twins.iter().any(|(start, twin)| {
            let member = path.strip_prefix(start);
            member.is_some_and(|member| paths.contains(&*format!("{twin}{member}")))
        });
        !is_stated && !is_named && !is_twice
    };
    paths.iter().filter(is_significant).copied().collect()
}

/// A path as users know it: that of the setting, if there is one.
fn shown(path: &str) -> Cow<'_, str> {
    // The record has the settings of a target below its `parameters`.
    if let Some(setting) = path.strip_prefix("target.parameters.") {
        return format!("target.{setting}").into();
    }
    Cow::Borrowed(match path {
        UNANSWERABLE => "unanswerable questions",
        "k" => "search.limit",
        path => path.strip_prefix("settings.").unwrap_or(path),
    })
}
