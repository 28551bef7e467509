//! The path of each field of a reply: those of our own format, or those that the settings name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::path::Path;
use crate::settings::{ResponseSettings, SettingsProblem};

/// The fields of our own format. `output` is another name of the answer, for files of outputs.
const OWN: [&str; 16] = [
    "id",
    "error",
    "answer",
    "output",
    "documents",
    "citations",
    "refused",
    "usage",
    "model",
    "latency_seconds",
    "latency_ms",
    "version",
    "tool_calls",
    "spans",
    "attributes",
    "metrics",
];

/// The fields of a document. Those that the settings do not name have the names of our own format.
const OF_DOCUMENT: [&str; 4] = ["id", "score", "title", "text"];

/// The path of each field that is read, by its key below `response`.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    fields: BTreeMap<String, Path>,
    /// Whether a document may be an id alone. It may not if the settings say where its id is.
    pub(super) document_may_be_an_id: bool,
}

impl Paths {
    /// The paths of our own format.
    pub(super) fn own() -> Self {
        let of_reply = OWN.map(|name| (name.to_owned(), own(name)));
        let of_document = OF_DOCUMENT.map(|name| (format!("document_{name}"), own(name)));
        Self {
            fields: of_reply.into_iter().chain(of_document).collect(),
            document_may_be_an_id: true,
        }
    }

    pub(super) fn configured(settings: &ResponseSettings) -> Result<Self, SettingsProblem> {
        let mut paths = Self::own();
        paths.fields.retain(|key, _| key.starts_with("document_"));
        let written = serde_json::to_value(settings).expect("settings are plain data");
        paths.add("", &written)?;
        paths.document_may_be_an_id = settings.document_id.is_none();
        Ok(paths)
    }

    /// Adds the paths of some settings, whose keys begin so.
    fn add(&mut self, beginning: &str, settings: &Value) -> Result<(), SettingsProblem> {
        for (name, setting) in settings.as_object().into_iter().flatten() {
            let key = format!("{beginning}{name}");
            match setting {
                Value::String(text) => {
                    let path = Path::configured(&key, text)?;
                    self.fields.insert(key, path);
                }
                inner => self.add(&format!("{key}."), inner)?,
            }
        }
        Ok(())
    }

    /// The path of a field, if it is read.
    pub(super) fn get(&self, key: &str) -> Option<&Path> {
        self.fields.get(key)
    }
}

fn own(name: &str) -> Path {
    Path::own(name, &format!("$.{name}"))
}
