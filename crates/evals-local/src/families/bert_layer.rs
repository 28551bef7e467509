//! The layers of BERT and of the families derived from it.

use super::builder::Builder;
use crate::encoder::{
    Activation, Attention, FeedForward, Gate, Heads, Layer, Mask, PositionScheme,
};
use crate::error::LocalError;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "embeddings.word_embeddings.weight";

/// The parts that the layers of BERT and of derived families share: the maps around attention, and their names.
#[derive(Clone, Copy, Debug)]
pub(super) struct BertLayer {
    pub(super) width: usize,
    /// Length of the vectors between the two maps of the second half.
    pub(super) wide: usize,
    pub(super) heads: usize,
    pub(super) activation: Activation,
    pub(super) epsilon: f32,
}

impl BertLayer {
    /// Loads the layer whose tensors have the prefix `name`. `projections` are the family's names for the maps to queries, keys and
    /// values.
    pub(super) fn load(
        self,
        builder: &Builder,
        name: &str,
        projections: [&str; 3],
        positions: PositionScheme,
    ) -> Result<Layer, LocalError> {
        let (width, wide) = (self.width, self.wide);
        let linear = |part: &str, inputs, outputs| {
            builder.linear(&format!("{name}.{part}.dense"), inputs, outputs)
        };
        let norm =
            |part: &str| builder.norm(&format!("{name}.{part}.LayerNorm"), width, self.epsilon);
        let projections = projections.map(|part| format!("{name}.attention.self.{part}"));
        Ok(Layer {
            attention: Attention {
                query_key_value: builder.joined(&projections, width, width)?,
                output: linear("attention.output", width, width)?,
                heads: Heads::sharing(width, self.heads),
                head_norms: None,
                positions,
                mask: Mask::Full,
            },
            attention_norm: Some(norm("attention.output")?),
            feed_forward: FeedForward {
                up: linear("intermediate", width, wide)?,
                down: linear("output", wide, width)?,
                activation: self.activation,
                gate: Gate::None,
            },
            feed_forward_norm: norm("output")?,
        })
    }
}
