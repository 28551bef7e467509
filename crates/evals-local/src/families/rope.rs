use serde_json::{Map, Value};

use super::super::error::LocalError;
use super::super::folder::Folder;
use super::CONFIG;

/// Refuses rotary positions that are scaled. `key` is where `rope` stands in `config.json`.
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
