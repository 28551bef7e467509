//! Which prompt a reranker wants: that of the settings, of its folder, or of its name.

use super::answers::{Answers, answers};
use super::pair::Prompt;
use super::template::Template;
use crate::error::LocalError;
use crate::folder::{Folder, modules};
use crate::sentence_transformers::Prompts;
use crate::settings::{LocalSettings, RerankPrompt};
use crate::tokenizer::Tokens;

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

fn instruction(folder: &Folder, settings: &LocalSettings) -> Result<Option<String>, LocalError> {
    if settings.instruction.is_some() {
        return Ok(settings.instruction.clone());
    }
    Ok(Prompts::read(folder)?.default().cloned())
}
