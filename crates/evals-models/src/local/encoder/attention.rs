use std::ops::Range;

use rten_simd::SimdOp;
use rten_vecmath::Softmax;

use super::linear::{Int8Scratch, Linear, Write};
use super::matrix::{Gemm, view};
use super::position_scheme::{Block, PositionScheme, PositionScratch};
use super::rotary::Rotary;
use crate::local::tokens::Encoded;

/// Queries scored at once: their scores against a long text stay in the cache, and memory grows only with its length.
const QUERY_BLOCK: usize = 256;

/// Attention of each token to the tokens of its own text.
#[derive(Debug)]
pub(in crate::local) struct Attention {
    /// Queries, keys and values of all heads by one product.
    pub(in crate::local) query_key_value: Linear,
    pub(in crate::local) output: Linear,
    pub(in crate::local) heads: usize,
    pub(in crate::local) positions: PositionScheme,
    /// How far a token sees to each side; `None`: over the whole text.
    pub(in crate::local) reach: Option<usize>,
}

/// One text of a batch.
struct Text<'batch> {
    /// Its tokens among those of the batch.
    tokens: Range<usize>,
    /// Those of them that are attended to.
    attended: Range<usize>,
    segments: &'batch [u32],
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(in crate::local) struct AttentionScratch {
    projected: Vec<f32>,
    context: Vec<f32>,
    scores: Vec<f32>,
    head: Vec<f32>,
    positions: PositionScratch,
}

impl Attention {
    /// Adds to `hidden` what each token of `input` gathers from its text of `texts`.
    pub(in crate::local) fn add(
        &self,
        input: &[f32],
        hidden: &mut [f32],
        texts: &[&Encoded],
        gemm: &Gemm,
        scratch: &mut AttentionScratch,
        int8: &mut Int8Scratch,
    ) {
        let width = self.output.outputs();
        let tokens = input.len() / width;
        scratch.projected.resize(tokens * 3 * width, 0.0);
        scratch.context.resize(tokens * width, 0.0);
        self.query_key_value
            .apply(input, &mut scratch.projected, Write::Replace, gemm, int8);
        let longest = texts.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        self.positions
            .prepare(longest, self.heads, gemm, int8, &mut scratch.positions);
        let mut start = 0;
        for text in texts {
            let end = start + text.ids.len();
            let text = Text {
                tokens: start..end,
                attended: start..start + text.attended,
                segments: &text.segments,
            };
            self.gather(&text, width, gemm, scratch);
            start = end;
        }
        self.output
            .apply(&scratch.context, hidden, Write::Add, gemm, int8);
    }

    fn gather(&self, text: &Text<'_>, width: usize, gemm: &Gemm, scratch: &mut AttentionScratch) {
        let tokens = &text.tokens;
        if let PositionScheme::Rotary(rotary) = &self.positions {
            let rows = &mut scratch.projected[tokens.start * 3 * width..tokens.end * 3 * width];
            self.turn(rotary, rows, width);
        }
        for head in 0..self.heads {
            let mut first = tokens.start;
            while first < tokens.end {
                let queries = first..tokens.end.min(first + QUERY_BLOCK);
                first = queries.end;
                self.gather_block(head, queries, text, width, gemm, scratch);
            }
        }
    }

    fn turn(&self, rotary: &Rotary, rows: &mut [f32], width: usize) {
        let head_size = width / self.heads;
        for (position, row) in rows.chunks_exact_mut(3 * width).enumerate() {
            for head in row[..2 * width].chunks_exact_mut(head_size) {
                rotary.turn(head, position);
            }
        }
    }

