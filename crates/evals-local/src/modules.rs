use serde::Deserialize;

use super::error::LocalError;
use super::folder::Folder;

const FILE: &str = "modules.json";

/// A step that sentence-transformers takes with a text.
#[derive(Debug, Deserialize)]
pub(super) struct Module {
    /// Its folder, empty for the model's own.
    pub(super) path: String,
    /// The path of its class.
    #[serde(rename = "type")]
    pub(super) kind: String,
}

impl Module {
    /// The last part of its type; the parts before it changed over the years.
    pub(super) fn name(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or_default()
    }

    /// Whether it is the encoder with its tokenizer.
    pub(super) fn is_encoder(&self) -> bool {
        self.name() == "Transformer"
    }
}

/// The packages whose classes are known by name.
const PACKAGES: [&str; 2] = ["sentence_transformers.", "pylate."];

/// The steps of `modules.json` in their order, none where there is no such file. Refuses a model's own code, whatever it is called.
pub(super) fn modules(folder: &Folder) -> Result<Vec<Module>, LocalError> {
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

/// Refuses an encoder in a folder of its own: the files beside `modules.json`, if there are any, would be another model's.
pub(super) fn check_encoder(folder: &Folder) -> Result<(), LocalError> {
    let modules = modules(folder)?;
    match modules
        .into_iter()
        .find(|module| module.is_encoder() && !module.path.is_empty())
    {
        Some(encoder) => Err(LocalError::EncoderFolder {
            path: folder.path(FILE),
            encoder: encoder.path,
        }),
        None => Ok(()),
    }
}
