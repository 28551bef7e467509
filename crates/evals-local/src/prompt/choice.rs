use serde::Deserialize;

use super::super::error::LocalError;
use super::super::folder::Folder;
use super::super::modules::{Module, modules};
use super::super::pipeline::Prompts;
use super::super::settings::{LocalSettings, RerankPrompt};
use super::super::tokens::Tokens;
use super::template::Template;
use super::{Answers, Prompt};

const MODULES: &str = "modules.json";

/// How a model wants to be asked, and the answers that count where it is one of the model's tokens that answers.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) prompt: Prompt,
    /// `None` where neither the folder nor the prompt names them.
    pub(crate) answers: Option<Answers>,
}

/// The module that sentence-transformers ends such a reranker with.
#[derive(Debug, Deserialize)]
struct LogitScore {
    true_token_id: u32,
    false_token_id: Option<u32>,
}

impl Question {
    /// Takes the prompt of the settings, else that of the folder's chat template, else that of the model's name. Nothing
    /// else tells a reranker from the language model that it was made from.
    pub(crate) fn read(
        folder: &Folder,
        settings: &LocalSettings,
        tokens: &Tokens,
    ) -> Result<Self, LocalError> {
        let modules = modules(folder)?;
        let answers = answers(folder, &modules)?;
        let instruction = instruction(folder, settings)?;
        let unreadable = |source| folder.unusable_tokenizer(source);
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
            .ok_or_else(|| LocalError::RerankPrompt {
                path: folder.path("config.json"),
                name: folder.name().to_owned(),
            })?;
        let answers = match answers {
            Some(answers) => answers,
            None => wording.answers(folder, tokens)?,
        };
        Ok(Self {
            prompt: Prompt::of_authors(wording, instruction, tokens).map_err(unreadable)?,
            answers: Some(answers),
        })
    }
}

/// The answers that `modules.json` leads to. Every other step but the transformer is refused.
fn answers(folder: &Folder, modules: &[Module]) -> Result<Option<Answers>, LocalError> {
    let mut answers = None;
    for module in modules {
        match module.name() {
            "Transformer" => {}
            "LogitScore" => {
                let stated: LogitScore = folder.inside(&module.path)?.required("config.json")?;
                answers = Some(Answers {
                    positive: stated.true_token_id,
                    negative: stated.false_token_id,
                });
            }
            "Pooling" => {
                let reason = "`modules.json` makes it an embedder, which pools tokens to a vector";
                return Err(folder.no_reranker(reason));
            }
            _ => return Err(folder.unsupported(MODULES, "type", &module.kind)),
        }
    }
    Ok(answers)
}

fn instruction(folder: &Folder, settings: &LocalSettings) -> Result<Option<String>, LocalError> {
    if settings.instruction.is_some() {
        return Ok(settings.instruction.clone());
    }
    Ok(Prompts::read(folder)?.default().cloned())
}
