//! The models that the settings name.
//!
//! A model is resolved to its [`ModelKind`] once, by its role and its provider. `fields` is the table of what each setting means for
//! which kind. The kinds are opened by `embedded`, `local` and `servers`; `embedder` and `reranker` choose among these.

mod configured;
pub(crate) mod embedded;
pub(crate) mod embedder;
pub(crate) mod fields;
mod files;
mod kind;
mod local;
pub(crate) mod reranker;
mod servers;

pub(crate) use self::configured::{ConfiguredModel, ConfiguredModels};
pub(crate) use self::kind::{EMBEDDED, ModelKind};
pub(crate) use self::local::LocalModel;
pub(crate) use self::servers::{Servers, prompted};
