//! Attention within each text of a batch.

use std::ops::Range;
use std::sync::Arc;

use rten_simd::SimdOp;
use rten_vecmath::Softmax;

use super::Write;
use super::heads::{HeadNorms, Heads};
use super::linear::Linear;
use super::mask::Mask;
use super::matrix::{Kernels, view};
use super::relative_keys::{Block, RelativeKeys, RelativeScratch};
use super::rotary::Rotary;
use crate::tokenizer::Encoded;

/// How many queries are scored at once. Their scores against a long text stay in the cache, and memory grows only linearly with
/// the length of the text.
const QUERY_BLOCK: usize = 256;

/// Attention of each token to the tokens of its own text.
#[derive(Debug)]
pub(crate) struct Attention {
    /// Queries, keys and values of all heads by one product.
    pub(crate) query_key_value: Linear,
    pub(crate) output: Linear,
    pub(crate) heads: Heads,
    pub(crate) head_norms: Option<HeadNorms>,
    pub(crate) positions: PositionScheme,
    pub(crate) mask: Mask,
}

/// How attention takes the positions of tokens into account.
#[derive(Debug)]
pub(crate) enum PositionScheme {
    /// Positions are part of the [token embeddings](super::TokenEmbeddings).
    Absolute,
    /// Queries and keys are rotated by their positions.
    Rotary(Arc<Rotary>),
    /// Queries are also multiplied with keys of distances, as in Transformer-XL and `XLNet`.
    Relative(Box<RelativeKeys>),
}

/// One text of a batch.
struct BatchText<'batch> {
    /// Its tokens among those of the batch.
    tokens: Range<usize>,
    /// Those of them that are attended to.
    attended: Range<usize>,
    segments: &'batch [u32],
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(crate) struct AttentionScratch {
    projected: Vec<f32>,
    context: Vec<f32>,
    scores: Vec<f32>,
    head: Vec<f32>,
    relative: RelativeScratch,
}

impl Attention {
    /// Adds to `hidden` the attention output of each token of `input`, which holds `texts` one after another.
    pub(crate) fn add(
        &self,
        input: &[f32],
        hidden: &mut [f32],
        texts: &[&Encoded],
        kernels: &mut Kernels,
        scratch: &mut AttentionScratch,
    ) {
        let heads = self.heads;
        let tokens = input.len() / self.output.outputs();
        scratch.projected.resize(tokens * heads.row(), 0.0);
        scratch.context.resize(tokens * heads.query_width(), 0.0);
        self.query_key_value
            .apply(input, &mut scratch.projected, Write::Replace, kernels);
        let longest = texts.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        if let PositionScheme::Relative(keys) = &self.positions {
            keys.prepare(longest, heads.size, kernels, &mut scratch.relative);
        }
        let mut start = 0;
        for text in texts {
            let end = start + text.ids.len();
            let text = BatchText {
                tokens: start..end,
                attended: start..start + text.attended,
                segments: &text.segments,
            };
            self.gather(&text, kernels, scratch);
            start = end;
        }
        self.output
            .apply(&scratch.context, hidden, Write::Add, kernels);
    }

    fn gather(&self, text: &BatchText<'_>, kernels: &Kernels, scratch: &mut AttentionScratch) {
        let Range { start, end } = text.tokens;
        let row = self.heads.row();
        let rows = scratch.projected[start * row..end * row].chunks_exact_mut(row);
        for (position, row) in rows.enumerate() {
            self.place(position, row);
        }
        for head in 0..self.heads.queries {
            let mut first = start;
            while first < end {
                let queries = first..end.min(first + QUERY_BLOCK);
                first = queries.end;
                self.gather_block(head, queries, text, kernels, scratch);
            }
        }
    }

    /// Normalises and rotates the queries and keys of a token, if the model does so.
    fn place(&self, position: usize, row: &mut [f32]) {
        let (queries, rest) = row.split_at_mut(self.heads.query_width());
        let keys = &mut rest[..self.heads.key_width()];
        if let Some(norms) = &self.head_norms {
            norms.query.apply(queries);
            norms.key.apply(keys);
        }
        if let PositionScheme::Rotary(rotary) = &self.positions {
            let size = self.heads.size;
            let queries = queries.chunks_exact_mut(size);
            for head in queries.chain(keys.chunks_exact_mut(size)) {
                rotary.turn(head, position);
            }
        }
    }

