//! A model's folder: its files, its `modules.json`, and errors that name it.

mod files;
mod modules;
mod open;

pub(crate) use files::{Folder, open_file};
pub(crate) use modules::{Module, modules};
