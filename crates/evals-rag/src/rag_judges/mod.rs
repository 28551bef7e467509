//! Decomposed judges of answers: many small verdicts in place of one, each kept in the report.
//!
//! A judge of this folder first splits a text into claims, sentences or points, then asks a [`Panel`] of chat models for a verdict on
//! each of them, and computes a score from the verdicts. The score's outcome holds every verdict as [evidence](evals::Evidence). A reply
//! without exactly one verdict for each item is sent back once; then the judge has failed, which is never a score of 0.

mod agreement;
mod checklist;
mod claims;
mod conversation;
mod evaluator;
mod judge_limits;
mod judged_case;
mod judgement;
mod judges;
mod material;
mod measure;
mod measurement;
mod nuggets;
mod numbered;
mod pairwise;
mod pieces;
mod preferences;
mod rubric;
mod rubric_evaluator;
mod scoring;
mod sitting;
mod templates;
#[cfg(test)]
mod tests;
mod work;

pub use agreement::JudgeAgreement;
pub use conversation::LastTurns;
pub use evaluator::Decomposed;
pub use judge_limits::{CallRange, JudgeLimits};
pub use judged_case::{JudgedCase, TextSize};
pub use judgement::Judgement;
pub use judges::RagJudges;
pub use material::{CitedSentence, Material};
pub use measure::{JudgedMeasure, UnknownMeasure};
pub use nuggets::{NuggetBank, NuggetsSize};
pub use pairwise::Pairwise;
pub use pieces::NumberedPassage;
pub use preferences::Preferences;
pub use rubric::{Graded, Rubric, RubricError};
pub use rubric_evaluator::RubricEvaluator;
pub use templates::JudgeTemplates;
pub use work::JudgeCalls;

pub use crate::judging::{Panel, PanelError, Rule};
