//! Where a folder keeps its chat template.

use std::collections::BTreeMap;
use std::error::Error;

use serde_json::Value;

use crate::error::LocalError;
use crate::folder::Folder;

/// The files of the default template, in the order in which they are tried.
const FILES: [&str; 2] = [
    "additional_chat_templates/default.jinja",
    "chat_template.jinja",
];
/// Holds templates with other names.
const OTHERS: &str = "additional_chat_templates";
const TOKENIZER: &str = "tokenizer_config.json";

/// The name of the default template.
const DEFAULT: &str = "default";

/// The source of a chat template, and the file that holds it.
#[derive(Debug)]
pub(super) struct TemplateSource {
    pub(super) file: &'static str,
    pub(super) source: String,
}

impl TemplateSource {
    /// Finds the template of a folder, as transformers does: files of templates go before what `tokenizer_config.json` has as
    /// `chat_template`. `None` where there is none at all.
    pub(super) fn read(
        folder: &Folder,
        stated: Option<&Value>,
    ) -> Result<Option<Self>, LocalError> {
        for file in FILES {
            if let Some(bytes) = folder.bytes(file)? {
                let source = String::from_utf8(bytes);
                let source = source.map_err(|error| template_error(folder, file, error))?;
                return Ok(Some(Self { file, source }));
            }
        }
        let others = folder.file_names(OTHERS, "jinja")?;
        if !others.is_empty() {
            return Err(folder.unsupported(OTHERS, "chat_template", others.join(", ")));
        }
        let source = match stated {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(source)) => source.clone(),
            Some(several) => default(folder, several)?,
        };
        Ok(Some(Self {
            file: TOKENIZER,
            source,
        }))
    }
}

/// The error for a template that cannot be read or rendered.
pub(super) fn template_error(
    folder: &Folder,
    file: &str,
    source: impl Error + Send + Sync + 'static,
) -> LocalError {
    LocalError::Content {
        path: folder.path(file),
        fault: "has no usable chat template",
        source: Box::new(source),
    }
}

/// The default among named templates, which are written as a list or as an object.
fn default(folder: &Folder, several: &Value) -> Result<String, LocalError> {
    let unsupported = |value| folder.unsupported(TOKENIZER, "chat_template", value);
    let named: Option<BTreeMap<&str, &str>> = match several {
        Value::Array(list) => list
            .iter()
            .map(|one| Some((one.get("name")?.as_str()?, one.get("template")?.as_str()?)))
            .collect(),
        Value::Object(object) => object
            .iter()
            .map(|(name, template)| Some((name.as_str(), template.as_str()?)))
            .collect(),
        _ => None,
    };
    let named = named.ok_or_else(|| unsupported(several.to_string()))?;
    let names = || named.keys().copied().collect::<Vec<_>>().join(", ");
    let default = named.get(DEFAULT).ok_or_else(|| unsupported(names()))?;
    Ok((*default).to_owned())
}
