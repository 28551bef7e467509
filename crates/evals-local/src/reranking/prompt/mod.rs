//! The question to a language model about a query and a text, and the answers that count.

mod authors;
mod question;
mod template;
mod template_source;

use self::template::Template;
use crate::error::LocalError;
use crate::model::check_special;
use crate::settings::RerankPrompt;
use crate::tokenizer::{Encoded, Tokens};

pub(super) use question::{Answers, Question};

/// Turns a pair into the tokens that a decoder reads.
#[derive(Debug)]
pub(crate) struct Prompt {
    wording: Wording,
    prefix: Vec<u32>,
    /// Never truncated, because the last token gives the score.
    suffix: Vec<u32>,
    /// Most tokens of a prompt.
    window: usize,
}

#[derive(Debug)]
enum Wording {
    Authors {
        prompt: RerankPrompt,
        instruction: Option<String>,
    },
    Template(Box<Template>),
}

impl Prompt {
    pub(super) fn of_authors(
        prompt: RerankPrompt,
        instruction: Option<String>,
        tokens: &Tokens,
    ) -> Result<Self, tokenizers::Error> {
        let pieces = |pieces: &[&str]| -> Result<Vec<u32>, tokenizers::Error> {
            let ids = pieces.iter().map(|piece| tokens.plain(piece));
            Ok(ids.collect::<Result<Vec<_>, _>>()?.concat())
        };
        let (prefix, suffix) = (pieces(prompt.prefix())?, pieces(prompt.suffix())?);
        let window = prompt.window(prefix.len() + suffix.len());
        Ok(Self {
            wording: Wording::Authors {
                prompt,
                instruction,
            },
            prefix,
            suffix,
            window,
        })
    }

    /// Finds the suffix: the tokens at the end of the prompts of two pairs that have nothing in common.
    fn of_template(template: Template, tokens: &Tokens) -> Result<Self, tokenizers::Error> {
        let first = tokens.plain(&template.render("0", "0")?)?;
        let second = tokens.plain(&template.render("1 2 3 4", "1 2 3 4")?)?;
        let same = first.iter().rev().zip(second.iter().rev());
        let same = same.take_while(|(first, second)| first == second).count();
        Ok(Self {
            wording: Wording::Template(Box::new(template)),
            prefix: Vec::new(),
            suffix: first[first.len() - same..].to_vec(),
            window: usize::MAX,
        })
    }

    /// The most tokens of a prompt, if the code of its authors or the folder states them.
    pub(crate) fn stated_window(&self) -> Option<usize> {
        match &self.wording {
            Wording::Authors { .. } => Some(self.window),
            Wording::Template(template) => template.max_tokens,
        }
    }

    /// The chat template, empty if there is none.
    pub(crate) fn template(&self) -> &str {
        match &self.wording {
            Wording::Authors { .. } => "",
            Wording::Template(template) => &template.source,
        }
    }

    /// Limits prompts to `window` tokens.
    pub(crate) fn limit(&mut self, window: usize) -> Result<(), LocalError> {
        check_special(window, self.prefix.len() + self.suffix.len())?;
        self.window = window;
        Ok(())
    }

    /// The tokens of the prompt for one pair. Truncation cuts the pair, never the text around it.
    pub(crate) fn encode(
        &self,
        tokens: &Tokens,
        query: &str,
        text: &str,
    ) -> Result<Encoded, tokenizers::Error> {
        let room = self.window - self.prefix.len() - self.suffix.len();
        let (ids, is_cut) = match &self.wording {
            Wording::Authors {
                prompt,
                instruction,
            } => {
                let (pair, is_cut) =
                    prompt.pair(tokens, instruction.as_deref(), (query, text), room)?;
                let ids = [&self.prefix, &pair, &self.suffix].map(Vec::as_slice);
                (ids.concat(), is_cut)
            }
            Wording::Template(template) => {
                let mut ids = tokens.plain(&template.render(query, text)?)?;
                let is_cut = ids.len() > self.window;
                if is_cut {
                    ids.truncate(room);
                    ids.extend(&self.suffix);
                }
                (ids, is_cut)
            }
        };
        Ok(Encoded {
            is_cut,
            ..Encoded::of_one_text(ids)
        })
    }
}
