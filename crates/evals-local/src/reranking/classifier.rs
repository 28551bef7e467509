//! The classifier heads of cross-encoders.

use serde::Deserialize;
use serde_json::Value;

use crate::encoder::{Activation, Linear, Norm, Scratch};
use crate::error::LocalError;
use crate::families::{Builder, activation};
use crate::family::Family;
use crate::folder::Folder;
use crate::settings::Pooling;

const CONFIG: &str = "config.json";

/// The head that turns the token vectors of a pair into one score.
#[derive(Debug)]
pub(crate) struct Head {
    pooling: Pooling,
    dense: Linear,
    activation: Activation,
    norm: Option<Norm>,
    classifier: Linear,
}

#[derive(Debug, Deserialize)]
struct HeadConfig {
    /// `ModernBERT` states how its classifier pools and activates.
    classifier_pooling: Option<Pooling>,
    classifier_activation: Option<String>,
    #[serde(default)]
    norm_eps: f32,
    /// `XLNet` states its pooling and activation.
    summary_type: Option<String>,
    #[serde(default = "tanh")]
    summary_activation: Value,
}

fn tanh() -> Value {
    "tanh".into()
}

/// The parts of the head of a family, by the names of their tensors.
#[derive(Clone, Copy, Debug)]
struct HeadForm {
    pooling: Pooling,
    dense: &'static str,
    activation: Activation,
    norm: Option<&'static str>,
    classifier: &'static str,
}

impl HeadConfig {
    fn form(&self, folder: &Folder, family: Family) -> Result<HeadForm, LocalError> {
        let first_token = |dense, activation, classifier| HeadForm {
            pooling: Pooling::Cls,
            dense,
            activation,
            norm: None,
            classifier,
        };
        Ok(match family {
            Family::Bert => first_token("bert.pooler.dense", Activation::Tanh, "classifier"),
            Family::Roberta | Family::XlmRoberta => {
                first_token("classifier.dense", Activation::Tanh, "classifier.out_proj")
            }
            Family::ModernBert => {
                let name = self.classifier_activation.as_deref().unwrap_or("gelu");
                HeadForm {
                    pooling: self.classifier_pooling.unwrap_or(Pooling::Cls),
                    norm: Some("head.norm"),
                    ..first_token(
                        "head.dense",
                        activation(folder, "classifier_activation", name)?,
                        "classifier",
                    )
                }
            }
            Family::Xlnet => self.summary(folder)?,
            Family::NomicBert | Family::Qwen2 | Family::Qwen3 => {
                let value = format!("{} classifier", family.model_type());
                return Err(folder.unsupported(CONFIG, "model_type", value));
            }
        })
    }

    fn summary(&self, folder: &Folder) -> Result<HeadForm, LocalError> {
        folder.permit(CONFIG, &[("summary_use_proj", &["true"])])?;
        let pooling = match self.summary_type.as_deref().unwrap_or("last") {
            "last" => Pooling::Last,
            "first" => Pooling::Cls,
            "mean" => Pooling::Mean,
            other => return Err(folder.unsupported(CONFIG, "summary_type", other)),
        };
        let name = self.summary_activation.as_str().unwrap_or("null");
        Ok(HeadForm {
            pooling,
            dense: "sequence_summary.summary",
            activation: activation(folder, "summary_activation", name)?,
            norm: None,
            classifier: "logits_proj",
        })
    }
}

impl Head {
    /// Loads the head of a classifier with a single output.
    pub(crate) fn load(
        folder: &Folder,
        builder: &Builder,
        family: Family,
        width: usize,
    ) -> Result<Self, LocalError> {
        let config: HeadConfig = folder.required(CONFIG)?;
        let form = config.form(folder, family)?;
        let weights = format!("{}.weight", form.classifier);
        if !builder.weights.has(&weights) {
            return Err(folder.refused(format!(
                "does not hold a reranker: there is no tensor `{weights}`"
            )));
        }
        let shape = builder.weights.shape(&weights)?;
        let labels = shape.first().copied().unwrap_or(0);
        if labels != 1 {
            return Err(folder.unsupported(CONFIG, "num_labels", labels.to_string()));
        }
        Ok(Self {
            pooling: form.pooling,
            dense: builder.head(form.dense, width, width)?,
            activation: form.activation,
            norm: form
                .norm
                .map(|norm| builder.norm(norm, width, config.norm_eps))
                .transpose()?,
            classifier: builder.head(form.classifier, width, 1)?,
        })
    }

    /// The score of a pair before any sigmoid, which would crowd high scores together.
    pub(crate) fn score(&self, tokens: &[f32], width: usize, scratch: &mut Scratch) -> f32 {
        let kernels = &mut scratch.kernels;
        let pooled = self.pooling.pool(tokens, width);
        let mut vector = self.dense.mapped(&pooled, kernels);
        self.activation.apply(&mut vector);
        if let Some(norm) = &self.norm {
            norm.apply(&mut vector);
        }
        self.classifier.mapped(&vector, kernels)[0]
    }
}
