//! A model's folder: its files, its `modules.json`, and errors that name it.

mod errors;
mod files;
mod modules;
mod open;
pub(crate) mod regular_file;

pub(crate) use files::Folder;
pub(crate) use modules::{Module, modules};
