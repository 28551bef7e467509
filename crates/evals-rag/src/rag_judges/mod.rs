//! Decomposed judges of answers: many small verdicts in place of one, each kept in the report.
//!
//! A judge of this folder first splits a text into claims, sentences or points, then asks a [`Panel`] of chat models for a verdict on
//! each of them, and computes a score from the verdicts. The score's outcome holds every verdict as [evidence](evals::Evidence). A reply
//! without exactly one verdict for each item is sent back once; then the judge has failed, which is never a score of 0.

mod checklist;
mod claim_list;
mod claims;
mod evaluator;
mod judges;
mod material;
mod measure;
mod numbered;
mod panel;
mod pieces;
mod scoring;
mod templates;
#[cfg(test)]
mod tests;
mod words;

pub use evaluator::Decomposed;
pub use judges::{Judgement, RagJudges};
pub use material::{CitedSentence, Material};
pub use measure::{JudgedMeasure, UnknownMeasure};
pub use panel::{EvenVotes, Panel, Rule};
pub use pieces::Passage;
pub use templates::JudgeTemplates;
