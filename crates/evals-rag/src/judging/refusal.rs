//! A language model that decides whether a reply refuses to answer.

use std::sync::Arc;

use evals_models::{ChatModel, ModelIdentity};

use super::examiner::{Examiner, Material};
use super::{JudgeError, Verdict};
use crate::Prompt;

/// Decides with a language model whether a reply refuses to answer.
///
/// It costs a call for each reply without a known refusal sentence. It repeats unreadable and cut replies as
/// [`ChatJudge`](super::ChatJudge) does.
#[derive(Debug, Clone)]
pub struct RefusalJudge(Examiner);

impl RefusalJudge {
    /// Asks `model` with the bundled prompt, within the model's own token budget.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(Examiner::new(model, Prompt::refusal()))
    }

    /// Uses another prompt; [`Prompt::refusal`] lists the values that it may use.
    #[must_use]
    pub fn prompt(self, prompt: Prompt) -> Self {
        Self(Examiner { prompt, ..self.0 })
    }

    /// The model, as reports name it.
    pub fn identity(&self) -> &ModelIdentity {
        self.0.model.identity()
    }

    /// Decides about one reply; the verdict passes if the reply refuses.
    pub async fn refuses(
        &self,
        question: &str,
        answer: &str,
        repeat: u32,
    ) -> Result<Verdict, JudgeError> {
        let material = Material {
            question,
            reference: None,
            answer,
            repeat,
        };
        self.0.examine(material).await
    }
}
