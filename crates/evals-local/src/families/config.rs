//! Reading of `config.json` that the families share.

use serde_json::{Map, Value};

use crate::encoder::Activation;
use crate::error::LocalError;
use crate::folder::Folder;

pub(super) const CONFIG: &str = "config.json";

/// The default of configurations that name no activation.
pub(super) fn gelu() -> String {
    "gelu".to_owned()
}

/// The activation that `config.json` names under `key`.
pub(crate) fn activation(
    folder: &Folder,
    key: &'static str,
    name: &str,
) -> Result<Activation, LocalError> {
    Activation::named(name).ok_or_else(|| folder.unsupported(CONFIG, key, name))
}

/// Checks that `layer_types` has one entry for each layer.
pub(super) fn check_count(
    folder: &Folder,
    types: &[String],
    layers: usize,
) -> Result<(), LocalError> {
    if types.len() == layers {
        return Ok(());
    }
    let value = format!("{} kinds for {layers} layers", types.len());
    Err(folder.unsupported(CONFIG, "layer_types", value))
}

/// Refuses scaled rotary positions. `key` is the key of `rope` in `config.json`.
pub(super) fn check_rope(
    folder: &Folder,
    key: &'static str,
    rope: &Map<String, Value>,
) -> Result<(), LocalError> {
    let kind = rope.get("rope_type").or_else(|| rope.get("type"));
    match kind.and_then(Value::as_str) {
        None | Some("default") => Ok(()),
        Some(kind) => Err(folder.unsupported(CONFIG, key, kind)),
    }
}
