//! The files in which sentence-transformers states how a model reads texts and turns them into vectors.

mod prompts;
mod transformer_config;

use serde_json::{Map, Value};

use self::prompts::FILE as PROMPTS;
use crate::error::LocalError;
use crate::folder::{Folder, modules};
use crate::settings::{LocalSettings, Pooling};

pub(crate) use prompts::Prompts;
pub(crate) use transformer_config::{ModuleOutput, TransformerConfig, file as transformer_file};

const CONFIG: &str = "config.json";

/// The steps before and after the encoder, as the files state them and the settings override them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pipeline {
    pub(crate) pooling: Pooling,
    /// Folders of the linear maps that are applied to the pooled vector, in order.
    pub(crate) dense: Vec<String>,
    pub(crate) normalize: bool,
    /// As `sentence_bert_config.json` states it.
    pub(crate) max_tokens: Option<usize>,
    pub(crate) lowercase: bool,
    pub(crate) query_prompt: String,
    pub(crate) document_prompt: String,
}

/// What sentence-transformers would make other vectors of than this engine.
const PERMITTED: [(&str, &[&str]); 2] = [
    ("model_type", &["SentenceTransformer"]),
    ("truncate_dim", &[]),
];

impl Pipeline {
    /// Reads `modules.json` and the files that it names. Without `modules.json`, tokens are averaged and vectors are not normalised,
    /// as sentence-transformers does with a plain encoder.
    pub(crate) fn read(folder: &Folder, settings: &LocalSettings) -> Result<Self, LocalError> {
        let modules = modules(folder)?;
        let mut stated = (Pooling::Mean, false);
        let (mut is_pooled, mut dense) = (false, Vec::new());
        let mut transformer = TransformerConfig::default();
        for module in &modules {
            match module.name() {
                "Transformer" => {
                    transformer = TransformerConfig::read(folder, ModuleOutput::Tokens)?
                }
                "Pooling" => {
                    is_pooled = true;
                    stated.0 = pooling(folder, &module.path, settings.pooling)?;
                }
                // Only after pooling, and before normalisation.
                "Dense" if is_pooled && !stated.1 => dense.push(module.path.clone()),
                "Normalize" if is_pooled => stated.1 = true,
                _ => return Err(folder.unsupported("modules.json", "type", &module.kind)),
            }
        }
        folder.permit(PROMPTS, &PERMITTED)?;
        let prompts = Prompts::read(folder)?;
        Ok(Self {
            pooling: settings.pooling.unwrap_or(stated.0),
            dense,
            normalize: settings.normalize.unwrap_or(stated.1),
            max_tokens: transformer.max_seq_length,
            lowercase: transformer.do_lower_case,
            query_prompt: prompts.resolve(settings.query_prompt.as_ref(), &["query"]),
            document_prompt: prompts.resolve(
                settings.document_prompt.as_ref(),
                &["document", "passage", "corpus"],
            ),
        })
    }
}

/// Reads the pooling: a flag for each kind, or a name. No flag means the mean. A `setting` overrides it, but nothing else in the
/// file.
fn pooling(folder: &Folder, path: &str, setting: Option<Pooling>) -> Result<Pooling, LocalError> {
    let folder = folder.subfolder(path)?;
    let config: Map<String, Value> = match setting {
        Some(_) => folder.json(CONFIG)?.unwrap_or_default(),
        None => folder.required(CONFIG)?,
    };
    folder.permit(CONFIG, &[("include_prompt", &["true"])])?;
    if let Some(setting) = setting {
        return Ok(setting);
    }
    let named = config.get("pooling_mode").map(|mode| match mode {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    });
    let flagged = config
        .iter()
        .filter(|(_, on)| **on == Value::Bool(true))
        .filter_map(|(key, _)| key.strip_prefix("pooling_mode_"));
    let modes: Vec<String> = match named {
        Some(name) => vec![name],
        None => flagged.map(ToOwned::to_owned).collect(),
    };
    match modes.as_slice() {
        [] => Ok(Pooling::Mean),
        [mode] => mode_named(mode).ok_or_else(|| folder.unsupported(CONFIG, "pooling_mode", mode)),
        several => Err(folder.unsupported(CONFIG, "pooling_mode", several.join(" + "))),
    }
}

fn mode_named(mode: &str) -> Option<Pooling> {
    Some(match mode {
        "mean" | "mean_tokens" => Pooling::Mean,
        "cls" | "cls_token" => Pooling::Cls,
        "max" | "max_tokens" => Pooling::Max,
        "lasttoken" | "last" => Pooling::Last,
        "weightedmean" | "weightedmean_tokens" => Pooling::WeightedMean,
        _ => return None,
    })
}
