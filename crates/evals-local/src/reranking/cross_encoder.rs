//! Rerankers that read query and text together: classifiers and prompted language models.

use std::sync::Arc;
use std::time::Duration;

use super::classifier::Head;
use super::last_token::LastToken;
use super::pair_reading::PairReading;
use super::prompt::{Answers, Prompt, Question};
use super::scorer::Scorer;
use crate::digest;
use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::{Model, Parts, numbers};
use crate::role;
use crate::settings::LocalSettings;
use crate::tokenizer::{Encoded, Tokens};
use crate::workers::{Failed, Timed, Workers};

/// A model that reads query and text together.
#[derive(Debug)]
pub(super) struct CrossEncoder {
    model: Model,
    scoring: Scoring,
}

/// How a cross-encoder reads a pair, and how it scores the vectors of the tokens.
#[derive(Debug)]
enum Scoring {
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

impl CrossEncoder {
    /// Loads a model, and computes the digest of everything that scores depend on.
    pub(super) fn open(
        folder: &Folder,
        settings: &LocalSettings,
    ) -> Result<(Self, String), LocalError> {
        role::check_reranker(folder, settings)?;
        let (mut model, mut scoring) = Model::open(folder, settings.dtype, |parts| {
            Scoring::load(folder, settings, parts)
        })?;
        let window = match &mut scoring {
            Scoring::Classifier { reading, .. } => {
                let window = model.window(settings, reading.max_tokens, true)?;
                model.tokens = model.tokens.limited(folder, window, reading.lowercase)?;
                window
            }
            Scoring::Prompted { prompt, .. } => {
                let window = model.window(settings, prompt.stated_window(), false)?;
                prompt.limit(window)?;
                window
            }
        };
        let fingerprint = scoring.fingerprint(&model.tokens);
        let fingerprint = fingerprint.map_err(|source| folder.tokenizer_error(source))?;
        let rest = digest::short(&[
            &folder.bytes("config.json")?.unwrap_or_default(),
            &folder.bytes("tokenizer.json")?.unwrap_or_default(),
            model.tokens.fingerprint().as_bytes(),
            &fingerprint,
        ]);
        let (weights, dtype) = (&model.digest, numbers(settings.dtype));
        let digest = format!("sha256:{weights},{window},{dtype},{rest}");
        Ok((Self { model, scoring }, digest))
    }
}

impl Scorer for CrossEncoder {
    type Query = String;

    async fn query(self: Arc<Self>, query: String, _: &Workers) -> Result<Timed<String>, Failed> {
        Ok(Timed {
            value: query,
            took: Duration::ZERO,
        })
    }

    fn encode(&self, query: &String, text: &str) -> Result<Encoded, tokenizers::Error> {
        let tokens = &self.model.tokens;
        match &self.scoring {
            Scoring::Classifier { reading, .. } => {
                tokens.encode_pair(&format!("{}{query}", reading.prompt), text)
            }
            Scoring::Prompted { prompt, .. } => prompt.encode(tokens, query, text),
        }
    }

    fn scores(&self, _: &String, pairs: &[&Encoded], scratch: &mut Scratch) -> Vec<f32> {
        let width = self.model.encoder.width();
        self.model
            .encode(pairs, scratch, |_, tokens, scratch| match &self.scoring {
                Scoring::Classifier { head, .. } => head.score(tokens, width, scratch),
                Scoring::Prompted { head, .. } => head.score(tokens),
            })
    }
}

impl Scoring {
    /// Loads the kind that the family has.
    fn load(
        folder: &Folder,
        settings: &LocalSettings,
        parts: &Parts<'_>,
    ) -> Result<Self, LocalError> {
        if !parts.family.is_decoder() {
            let width = parts.encoder.width();
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

    /// Everything that scores depend on besides weights, configuration and tokenizer: the prompt of a sample pair, the template, which
    /// may treat other pairs differently, and the tokens of the answers.
    fn fingerprint(&self, tokens: &Tokens) -> Result<Vec<u8>, tokenizers::Error> {
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
