//! `modules.json`: the steps that sentence-transformers takes with a text.

use serde::Deserialize;

use super::Folder;
use crate::error::LocalError;

const FILE: &str = "modules.json";

/// One step.
#[derive(Debug, Deserialize)]
pub(crate) struct Module {
    /// Its folder, empty for the model's own.
    pub(crate) path: String,
    /// The path of its Python class.
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

impl Module {
    /// The name of its class. The modules before the name changed over the years.
    pub(crate) fn name(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or_default()
    }

    /// Whether it is the encoder with its tokenizer.
    pub(crate) fn is_encoder(&self) -> bool {
        self.name() == "Transformer"
    }
}

/// The packages whose classes are known by name.
const PACKAGES: [&str; 2] = ["sentence_transformers.", "pylate."];

/// The steps in their order, none if the folder has no `modules.json`. A class of any other package is the model's own code and
/// is refused.
pub(crate) fn modules(folder: &Folder) -> Result<Vec<Module>, LocalError> {
    let modules: Vec<Module> = folder.json(FILE)?.unwrap_or_default();
    let is_own = |module: &&Module| {
        let mut packages = PACKAGES.iter();
        !packages.any(|package| module.kind.starts_with(package))
    };
    match modules.iter().find(is_own) {
        Some(module) => Err(folder.unsupported(FILE, "type", &module.kind)),
        None => Ok(modules),
    }
}

/// Refuses an encoder in a subfolder: files beside `modules.json` would then belong to another model.
pub(super) fn check_encoder(folder: &Folder) -> Result<(), LocalError> {
    let modules = modules(folder)?;
    match modules
        .into_iter()
        .find(|module| module.is_encoder() && !module.path.is_empty())
    {
        Some(encoder) => {
            let reason = format!(
                "names a subfolder for the encoder, `{}`; move its files beside `modules.json` and set its `path` there to \
                 an empty string",
                encoder.path
            );
            Err(folder.unusable(FILE, reason))
        }
        None => Ok(()),
    }
}
