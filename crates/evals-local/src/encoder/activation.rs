use rten_simd::SimdUnaryOp;
use rten_vecmath::{ApproxGelu, Gelu, Silu, Tanh};

/// The function between the two linear maps of a layer, and on a classifier's pooled vector.
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
    /// Finds it by the name that configurations use.
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

    /// Replaces each value by its image.
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
