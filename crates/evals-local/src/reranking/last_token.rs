//! The heads of decoders, which score the last token.

use serde::Deserialize;

use super::prompt::Answers;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;
use crate::model::Parts;

const CONFIG: &str = "config.json";
const OUTPUTS: &str = "lm_head.weight";
const CLASSIFIER: &str = "score";

/// The head of a decoder that reranks. The score is one product with the vector of the last token.
///
/// A classifier has one row of weights. A language model has one for each token of its vocabulary, of which two are read: the
/// difference of their logits is the log-odds of one answer against the other.
#[derive(Debug)]
pub(crate) struct LastToken {
    weights: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct Tying {
    tie_word_embeddings: Option<bool>,
}

impl LastToken {
    /// Loads the head that `config.json` names.
    pub(crate) fn load(
        folder: &Folder,
        parts: &Parts<'_>,
        answers: Option<Answers>,
    ) -> Result<Self, LocalError> {
        let architectures = Family::architectures(folder)?;
        let architecture = architectures.first().map_or("null", String::as_str);
        if architecture.ends_with("ForSequenceClassification") {
            return Self::classifier(folder, parts);
        }
        match answers {
            Some(answers) if architecture.ends_with("ForCausalLM") => {
                Self::language_model(folder, parts, answers)
            }
            _ => Err(folder.unsupported(CONFIG, "architectures", architecture)),
        }
    }

    fn classifier(folder: &Folder, parts: &Parts<'_>) -> Result<Self, LocalError> {
        let weights = parts
            .builder
            .table(&format!("{CLASSIFIER}.weight"), parts.encoder.width())?;
        let labels = weights.len() / parts.encoder.width();
        if labels != 1 {
            return Err(folder.unsupported(CONFIG, "num_labels", labels.to_string()));
        }
        Ok(Self { weights })
    }

    fn language_model(
        folder: &Folder,
        parts: &Parts<'_>,
        answers: Answers,
    ) -> Result<Self, LocalError> {
        let encoder = parts.encoder;
        for id in [Some(answers.positive), answers.negative]
            .into_iter()
            .flatten()
        {
            if id as usize >= encoder.vocabulary() {
                return Err(folder.unsupported("modules.json", "LogitScore", id.to_string()));
            }
        }
        // If the configuration does not state it, token embeddings serve as outputs when there are no others.
        let tying: Tying = folder.required(CONFIG)?;
        let tied = tying
            .tie_word_embeddings
            .unwrap_or_else(|| !parts.builder.weights.has(OUTPUTS));
        let shape = [encoder.vocabulary(), encoder.width()];
        let row = |id: u32| {
            if tied {
                return Ok(encoder.embeddings.word(id).to_vec());
            }
            parts.builder.weights.row(OUTPUTS, shape, id as usize)
        };
        let mut weights = row(answers.positive)?;
        if let Some(negative) = answers.negative {
            for (weight, other) in weights.iter_mut().zip(row(negative)?) {
                *weight -= other;
            }
        }
        Ok(Self { weights })
    }

    /// The score of a prompt from the vectors of its tokens.
    pub(crate) fn score(&self, tokens: &[f32]) -> f32 {
        let last = &tokens[tokens.len() - self.weights.len()..];
        last.iter()
            .zip(&self.weights)
            .map(|(value, weight)| value * weight)
            .sum()
    }
}
