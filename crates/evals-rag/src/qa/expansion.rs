//! Widens passages by the chunks around them.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{Passage, SearchError};

/// Fetches the chunks around a passage.
#[async_trait]
pub trait Neighbours: Debug + Send + Sync {
    /// Returns the chunks of a document with these numbers, in their order. Numbers that the document does not have are
    /// skipped; scores do not matter.
    async fn chunks(
        &self,
        document: &str,
        ordinals: RangeInclusive<u32>,
    ) -> Result<Vec<Passage>, SearchError>;
}

/// Widens each passage by the chunks around it.
#[derive(Debug, Clone)]
pub struct Expansion {
    /// The source of the chunks.
    pub neighbours: Arc<dyn Neighbours>,
    /// How many chunks to add on either side.
    pub radius: NonZeroU32,
}

impl Expansion {
    /// Widens passages, best first. Each chunk appears once, with the best passage whose window contains it. A passage that
    /// a better one already contains is dropped. Chunks are joined by line breaks; overlapping chunks repeat their common
    /// text.
    pub(super) async fn widen(&self, passages: Vec<Passage>) -> Result<Vec<Passage>, SearchError> {
        let mut shown = BTreeSet::new();
        let mut widened = Vec::with_capacity(passages.len());
        for passage in passages {
            if shown.contains(&(passage.document.clone(), passage.ordinal)) {
                continue;
            }
            let radius = self.radius.get();
            let window =
                passage.ordinal.saturating_sub(radius)..=passage.ordinal.saturating_add(radius);
            let mut chunks = self.neighbours.chunks(&passage.document, window).await?;
            chunks.retain(|chunk| {
                chunk.ordinal != passage.ordinal
                    && shown.insert((passage.document.clone(), chunk.ordinal))
            });
            shown.insert((passage.document.clone(), passage.ordinal));
            widened.push(joined(passage, chunks));
        }
        Ok(widened)
    }
}

/// Joins the texts of all chunks in order; the passage gets the number of its first chunk.
fn joined(passage: Passage, mut chunks: Vec<Passage>) -> Passage {
    let (title, score) = (passage.title.clone(), passage.score);
    let document = passage.document.clone();
    chunks.push(passage);
    chunks.sort_by_key(|chunk| chunk.ordinal);
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    Passage {
        document,
        title,
        ordinal: chunks[0].ordinal,
        text: texts.join("\n"),
        score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of 10 chunks, whose texts are their names and numbers.
    #[derive(Debug)]
    struct TenChunks;

    #[async_trait]
    impl Neighbours for TenChunks {
        async fn chunks(
            &self,
            document: &str,
            ordinals: RangeInclusive<u32>,
        ) -> Result<Vec<Passage>, SearchError> {
            let existing = ordinals.filter(|ordinal| *ordinal < 10);
            Ok(existing.map(|ordinal| chunk(document, ordinal)).collect())
        }
    }

    fn chunk(document: &str, ordinal: u32) -> Passage {
        Passage {
            document: document.to_owned(),
            title: None,
            ordinal,
            text: format!("{document}{ordinal}"),
            score: 0.5,
        }
    }

    async fn widened(passages: &[(&str, u32)]) -> Vec<(u32, String)> {
        let expansion = Expansion {
            neighbours: Arc::new(TenChunks),
            radius: NonZeroU32::MIN,
        };
        let passages = passages
            .iter()
            .map(|(document, ordinal)| chunk(document, *ordinal));
        let widened = expansion.widen(passages.collect()).await.unwrap();
        let texts = widened
            .into_iter()
            .map(|passage| (passage.ordinal, passage.text.replace('\n', " ")));
        texts.collect()
    }

    #[tokio::test]
    async fn passages_get_the_chunks_around_them() {
        assert_eq!(
            widened(&[("a", 4), ("b", 0), ("a", 9)]).await,
            [
                (3, "a3 a4 a5".to_owned()),
                (0, "b0 b1".to_owned()),
                (8, "a8 a9".to_owned())
            ]
        );
    }

    #[tokio::test]
    async fn each_chunk_is_shown_once_with_the_best_passage() {
        assert_eq!(
            widened(&[("a", 4), ("a", 5), ("a", 6)]).await,
            [(3, "a3 a4 a5".to_owned()), (6, "a6 a7".to_owned())]
        );
    }
}
