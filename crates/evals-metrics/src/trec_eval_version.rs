//! The versions of `trec_eval`, which differ in two rules.

use crate::arithmetic::as_f64;

/// The version of `trec_eval` whose rules decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrecEval {
    /// Version 9, and pytrec\_eval and ir-measures, which contain it. Document scores are held in single precision. A recall
    /// level asks for `floor(level * relevant + 0.9)` documents.
    V9,
    /// Version 10, of June 2026. Document scores are held in double precision. A recall level asks for
    /// `round(level * relevant)` documents.
    #[default]
    V10,
}

impl TrecEval {
    /// How many relevant documents reach a level of recall.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of documents: small, and a negative level saturates at 0"
    )]
    pub(crate) fn documents_at(self, level: f64, relevant: usize) -> usize {
        let documents = level * as_f64(relevant);
        match self {
            Self::V9 => (documents + 0.9) as usize,
            Self::V10 => documents.round() as usize,
        }
    }

    /// The score that decides the order: rounded to single precision by version 9.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the rounding of version 9, which decides what ties"
    )]
    pub(crate) fn score(self, score: f64) -> f64 {
        match self {
            Self::V9 => f64::from(score as f32),
            Self::V10 => score,
        }
    }
}