    fn gather_block(
        &self,
        head: usize,
        queries: Range<usize>,
        text: &Text<'_>,
        width: usize,
        gemm: &Gemm,
        scratch: &mut AttentionScratch,
    ) {
        let head_size = width / self.heads;
        let Text {
            tokens,
            attended,
            segments,
        } = text;
        let keys = self.visible(&queries, attended);
        if keys.is_empty() {
            return self.gather_nothing(head, queries, width, scratch);
        }
        let row = 3 * width;
        let part = |token: usize, part: usize| {
            &scratch.projected[token * row + part * width + head * head_size..]
        };
        let query = view(part(queries.start, 0), [queries.len(), head_size], [row, 1]);
        let key = view(part(keys.start, 1), [head_size, keys.len()], [1, row]);
        let value = view(part(keys.start, 2), [keys.len(), head_size], [row, 1]);
        let scale = self.positions.scale(head_size);
        gemm.product(query, key, scale, &mut scratch.scores);
        let block = Block {
            head,
            queries: queries.start - tokens.start..queries.end - tokens.start,
            keys: keys.start - tokens.start..keys.end - tokens.start,
            query,
            key,
            segments,
            scale,
        };
        self.positions
            .add(&block, gemm, &mut scratch.positions, &mut scratch.scores);
        for (at, scores) in scratch.scores.chunks_exact_mut(keys.len()).enumerate() {
            self.weigh(queries.start + at, keys.start, scores);
        }
        let scores = view(
            &scratch.scores,
            [queries.len(), keys.len()],
            [keys.len(), 1],
        );
        gemm.product(scores, value, 1.0, &mut scratch.head);
        for (token, gathered) in queries.zip(scratch.head.chunks_exact(head_size)) {
            let start = token * width + head * head_size;
            scratch.context[start..start + head_size].copy_from_slice(gathered);
        }
    }

    /// Tokens that see none have nothing added to them.
    fn gather_nothing(
        &self,
        head: usize,
        queries: Range<usize>,
        width: usize,
        scratch: &mut AttentionScratch,
    ) {
        let head_size = width / self.heads;
        for token in queries {
            let start = token * width + head * head_size;
            scratch.context[start..start + head_size].fill(0.0);
        }
    }

    fn visible(&self, queries: &Range<usize>, keys: &Range<usize>) -> Range<usize> {
        match self.reach {
            None => keys.clone(),
            Some(reach) => {
                keys.start.max(queries.start.saturating_sub(reach))
                    ..keys.end.min(queries.end + reach)
            }
        }
    }

    /// Turns the scores of one token into weights that sum to 1, or to 0 where it sees no token.
    fn weigh(&self, token: usize, first_key: usize, scores: &mut [f32]) {
        let seen = match self.reach {
            None => 0..scores.len(),
            Some(reach) => {
                let start = token.saturating_sub(reach).saturating_sub(first_key);
                let end = scores.len().min(token + reach + 1 - first_key);
                start.min(end)..end
            }
        };
        scores[..seen.start].fill(0.0);
        scores[seen.end..].fill(0.0);
        if !seen.is_empty() {
            Softmax::new_mut(&mut scores[seen]).dispatch();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::linear::Parameters;
    use super::*;

    const WIDTH: usize = 2;

    fn linear(outputs: usize, gemm: &Gemm) -> Linear {
        let parameters = Parameters {
            weights: vec![0.5; outputs * WIDTH],
            bias: None,
            inputs: WIDTH,
            outputs,
        };
        Linear::float(parameters, gemm)
    }

    #[test]
    fn tokens_that_see_no_attended_one_gather_nothing() {
        let gemm = Gemm::default();
        let attention = Attention {
            query_key_value: linear(3 * WIDTH, &gemm),
            output: linear(WIDTH, &gemm),
            heads: 1,
            positions: PositionScheme::Absolute,
            reach: Some(2),
        };
        // More than a block of queries, so that the last ones are without keys as a whole.
        let tokens = QUERY_BLOCK + 9;
        let input = vec![1.0; tokens * WIDTH];
        let (mut scratch, mut int8) = (AttentionScratch::default(), Int8Scratch::default());
        let mut gathered = |attended| {
            let mut hidden = vec![0.0; tokens * WIDTH];
            let text = Encoded {
                ids: vec![0; tokens],
                segments: vec![0; tokens],
                attended,
            };
            let texts = [&text];
            attention.add(&input, &mut hidden, &texts, &gemm, &mut scratch, &mut int8);
            hidden
        };
        assert_eq!(gathered(tokens), input, "of one and the same vector");
        // The fifth token sees the third one, which is the last that is attended to.
        let (near, far) = (5 * WIDTH, (tokens - 5) * WIDTH);
        let expected = [vec![1.0; near], vec![0.0; far]].concat();
        assert_eq!(gathered(3), expected);
        assert_eq!(gathered(0), vec![0.0; tokens * WIDTH]);
    }
}
