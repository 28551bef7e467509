//! The decomposed judges: they ask a panel, and compute measures from its verdicts.

use std::num::NonZeroUsize;

use evals::Context;

use super::claims::ClaimStore;
use super::judgement::Judgement;
use super::material::Material;
use super::measure::JudgedMeasure;
use super::rubric::{Graded, Rubric};
use super::sitting::Sitting;
use super::templates::JudgeTemplates;
use crate::Qa;
use crate::conversation::JudgedQuestion;
use crate::judging::{JudgeError, Panel};

/// A rough number of bytes of a token of a chat model. English has more; this leaves room for other languages.
pub(super) const BYTES_PER_TOKEN: usize = 3;

/// Decomposed judges of one panel. All judges of a case share the claims of its texts.
#[derive(Debug)]
pub struct RagJudges {
    panel: Panel,
    templates: JudgeTemplates,
    budget: usize,
    claims: ClaimStore,
}

impl RagJudges {
    /// The default of [`context_tokens`](Self::context_tokens).
    pub const CONTEXT_TOKENS: NonZeroUsize = NonZeroUsize::new(16_384).expect("it is not 0");

    /// Asks `panel` with the bundled prompts.
    pub fn new(panel: Panel) -> Self {
        Self {
            panel,
            templates: JudgeTemplates::default(),
            budget: Self::bytes(Self::CONTEXT_TOKENS),
            claims: ClaimStore::default(),
        }
    }

    /// Uses other prompts.
    #[must_use]
    pub fn templates(self, templates: JudgeTemplates) -> Self {
        Self { templates, ..self }
    }

    /// The most tokens of passages in one request, at three bytes a token: 16,384 by default. More passages are shown in several
    /// requests, and a longer one is cut into pieces. What was said before a question has as many, too: older turns are left out.
    #[must_use]
    pub fn context_tokens(self, tokens: NonZeroUsize) -> Self {
        let budget = Self::bytes(tokens);
        Self { budget, ..self }
    }

    /// Converts a limit in tokens to one in bytes.
    pub(crate) fn bytes(tokens: NonZeroUsize) -> usize {
        tokens.get().saturating_mul(BYTES_PER_TOKEN)
    }

    /// The question of a case that ran, with as much of what was said before it as a request holds.
    pub(super) fn asked(&self, context: &Context<'_, Qa>) -> JudgedQuestion {
        JudgedQuestion::of(context, self.budget)
    }

    /// The judges that are asked.
    pub fn panel(&self) -> &Panel {
        &self.panel
    }

    /// The prompts that judges are asked with.
    pub(super) fn prompts(&self) -> &JudgeTemplates {
        &self.templates
    }

    /// Grades an answer by a rubric.
    ///
    /// # Errors
    ///
    /// A judge chose no level.
    pub async fn grade(
        &self,
        rubric: &Rubric,
        graded: Graded<'_>,
    ) -> Result<Judgement, JudgeError> {
        rubric
            .judge(&self.panel, &self.templates.levels, graded)
            .await
    }

    /// Judges one case. All judges of the same texts share their claims.
    ///
    /// # Errors
    ///
    /// A judge gave no verdict. The error holds the calls made until then.
    pub async fn judge(
        &self,
        measure: JudgedMeasure,
        material: &Material<'_>,
    ) -> Result<Judgement, JudgeError> {
        let texts = [
            material.question,
            material.answer.unwrap_or_default(),
            material.reference.unwrap_or_default(),
        ];
        let claims = self.claims.of_case(texts, material.repeat, measure);
        let mut calls = Vec::new();
        let sitting = Sitting {
            panel: &self.panel,
            templates: &self.templates,
            budget: self.budget,
            material,
            claims: &claims,
        };
        match Box::pin(sitting.outcomes(measure, &mut calls)).await {
            Ok(outcomes) => Ok(Judgement { outcomes, calls }),
            Err(failure) => Err(JudgeError { failure, calls }),
        }
    }
}
