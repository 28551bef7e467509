//! A case before its judges: what they are shown and asked.

use std::sync::Arc;

use evals::Evidence;
use evals_models::ChatRequest;

use super::checklist::{Checklist, Item};
use super::claims::{CaseClaims, ClaimList, Of};
use super::material::Material;
use super::nuggets::NuggetBank;
use super::numbered::Words;
use super::pieces::NumberedPassage;
use super::templates::JudgeTemplates;
use crate::judging::{Inquiry, JudgeFailure, Panel, Shown};
use crate::{Call, Nugget, Prompt};

/// One case that a panel looks at.
#[derive(Debug)]
pub(super) struct Sitting<'a> {
    pub(super) panel: &'a Panel,
    pub(super) templates: &'a JudgeTemplates,
    /// The most bytes of passages in one request.
    pub(super) budget: usize,
    pub(super) material: &'a Material<'a>,
    /// The claims of the case, which all of its judges share.
    pub(super) claims: &'a CaseClaims,
}

impl<'a> Sitting<'a> {
    /// Asks about claims against passages.
    pub(super) async fn supported(
        &self,
        claims: &[String],
        passages: &[NumberedPassage<'_>],
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let items = claims.iter().map(|claim| Item::of(claim));
        let prompt = &self.templates.support;
        let checklist = Checklist {
            passages,
            ..self.checklist(prompt, &Words::SUPPORT, items, Vec::new())
        };
        self.verdicts(&checklist, calls).await
    }

    /// Asks about claims against one text.
    pub(super) async fn agreeing(
        &self,
        claims: &[String],
        text: &str,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let passage = NumberedPassage {
            number: 1,
            title: None,
            text,
        };
        let mut evidence = self.supported(claims, &[passage], calls).await?;
        for evidence in &mut evidence {
            evidence.source = None;
        }
        Ok(evidence)
    }

    pub(super) fn checklist<'c>(
        &'c self,
        prompt: &'c Prompt,
        words: &'static Words,
        items: impl Iterator<Item = Item<'c>>,
        texts: Vec<(&'static str, &'c str)>,
    ) -> Checklist<'c> {
        Checklist {
            prompt,
            words,
            items: items.collect(),
            passages: &[],
            texts,
            budget: self.budget,
        }
    }

    pub(super) async fn verdicts(
        &self,
        checklist: &Checklist<'_>,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let repeat = self.material.repeat;
        let mut evidence = checklist.ask(self.panel, repeat, calls).await?;
        for (evidence, item) in evidence.iter_mut().zip(&checklist.items) {
            item.text.clone_into(&mut evidence.text);
        }
        Ok(evidence)
    }

    pub(super) async fn claims(
        &self,
        of: Of,
        calls: &mut Vec<Call>,
    ) -> Result<Arc<[String]>, JudgeFailure> {
        self.claims.of(of, self.list(of, calls)).await
    }

    async fn list(&self, of: Of, calls: &mut Vec<Call>) -> Result<Vec<String>, JudgeFailure> {
        let templates = &self.templates;
        let question = self.material.question;
        let (prompt, text) = match of {
            Of::Answer => (&templates.claims, self.answer()),
            Of::Reference => (&templates.claims, self.reference()),
            Of::Question => (&templates.points, question),
        };
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let shown = Shown::new(&[question, text]);
        let nonce = shown.nonce();
        let prompt = prompt.fill([("question", question), ("text", text), ("nonce", nonce)])?;
        let inquiry = Inquiry {
            request: ChatRequest::asking(prompt, ClaimList::schema()),
            shown: &shown,
            parse: &ClaimList::parse,
            wanted: ClaimList::WANTED,
            shape: ClaimList::shape(nonce),
            repair: Prompt::verdict_repair(),
        };
        let panel = self.panel;
        let list = panel.lead(self.material.repeat, &inquiry, calls).await?;
        Ok(list.claims)
    }

    /// The facts of a good answer: the dataset's, or those that the first judge takes from the reference.
    pub(super) async fn bank(&self, calls: &mut Vec<Call>) -> Result<Vec<Nugget>, JudgeFailure> {
        let text: &str = match &self.material.nuggets {
            None => return Ok(Vec::new()),
            Some(NuggetBank::Given(nuggets)) => return Ok(nuggets.to_vec()),
            Some(NuggetBank::In(text)) => text,
        };
        let (question, prompt) = (self.material.without_answers, &self.templates.nuggets);
        NuggetBank::list(question, text, prompt, self.panel, calls).await
    }

    pub(super) fn passages(&self) -> &'a [NumberedPassage<'a>] {
        self.material.passages.unwrap_or_default()
    }

    pub(super) fn answer(&self) -> &'a str {
        self.material.answer.unwrap_or_default()
    }

    pub(super) fn reference(&self) -> &'a str {
        self.material.reference.unwrap_or_default()
    }
}
