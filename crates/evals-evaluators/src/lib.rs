//! Built-in evaluators by name, and the dataset files that name them, in the format of pydantic-evals.
//!
//! [`Untyped`] is the domain of such files. A [`Registry`] knows evaluators by name: it binds the arguments of an
//! [`EvaluatorSpec`](evals::EvaluatorSpec) to a [`Signature`] and builds the evaluator. A Rust program registers its own
//! evaluators beside the built-in ones: [`Entry::check`] takes a closure, [`Entry::case`] anything that implements
//! [`Evaluator`](evals::Evaluator). The example `custom_evaluator` shows both.

mod analyses;
mod argument;
mod built_in;
mod checks;
mod exec;
mod files;
mod finding;
mod judge_prompts;
mod judges;
mod negation;
pub mod pydantic_report;
mod python;
mod rag;
mod registry;
mod signature;
mod spans;
mod spec_value;
mod untyped;
mod wanted_models;

pub use files::{
    DatasetFile, DatasetFileError, FileCase, FileEvaluator, FileFormat, Loaded, Problem, Problems,
    schema, schema_beside,
};
pub use finding::Finding;
pub use judge_prompts::JudgePrompts;
pub use registry::{
    BuildError, Built, ChatModels, Entry, Registry, RegistryError, Resources, WantedModel,
};
pub use signature::{Arguments, Parameter, Signature, SignatureError};
pub use spans::{SpanQuery, SpanQueryError};
pub use untyped::Untyped;