    fn gather_block(
        &self,
        head: usize,
        queries: Range<usize>,
        text: &BatchText<'_>,
        kernels: &Kernels,
        scratch: &mut AttentionScratch,
    ) {
        let heads = self.heads;
        let (size, row, width) = (heads.size, heads.row(), heads.query_width());
        let keys = self.mask.keys(&queries, &text.attended);
        if keys.is_empty() {
            // Nothing is added to tokens that see no keys.
            for token in queries {
                scratch.context[token * width + head * size..][..size].fill(0.0);
            }
            return;
        }
        self.score(head, &queries, &keys, text, kernels, scratch);
        let shape = [queries.len(), keys.len()];
        let rows = scratch.scores.chunks_exact_mut(keys.len());
        for (token, scores) in queries.clone().zip(rows) {
            weigh(scores, self.mask.seen(token, &keys));
        }
        let weights = view(&scratch.scores, shape, [keys.len(), 1]);
        let values = &scratch.projected[keys.start * row + heads.value_column(head)..];
        let values = view(values, [keys.len(), size], [row, 1]);
        kernels.product(weights, values, 1.0, &mut scratch.head);
        for (token, gathered) in queries.zip(scratch.head.chunks_exact(size)) {
            scratch.context[token * width + head * size..][..size].copy_from_slice(gathered);
        }
    }

    /// Writes the scores of each query against all `keys` into `scratch`, one row for each query.
    fn score(
        &self,
        head: usize,
        queries: &Range<usize>,
        keys: &Range<usize>,
        text: &BatchText<'_>,
        kernels: &Kernels,
        scratch: &mut AttentionScratch,
    ) {
        let heads = self.heads;
        let (size, row) = (heads.size, heads.row());
        let from = |token: usize, column: usize| &scratch.projected[token * row + column..];
        let query = from(queries.start, heads.query_column(head));
        let query = view(query, [queries.len(), size], [row, 1]);
        let key = from(keys.start, heads.key_column(head));
        let key = view(key, [size, keys.len()], [1, row]);
        let scale = scale(size);
        kernels.product(query, key, scale, &mut scratch.scores);
        let PositionScheme::Relative(relative) = &self.positions else {
            return;
        };
        let start = text.tokens.start;
        let block = Block {
            head,
            queries: queries.start - start..queries.end - start,
            keys: keys.start - start..keys.end - start,
            query,
            segments: text.segments,
            scale,
        };
        relative.add(&block, kernels, &mut scratch.relative, &mut scratch.scores);
    }
}

/// The factor of scores, so that they do not grow with the size of heads.
#[expect(clippy::cast_precision_loss, reason = "heads have some hundred values")]
fn scale(head_size: usize) -> f32 {
    (head_size as f32).sqrt().recip()
}

/// Turns the scores of one token into weights: they sum to 1 over the keys that it sees, and are 0 elsewhere.
fn weigh(scores: &mut [f32], seen: Range<usize>) {
    scores[..seen.start].fill(0.0);
    scores[seen.end..].fill(0.0);
    if !seen.is_empty() {
        Softmax::new_mut(&mut scores[seen]).dispatch();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::linear::Parameters;

    const WIDTH: usize = 2;

    fn linear(outputs: usize, kernels: &Kernels) -> Linear {
        let parameters = Parameters {
            weights: vec![0.5; outputs * WIDTH],
            bias: None,
            inputs: WIDTH,
            outputs,
        };
        Linear::float(parameters, kernels)
    }

    #[test]
    fn tokens_that_see_no_attended_token_gather_nothing() {
        let mut kernels = Kernels::default();
        let attention = Attention {
            query_key_value: linear(3 * WIDTH, &kernels),
            output: linear(WIDTH, &kernels),
            heads: Heads::sharing(WIDTH, 1),
            head_norms: None,
            positions: PositionScheme::Absolute,
            mask: Mask::Window(2),
        };
        // More than one block of queries, so that the last block sees no keys at all.
        let tokens = QUERY_BLOCK + 9;
        let input = vec![1.0; tokens * WIDTH];
        let mut scratch = AttentionScratch::default();
        let mut gathered = |attended| {
            let mut hidden = vec![0.0; tokens * WIDTH];
            let text = Encoded {
                attended,
                ..Encoded::of_one_text(vec![0; tokens])
            };
            let texts = [&text];
            attention.add(&input, &mut hidden, &texts, &mut kernels, &mut scratch);
            hidden
        };
        assert_eq!(gathered(tokens), input, "all tokens have the same vector");
        // The fifth token still sees the third, which is the last attended one.
        let (near, far) = (5 * WIDTH, (tokens - 5) * WIDTH);
        let expected = [vec![1.0; near], vec![0.0; far]].concat();
        assert_eq!(gathered(3), expected);
        assert_eq!(gathered(0), vec![0.0; tokens * WIDTH]);
    }
}
