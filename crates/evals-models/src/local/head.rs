use serde::Deserialize;

use super::encoder::{Activation, LayerNorm, Linear, Scratch, Write};
use super::error::LocalError;
use super::families::{Builder, Family};
use super::folder::Folder;
use super::settings::Pooling;

/// What turns the tokens of a pair into one score.
#[derive(Debug)]
pub(super) struct Head {
    pooling: Pooling,
    dense: Linear,
    activation: Activation,
    norm: Option<LayerNorm>,
    classifier: Linear,
}

#[derive(Debug, Deserialize)]
struct Config {
    /// `ModernBERT` states how its classifier pools; the other families read the first token.
    classifier_pooling: Option<Pooling>,
    classifier_activation: Option<String>,
    #[serde(default)]
    norm_eps: f32,
}

impl Head {
    /// Loads the head of a classifier with a single output.
    pub(super) fn load(
        folder: &Folder,
        builder: &Builder,
        family: Family,
        width: usize,
    ) -> Result<Self, LocalError> {
        let config: Config = folder.required("config.json")?;
        let (dense, classifier) = match family {
            Family::Bert => ("bert.pooler.dense", "classifier"),
            Family::Roberta | Family::XlmRoberta => ("classifier.dense", "classifier.out_proj"),
            Family::ModernBert => ("head.dense", "classifier"),
            Family::NomicBert => {
                return Err(folder.unsupported("config.json", "model_type", "nomic_bert reranker"));
            }
        };
        let labels = builder.weights.shape(&format!("{classifier}.weight"))?[0];
        if labels != 1 {
            return Err(folder.unsupported("config.json", "num_labels", labels.to_string()));
        }
        let modern = family == Family::ModernBert;
        let activation = match (modern, config.classifier_activation.as_deref()) {
            (false, _) => Activation::Tanh,
            (true, None) => Activation::Gelu,
            (true, Some(name)) => Activation::named(name)
                .ok_or_else(|| folder.unsupported("config.json", "classifier_activation", name))?,
        };
        Ok(Self {
            pooling: config
                .classifier_pooling
                .filter(|_| modern)
                .unwrap_or(Pooling::Cls),
            dense: builder.head(dense, width, width)?,
            activation,
            norm: modern
                .then(|| builder.norm("head.norm", width, config.norm_eps))
                .transpose()?,
            classifier: builder.head(classifier, width, 1)?,
        })
    }

    /// The score of a pair, as the classifier gives it: no sigmoid, which would press high scores together.
    pub(super) fn score(&self, tokens: &[f32], width: usize, scratch: &mut Scratch) -> f32 {
        let Scratch { gemm, int8, .. } = scratch;
        let pooled = self.pooling.pool(tokens, width);
        let mut vector = vec![0.0; width];
        self.dense
            .apply(&pooled, &mut vector, Write::Replace, gemm, int8);
        self.activation.apply(&mut vector);
        if let Some(norm) = &self.norm {
            norm.apply(&mut vector);
        }
        let mut score = [0.0];
        self.classifier
            .apply(&vector, &mut score, Write::Replace, gemm, int8);
        score[0]
    }
}
