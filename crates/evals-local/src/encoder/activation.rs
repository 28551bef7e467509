//! Activation functions.

use rten_simd::SimdUnaryOp;
use rten_vecmath::{ApproxGelu, Gelu, Silu, Tanh};

/// The activation between the two linear maps of a layer, and on the pooled vector of a classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    /// With the error function.
    Gelu,
    /// With the hyperbolic tangent in place of the error function.
    ApproximateGelu,
    Relu,
    Silu,
    Tanh,
}

impl Activation {
    /// The activation that configurations call by this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "gelu" => Self::Gelu,
            "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Self::ApproximateGelu,
            "relu" => Self::Relu,
            "silu" | "swish" => Self::Silu,
            "tanh" => Self::Tanh,
            _ => return None,
        })
    }

    /// Applies the activation to each value.
    pub(crate) fn apply(self, values: &mut [f32]) {
        match self {
            Self::Gelu => Gelu {}.map_mut(values),
            Self::ApproximateGelu => ApproxGelu {}.map_mut(values),
            Self::Silu => Silu {}.map_mut(values),
            Self::Tanh => Tanh {}.map_mut(values),
            Self::Relu => {
                for value in values {
                    *value = value.max(0.0);
                }
            }
        }
    }
}
