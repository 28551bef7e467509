//! The two kinds of cross-encoder: classifiers and prompted language models.

use super::classifier::Head;
use super::last_token::LastToken;
use super::pair_reading::PairReading;
use super::prompt::{Answers, Prompt, Question};
use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::{Model, Parts};
use crate::settings::LocalSettings;
use crate::tokenizer::{Encoded, Tokens};

/// How a cross-encoder reads a pair, and how it scores the vectors of the tokens.
#[derive(Debug)]
pub(crate) enum Scoring {
    /// An encoder reads both texts as its tokenizer joins them, and a classifier scores the result.
    Classifier {
        head: Box<Head>,
        reading: PairReading,
    },
    /// A decoder reads a prompt, and the last token gives the score.
    Prompted {
        prompt: Prompt,
        answers: Option<Answers>,
        head: LastToken,
    },
}

impl Scoring {
    /// Loads the kind that the family has.
    pub(crate) fn load(
        folder: &Folder,
        settings: &LocalSettings,
        parts: &Parts<'_>,
    ) -> Result<Self, LocalError> {
        let width = parts.encoder.width();
        if !parts.family.is_decoder() {
            let head = Head::load(folder, parts.builder, parts.family, width)?;
            return Ok(Self::Classifier {
                head: Box::new(head),
                reading: PairReading::read(folder)?,
            });
        }
        let Question { prompt, answers } = Question::read(folder, settings, parts.tokens)?;
        Ok(Self::Prompted {
            prompt,
            answers,
            head: LastToken::load(folder, parts, answers)?,
        })
    }

    /// Sets the window, and returns its number of tokens.
    pub(crate) fn limited(
        self,
        folder: &Folder,
        settings: &LocalSettings,
        mut model: Model,
    ) -> Result<(Self, Model, usize), LocalError> {
        match self {
            Self::Classifier { ref reading, .. } => {
                let window = model.window(settings, reading.max_tokens, true)?;
                model.tokens = model.tokens.limited(folder, window, reading.lowercase)?;
                Ok((self, model, window))
            }
            Self::Prompted {
                prompt,
                answers,
                head,
            } => {
                let window = model.window(settings, prompt.stated_window(), false)?;
                let limited = Self::Prompted {
                    prompt: prompt.within(window)?,
                    answers,
                    head,
                };
                Ok((limited, model, window))
            }
        }
    }

    /// The tokens of one pair.
    pub(crate) fn encode(
        &self,
        tokens: &Tokens,
        query: &str,
        text: &str,
    ) -> Result<Encoded, tokenizers::Error> {
        match self {
            Self::Classifier { reading, .. } => {
                tokens.encode_pair(&format!("{}{query}", reading.prompt), text)
            }
            Self::Prompted { prompt, .. } => prompt.encode(tokens, query, text),
        }
    }

    /// The score of a pair from the vectors of its tokens.
    pub(crate) fn score(&self, vectors: &[f32], width: usize, scratch: &mut Scratch) -> f32 {
        match self {
            Self::Classifier { head, .. } => head.score(vectors, width, scratch),
            Self::Prompted { head, .. } => head.score(vectors),
        }
    }

    /// Everything that scores depend on besides weights, configuration and tokenizer: the prompt of a sample pair, the template, which
    /// may treat other pairs differently, and the tokens of the answers.
    pub(crate) fn fingerprint(&self, tokens: &Tokens) -> Result<Vec<u8>, tokenizers::Error> {
        let (prompt, answers) = match self {
            Self::Classifier { reading, .. } => return Ok(reading.fingerprint()),
            Self::Prompted {
                prompt, answers, ..
            } => (prompt, answers),
        };
        let mut ids = prompt.encode(tokens, "query", "document")?.ids;
        if let Some(answers) = answers {
            ids.push(answers.positive);
            ids.extend(answers.negative);
        }
        let mut bytes: Vec<u8> = ids.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.extend_from_slice(prompt.template().as_bytes());
        Ok(bytes)
    }
}
