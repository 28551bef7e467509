//! The registry: evaluators by name.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Evaluator, EvaluatorSpec, ReportEvaluator};
use evals_messages::nearest;
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, ModelIdentity};
use evals_targets::process::WorkerPools;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::judge_prompts::JudgePrompts;
use crate::rag::JudgePool;
use crate::signature::{Arguments, Signature, SignatureError};
use crate::spec_value::spec_of;
use crate::untyped::Untyped;

/// Why an evaluator cannot be built from its arguments.
pub type BuildError = Box<dyn std::error::Error + Send + Sync>;

/// Evaluators by name, in the order in which they were added.
#[derive(Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

/// One registered evaluator.
pub struct Entry {
    name: &'static str,
    description: &'static str,
    signature: Signature,
    judges: Judges,
    build: Box<Build>,
}

/// What an evaluator judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judges {
    Cases,
    Reports,
}

/// Builds an evaluator from its arguments. Those of one around others are built by the registry.
type Build = dyn Fn(&Arguments, &Resources, &Registry) -> Result<Built, BuildError> + Send + Sync;

/// What a registry builds for cases.
type CaseEvaluator = Result<Arc<dyn Evaluator<Untyped>>, BuildError>;

/// An evaluator that a registry built.
#[derive(Clone, Debug)]
pub enum Built {
    /// It judges cases.
    Case(Arc<dyn Evaluator<Untyped>>),
    /// It judges the whole report.
    Report(Arc<dyn ReportEvaluator<Untyped>>),
}

/// The resources that evaluators need besides their arguments.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// The chat models of evaluators that ask one; `None` if none are at hand, for example while a file is only checked. An
    /// evaluator that needs a model is then built all the same and fails when it is asked.
    pub models: Option<Arc<dyn ChatModels>>,
    /// The prompts of evaluators that ask a chat model.
    pub prompts: Arc<JudgePrompts>,
    /// The panels of judges that decide claim by claim, shared so that the claims of an answer are listed once.
    pub judges: JudgePool,
    /// The folder that paths in arguments are relative to: that of the dataset file. `None` for the current folder.
    pub folder: Option<PathBuf>,
    /// The worker processes of evaluators that are commands, shared by all cases. Close them at the end of the run.
    pub workers: WorkerPools,
}

/// Hands out opened chat models.
pub trait ChatModels: fmt::Debug + Send + Sync {
    /// The model that an evaluator names, or the default one.
    fn chat(&self, wanted: &WantedModel) -> Result<Arc<dyn ChatModel>, BuildError>;
}

/// A chat model as an evaluator names it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedModel {
    /// `provider:name`; `None` for the default model.
    pub name: Option<String>,
    /// Settings such as `temperature`, in the words of pydantic-ai; empty for the model's own.
    pub settings: Map<String, Value>,
}

impl Resources {
    /// Opens a model. Without models at hand, it is one that gives no answer.
    pub(crate) fn chat(&self, wanted: &WantedModel) -> Result<Arc<dyn ChatModel>, BuildError> {
        match &self.models {
            Some(models) => models.chat(wanted),
            None => Ok(Arc::new(Unopened(ModelIdentity::new("no", "model")))),
        }
    }
}

/// Stands for a model in an evaluator that is built without models at hand.
#[derive(Debug)]
struct Unopened(ModelIdentity);

#[async_trait]
impl ChatModel for Unopened {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn chat(&self, _request: &ChatRequest) -> Result<ChatReply, ChatError> {
        Err(ChatError {
            model: self.0.clone(),
            // It would repeat in every case.
            failure: Failure::Terminal,
            source: "no chat model was opened for this evaluator".into(),
        })
    }
}

/// Why a registry has no evaluator for a specification.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nothing is registered under this name.
    #[error("no evaluator is called `{name}`{hint}")]
    Unknown {
        /// The name.
        name: String,
        /// Advice: the nearest name, or that the evaluator no longer exists.
        hint: String,
    },
    /// The arguments do not fit.
    #[error(transparent)]
    Arguments(#[from] SignatureError),
    /// The evaluator refuses its arguments.
    #[error("`{name}`: {}", evals_messages::chain(&**problem))]
    Refused {
        /// Name of the evaluator.
        name: String,
        /// Why. The message tells it, so it is no source of this error.
        problem: BuildError,
    },
}

/// Why an argument names no evaluator of cases.
#[derive(Debug, Error)]
enum NestedError {
    #[error(
        "`{0}` is not an evaluator; one is `Name`, `{{Name: argument}}`, `{{Name: {{argument: value, …}}}}` or `{{name: Name, arguments: …}}`"
    )]
    Form(String),
    #[error("`{0}` judges whole reports, where an evaluator of cases is needed")]
    Report(String),
}

