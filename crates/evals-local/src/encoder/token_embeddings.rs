//! The vectors that enter the first layer.

use super::norm::Norm;
use crate::tokenizer::Encoded;

/// The vectors of tokens before the first layer.
#[derive(Debug)]
pub(crate) struct TokenEmbeddings {
    /// One row for each token of the vocabulary.
    pub(crate) words: Vec<f32>,
    pub(crate) positions: Option<Positions>,
    /// One row for each segment: 0 for a text, 1 for the second text of a pair. Models without segments have one row.
    pub(crate) segments: Option<Vec<f32>>,
    pub(crate) norm: Option<Norm>,
    pub(crate) width: usize,
}

/// Learned vectors of positions.
#[derive(Debug)]
pub(crate) struct Positions {
    pub(crate) rows: Vec<f32>,
    /// The row of the first token of a text.
    pub(crate) first: usize,
    /// The padding token, if it counts as padding inside a text too: it has the row before `first`, and does not count for the
    /// positions of later tokens.
    pub(crate) uncounted: Option<u32>,
}

impl Positions {
    /// The row of each token of a text.
    fn of(&self, ids: &[u32]) -> impl Iterator<Item = usize> {
        ids.iter().scan(self.first, |next, id| {
            if Some(*id) == self.uncounted {
                return Some(self.first - 1);
            }
            *next += 1;
            Some(*next - 1)
        })
    }
}

impl TokenEmbeddings {
    /// One row for each token of each text, in order.
    pub(crate) fn look_up(&self, texts: &[&Encoded]) -> Vec<f32> {
        let tokens = texts.iter().map(|text| text.ids.len()).sum::<usize>();
        let mut rows = Vec::with_capacity(tokens * self.width);
        for text in texts {
            let mut positions = self.positions.as_ref().map(|table| table.of(&text.ids));
            for (id, segment) in text.ids.iter().zip(&text.segments) {
                let start = rows.len();
                rows.extend_from_slice(self.row(&self.words, *id as usize));
                if let Some(segments) = &self.segments {
                    let last = segments.len() / self.width - 1;
                    add(
                        &mut rows[start..],
                        self.row(segments, last.min(*segment as usize)),
                    );
                }
                let position = positions.as_mut().and_then(Iterator::next);
                if let (Some(table), Some(position)) = (&self.positions, position) {
                    add(&mut rows[start..], self.row(&table.rows, position));
                }
            }
        }
        if let Some(norm) = &self.norm {
            norm.apply(&mut rows);
        }
        rows
    }

    /// The vector of one token without its position.
    pub(crate) fn word(&self, id: u32) -> &[f32] {
        self.row(&self.words, id as usize)
    }

    fn row<'rows>(&self, rows: &'rows [f32], index: usize) -> &'rows [f32] {
        &rows[index * self.width..][..self.width]
    }
}

fn add(to: &mut [f32], what: &[f32]) {
    for (sum, addend) in to.iter_mut().zip(what) {
        *sum += addend;
    }
}
