//! Somebody else's system in both benchmarks: its documents become a ranking, its answer is judged.
//!
//! A [`TargetSystem`] asks a target, matches the documents of its reply to those of the corpus, and notes what the reply lacks,
//! so that the measures that need it are undefined. [`retrieval_task`] and [`qa_task`] are its tasks in the two experiments. A
//! [`RecordedTarget`](evals_targets::RecordedTarget) in front of the target lets both read one reply.

#[cfg(test)]
mod conversation_tests;
mod conversations;
mod document_scores;
pub mod matching;
mod reading;
mod settled_matches;
mod simulation;
#[cfg(test)]
mod simulation_tests;
mod system;
#[cfg(test)]
mod tests;

pub use conversations::{ConversationPlan, Conversations, History, Script};
pub use document_scores::DocumentScores;
pub use reading::ReadingError;
pub use settled_matches::settle_matches;
pub use system::{TargetSystem, qa_task, retrieval_task};