impl Entry {
    /// An evaluator of cases, which `build` makes from its arguments.
    pub fn case(
        name: &'static str,
        description: &'static str,
        signature: Signature,
        build: impl Fn(&Arguments, &Resources) -> CaseEvaluator + Send + Sync + 'static,
    ) -> Self {
        Self::around(
            name,
            description,
            signature,
            move |arguments, resources, _| build(arguments, resources),
        )
    }

    /// An evaluator of cases around others, which its arguments name and the registry builds.
    pub(crate) fn around(
        name: &'static str,
        description: &'static str,
        signature: Signature,
        build: impl Fn(&Arguments, &Resources, &Registry) -> CaseEvaluator + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            description,
            signature,
            judges: Judges::Cases,
            build: Box::new(move |arguments, resources, registry| {
                build(arguments, resources, registry).map(Built::Case)
            }),
        }
    }

    /// An evaluator of reports, which `build` makes from its arguments.
    pub fn report(
        name: &'static str,
        description: &'static str,
        signature: Signature,
        build: impl Fn(&Arguments, &Resources) -> Result<Arc<dyn ReportEvaluator<Untyped>>, BuildError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            name,
            description,
            signature,
            judges: Judges::Reports,
            build: Box::new(move |arguments, resources, _| {
                build(arguments, resources).map(Built::Report)
            }),
        }
    }

    /// The name in dataset files.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A description of the evaluator in one sentence.
    pub fn description(&self) -> &'static str {
        self.description
    }

    /// Its parameters.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Whether it judges whole reports.
    pub fn judges_reports(&self) -> bool {
        self.judges == Judges::Reports
    }
}

impl Registry {
    /// A registry without evaluators.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an evaluator. It replaces one of the same name, a built-in one too.
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Self {
        match self
            .entries
            .iter_mut()
            .find(|known| known.name == entry.name)
        {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
        self
    }

    /// All entries, in the order in which they were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Builds the evaluator that `spec` describes.
    pub fn build(
        &self,
        spec: &EvaluatorSpec,
        resources: &Resources,
    ) -> Result<Built, RegistryError> {
        let entry = self
            .entry(&spec.name)
            .ok_or_else(|| self.unknown(&spec.name, None))?;
        let arguments = entry.signature.bind(entry.name, &spec.arguments)?;
        (entry.build)(&arguments, resources, self).map_err(|problem| RegistryError::Refused {
            name: entry.name.to_owned(),
            problem,
        })
    }

    /// Builds the evaluator of cases that is written in an argument.
    pub(crate) fn nested(&self, written: &Value, resources: &Resources) -> CaseEvaluator {
        let spec = spec_of(written).ok_or_else(|| NestedError::Form(written.to_string()))?;
        if self.entry(&spec.name).is_none() {
            return Err(self.unknown(&spec.name, Some(Judges::Cases)).into());
        }
        match self.build(&spec, resources)? {
            Built::Case(evaluator) => Ok(evaluator),
            Built::Report(_) => Err(NestedError::Report(spec.name).into()),
        }
    }

    /// The error about a name that is not registered. It suggests evaluators of the wanted kind, of both kinds for `None`.
    pub(crate) fn unknown(&self, name: &str, wanted: Option<Judges>) -> RegistryError {
        let fitting = self.entries.iter();
        let fitting = fitting.filter(|entry| wanted.is_none_or(|wanted| wanted == entry.judges));
        // The ending that many names share makes none of them near.
        let stem = name.strip_suffix("Evaluator").unwrap_or(name);
        let nearest = nearest::all(stem, fitting.map(|entry| entry.name));
        let hint = if name == "Python" {
            "; pydantic-evals removed it, write an `Exec` evaluator instead".to_owned()
        } else if !nearest.is_empty() {
            nearest::did_you_mean(nearest)
        } else if wanted == Some(Judges::Reports) {
            "; evaluators of your own are registered in Rust".to_owned()
        } else {
            "; evaluators of your own are commands, named by `Exec`, or registered in Rust"
                .to_owned()
        };
        RegistryError::Unknown {
            name: name.to_owned(),
            hint,
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("name", &self.name)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
        formatter.debug_tuple("Registry").field(&names).finish()
    }
}

/// Adds entries one after the other, each as [`Registry::with`] does.
impl Extend<Entry> for Registry {
    fn extend<I: IntoIterator<Item = Entry>>(&mut self, entries: I) {
        for entry in entries {
            *self = std::mem::take(self).with(entry);
        }
    }
}
