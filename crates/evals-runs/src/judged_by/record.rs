//! The judge of one measure: everything that a verdict depends on, except the judged text.

use std::collections::BTreeMap;

use evals::{Difference, differences};
use evals_models::{ChatModel, ModelIdentity};
use evals_rag::Prompt;
use evals_rag::rag_judges::Rule;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Digits of a digest of a prompt in messages and baselines.
const DIGITS: usize = 16;

/// The judge of one measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeRecord {
    /// The judges that vote, by role: `judge`, and the further ones of a panel. None if the program decides by a rule.
    pub judges: BTreeMap<String, PanelMember>,
    /// How often each of them is asked.
    pub repeats: u32,
    /// How votes are counted; `None` if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// The most tokens of passages in one request; `None` for a judge that sees no passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<usize>,
    /// SHA-256 of each prompt, by file name.
    pub prompts: BTreeMap<String, String>,
    /// What the judges are asked beside the prompts, by the name of the rubric or of the evaluator: its arguments, and the version of its
    /// prompts. Texts are held as digests, because calibrations and baselines may be published where they may not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub criteria: BTreeMap<String, Value>,
}

/// A judge of a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelMember {
    /// The model.
    pub model: ModelIdentity,
    /// Its further parameters.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
}

impl PanelMember {
    /// A judge without parameters, such as the embedded one.
    pub fn plain(model: &ModelIdentity) -> Self {
        Self {
            model: model.clone(),
            parameters: Map::new(),
        }
    }
}

impl From<&dyn ChatModel> for PanelMember {
    fn from(model: &dyn ChatModel) -> Self {
        let mut parameters = model.parameters();
        // A model at another address is the same judge: a pipeline starts its server on any free port.
        parameters.remove("base_url");
        Self {
            model: model.identity().clone(),
            parameters,
        }
    }
}

impl JudgeRecord {
    /// Judges that are asked once, with prompts.
    pub fn new<'p>(
        judges: impl IntoIterator<Item = (String, PanelMember)>,
        prompts: impl IntoIterator<Item = &'p Prompt>,
    ) -> Self {
        let digest = |prompt: &Prompt| (prompt.name().to_owned(), prompt.digest().to_owned());
        Self {
            judges: judges.into_iter().collect(),
            repeats: 1,
            rule: None,
            context_tokens: None,
            prompts: prompts.into_iter().map(digest).collect(),
            criteria: BTreeMap::new(),
        }
    }

    /// Adds what the judges are asked: the arguments of a rubric or an evaluator.
    #[must_use]
    pub fn asking(mut self, name: impl Into<String>, arguments: &Map<String, Value>) -> Self {
        self.criteria.insert(name.into(), criterion(arguments));
        self
    }

    /// The models, such as `openai:gpt-5-mini`; `None` if no model decides.
    pub fn name(&self) -> Option<String> {
        let models = self.judges.values();
        let names: Vec<String> = models.map(|judge| judge.model.to_string()).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The record as messages and baselines hold it: digests are shortened.
    pub fn facts(&self) -> Value {
        let short = |(name, digest): (&String, &String)| {
            let digest: String = digest.chars().take(DIGITS).collect();
            (name.clone(), digest)
        };
        let shortened = Self {
            prompts: self.prompts.iter().map(short).collect(),
            ..self.clone()
        };
        json!(shortened)
    }

    /// SHA-256 of everything but prompts and criteria, in hexadecimal.
    pub fn digest_of_panel(&self) -> String {
        let panel = Self {
            prompts: BTreeMap::new(),
            criteria: BTreeMap::new(),
            ..self.clone()
        };
        digest(json!(panel))
    }

    /// SHA-256 of the digests of the prompts, in hexadecimal; `None` if there are none.
    pub fn digest_of_prompts(&self) -> Option<String> {
        (!self.prompts.is_empty()).then(|| digest(json!(self.prompts)))
    }

    /// The facts in which another judge differs, as `path: old -> new`; empty if it is the same.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let found = differences(&self.facts(), &other.facts()).into_iter();
        // A missing member counts as null.
        let is_real = |it: &Difference| {
            let mut sides = [&it.old, &it.new].into_iter().flatten();
            sides.any(|value| !value.is_null())
        };
        found.filter(is_real).map(|it| it.to_string()).collect()
    }
}

/// Arguments with digests in place of texts.
fn criterion(arguments: &Map<String, Value>) -> Value {
    let shown = |value: &Value| match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(_) | Value::Array(_) | Value::Object(_) => {
            let digest = digest(value.clone());
            digest[..DIGITS].into()
        }
    };
    let members = arguments.iter();
    let members = members.map(|(name, value)| (name.clone(), shown(value)));
    Value::Object(members.collect())
}

fn digest(mut value: Value) -> String {
    value.sort_all_objects();
    hex::encode(Sha256::digest(value.to_string()))
}
