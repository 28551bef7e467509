//! The module `Dense` of sentence-transformers: a linear map with an activation.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::digest;
use crate::encoder::{Activation, Linear, Scratch, Write};
use crate::error::LocalError;
use crate::families::Builder;
use crate::folder::Folder;
use crate::settings::Dtype;
use crate::weights::Weights;

const CONFIG: &str = "config.json";

/// A linear map of vectors, followed by an activation.
#[derive(Debug)]
pub(crate) struct Dense {
    linear: Linear,
    activation: Option<Activation>,
    residual: Residual,
}

/// The vector that is added to the activated one.
#[derive(Debug)]
enum Residual {
    Nothing,
    Input,
    Mapped(Linear),
}

#[derive(Debug, Deserialize)]
struct DenseConfig {
    in_features: usize,
    out_features: usize,
    #[serde(default = "yes")]
    bias: bool,
    /// `None` if it is not stated. `Some(Value::Null)` if it is stated to be null.
    #[serde(default, deserialize_with = "stated")]
    activation_function: Option<Value>,
    #[serde(default)]
    use_residual: bool,
}

fn yes() -> bool {
    true
}

fn stated<'json, D: Deserializer<'json>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// The vectors that a module maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The vector of a text.
    Text,
    /// The vector of each token.
    Tokens,
}

impl Dense {
    /// A linear map alone.
    pub(crate) fn plain(linear: Linear) -> Self {
        Self {
            linear,
            activation: None,
            residual: Residual::Nothing,
        }
    }

    /// Loads a module from its folder. It must map vectors of `width` values. It computes in 32-bit floats even if the encoder does
    /// not.
    pub(crate) fn load(
        folder: &Folder,
        width: usize,
        subject: Subject,
    ) -> Result<Self, LocalError> {
        let config: DenseConfig = folder.required(CONFIG)?;
        let DenseConfig {
            in_features,
            out_features,
            ..
        } = config;
        if in_features != width {
            return Err(folder.unsupported(CONFIG, "in_features", in_features.to_string()));
        }
        if out_features == 0 {
            return Err(folder.unsupported(CONFIG, "out_features", out_features.to_string()));
        }
        let vectors: &[&str] = match subject {
            Subject::Text => &["sentence_embedding"],
            Subject::Tokens => &["token_embeddings"],
        };
        let names = [
            ("module_input_name", vectors),
            ("module_output_name", vectors),
        ];
        folder.permit(CONFIG, &names)?;
        let builder = Builder::new(Weights::open(folder)?, Dtype::F32);
        if config.bias {
            builder.weights.shape("linear.bias")?;
        }
        let residual = match (config.use_residual, in_features == out_features) {
            (false, _) => Residual::Nothing,
            (true, true) => Residual::Input,
            (true, false) => {
                Residual::Mapped(builder.head("residual", in_features, out_features)?)
            }
        };
        Ok(Self {
            linear: builder.head("linear", in_features, out_features)?,
            activation: config.activation(folder, subject)?,
            residual,
        })
    }

    /// Covers everything that the map in a folder depends on.
    pub(crate) fn digest(folder: &Folder) -> Result<String, LocalError> {
        let weights = digest::of_files(&Weights::files(folder)?)?;
        let config = folder.bytes(CONFIG)?.unwrap_or_default();
        Ok(digest::short(&[&config, weights.as_bytes()]))
    }

    /// Length of the vectors that it returns.
    pub(crate) fn outputs(&self) -> usize {
        self.linear.outputs()
    }

    /// Maps each row.
    pub(crate) fn apply(&self, rows: &[f32], scratch: &mut Scratch) -> Vec<f32> {
        let kernels = &mut scratch.kernels;
        let mut mapped = self.linear.mapped(rows, kernels);
        if let Some(activation) = self.activation {
            activation.apply(&mut mapped);
        }
        match &self.residual {
            Residual::Nothing => {}
            Residual::Input => {
                for (value, input) in mapped.iter_mut().zip(rows) {
                    *value += input;
                }
            }
            Residual::Mapped(linear) => linear.apply(rows, &mut mapped, Write::Add, kernels),
        }
        mapped
    }
}

impl DenseConfig {
    /// The activation by the path of its class, `None` for the identity.
    ///
    /// If none is stated, sentence-transformers applies tanh to vectors of texts, and `PyLate` refuses the module.
    fn activation(
        &self,
        folder: &Folder,
        subject: Subject,
    ) -> Result<Option<Activation>, LocalError> {
        let path = match (&self.activation_function, subject) {
            (None, Subject::Text) => return Ok(Some(Activation::Tanh)),
            (Some(Value::String(path)), _) => path.clone(),
            (other, _) => other.clone().unwrap_or_default().to_string(),
        };
        let class = path
            .strip_prefix("torch.nn.")
            .and_then(|path| path.rsplit('.').next());
        Ok(Some(match class {
            Some("Identity") => return Ok(None),
            Some("Tanh") => Activation::Tanh,
            Some("ReLU") => Activation::Relu,
            Some("GELU") => Activation::Gelu,
            Some("SiLU") => Activation::Silu,
            _ => return Err(folder.unsupported(CONFIG, "activation_function", path)),
        }))
    }
}
