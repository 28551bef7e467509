//! Which prompt a reranker wants, that of the settings, of its folder, or of its name, and the tokens of its answers.

use serde::Deserialize;

use super::Prompt;
use super::template::Template;
use crate::error::LocalError;
use crate::folder::{Folder, Module, modules};
use crate::sentence_transformers::Prompts;
use crate::settings::{LocalSettings, RerankPrompt};
use crate::tokenizer::Tokens;

/// The tokens whose logits make the score, as the module `LogitScore` of sentence-transformers states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Answers {
    #[serde(rename = "true_token_id")]
    pub(crate) positive: u32,
    /// Its logit is subtracted. `None` means that the logit of `positive` is the score.
    #[serde(rename = "false_token_id")]
    pub(crate) negative: Option<u32>,
}

/// The prompt of a model, and the tokens of its answers.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) prompt: Prompt,
    /// `None` if neither the folder nor the prompt states them.
    pub(crate) answers: Option<Answers>,
}

impl Question {
    /// Takes the prompt of the settings, else the chat template of the folder, else the prompt of the published model of this name.
    /// Nothing else distinguishes a reranker from the language model that it was trained from.
    pub(crate) fn read(
        folder: &Folder,
        settings: &LocalSettings,
        tokens: &Tokens,
    ) -> Result<Self, LocalError> {
        let modules = modules(folder)?;
        let answers = answers(folder, &modules)?;
        let instruction = instruction(folder, settings)?;
        let unreadable = |source| folder.tokenizer_error(source);
        if settings.rerank_prompt.is_none()
            && !modules.is_empty()
            && let Some(template) = Template::read(folder, instruction.clone())?
        {
            return Ok(Self {
                prompt: Prompt::of_template(template, tokens).map_err(unreadable)?,
                answers,
            });
        }
        let named = || RerankPrompt::of_model(settings.name.as_deref()?);
        let wording = settings
            .rerank_prompt
            .or_else(named)
            .or_else(|| RerankPrompt::of_model(folder.name()))
            .ok_or_else(|| LocalError::Setting {
                setting: "rerank_prompt",
                reason: format!(
                    "`{}` is of a language model, and neither `modules.json` nor the name `{}` says which prompt it reranks \
                     with; set `rerank_prompt` to `qwen3` or `mxbai`",
                    folder.path("config.json").display(),
                    folder.name()
                ),
            })?;
        let [positive, negative] = wording.answers();
        let answers = match answers {
            Some(answers) => answers,
            None => Answers {
                positive: tokens.required_id(folder, positive)?,
                negative: Some(tokens.required_id(folder, negative)?),
            },
        };
        Ok(Self {
            prompt: Prompt::of_authors(wording, instruction, tokens).map_err(unreadable)?,
            answers: Some(answers),
        })
    }
}

fn instruction(folder: &Folder, settings: &LocalSettings) -> Result<Option<String>, LocalError> {
    if settings.instruction.is_some() {
        return Ok(settings.instruction.clone());
    }
    Ok(Prompts::read(folder)?.default().cloned())
}

/// The answers that `modules.json` states. Other steps than the transformer are refused.
fn answers(folder: &Folder, modules: &[Module]) -> Result<Option<Answers>, LocalError> {
    let mut answers = None;
    for module in modules {
        match module.name() {
            "Transformer" => {}
            "LogitScore" => {
                answers = Some(folder.subfolder(&module.path)?.required("config.json")?);
            }
            "Pooling" => {
                let reason = "does not hold a reranker: `modules.json` makes it an embedder, which \
                              pools tokens to a vector";
                return Err(folder.refused(reason));
            }
            _ => return Err(folder.unsupported("modules.json", "type", &module.kind)),
        }
    }
    Ok(answers)
}
