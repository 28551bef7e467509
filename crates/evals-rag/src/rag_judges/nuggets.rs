//! Nuggets: the facts of a good answer, and the scores of an answer that has some of them.

use std::borrow::Cow;
use std::sync::Arc;

use evals::{Evidence, Outcome};
use evals_models::{ChatRequest, ReplySchema};
use serde::Deserialize;
use serde_json::json;

use super::judged_case::TextSize;
use super::measure::JudgedMeasure;
use super::numbered::Words;
use crate::judging::{Inquiry, JudgeFailure, Panel, Shown, Wanted, parse_object};
use crate::qa::Reference;
use crate::{Call, EvidenceSpan, Nugget, Prompt, PromptError};

/// A judge lists at most this many facts of a text, as in the source of [`outcomes`].
pub(super) const MOST_NUGGETS: usize = 20;

/// What an okay fact weighs where a vital one weighs 1, and a partly supported one where a supported one counts 1.
const HALF: f64 = 0.5;

/// The facts of a good answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NuggetBank<'a> {
    /// The dataset names them.
    Given(&'a [Nugget]),
    /// They are in this text: the reference answer, or without one the evidence.
    In(Cow<'a, str>),
}

/// The size of the facts of a good answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NuggetsSize {
    /// Their number if the dataset names them; `None` if a judge takes them from a text.
    pub given: Option<u64>,
    /// All of them, or the text that they are taken from.
    pub text: TextSize,
}

impl<'a> NuggetBank<'a> {
    /// The nuggets of the dataset, else the reference answer, else the evidence; `None` if the question has none of them.
    pub fn of(
        nuggets: &'a [Nugget],
        answer: Option<&'a str>,
        evidence: &'a [EvidenceSpan],
    ) -> Option<Self> {
        if !nuggets.is_empty() {
            return Some(Self::Given(nuggets));
        }
        if let Some(answer) = answer.filter(|answer| !answer.trim().is_empty()) {
            return Some(Self::In(Cow::Borrowed(answer)));
        }
        let quotes: Vec<&str> = evidence.iter().map(|span| span.quote.as_str()).collect();
        (!quotes.is_empty()).then(|| Self::In(Cow::Owned(quotes.join("\n\n"))))
    }

    pub(super) fn of_reference(reference: &'a Reference) -> Option<Self> {
        let answer = reference.answer.as_deref();
        Self::of(&reference.nuggets, answer, &reference.evidence)
    }

    /// The conversation that asks for the facts of a text. [`JudgeTemplates`](super::JudgeTemplates) says which values `prompt` may use.
    ///
    /// # Errors
    ///
    /// The prompt cannot be filled in.
    pub fn request(
        question: &str,
        text: &str,
        prompt: &Prompt,
    ) -> Result<ChatRequest, PromptError> {
        let shown = Shown::new(&[question, text]);
        let most = MOST_NUGGETS.to_string();
        let values = [
            ("question", question),
            ("text", text),
            ("most", most.as_str()),
            ("nonce", shown.nonce()),
        ];
        Ok(ChatRequest::asking(
            prompt.fill(values)?,
            NuggetList::schema(),
        ))
    }

    /// The facts of a text, which the first judge of `panel` lists, the vital ones first.
    ///
    /// The request does not depend on an answer or a repetition, so with stored replies all systems are judged by the same facts.
    ///
    /// # Errors
    ///
    /// The judge gave no reply, or none with a list.
    pub async fn list(
        question: &str,
        text: &str,
        prompt: &Prompt,
        panel: &Panel,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Nugget>, JudgeFailure> {
        let shown = Shown::new(&[question, text]);
        let inquiry = Inquiry {
            request: Self::request(question, text, prompt)?,
            shown: &shown,
            parse: &NuggetList::parse,
            wanted: NuggetList::WANTED,
            shape: NuggetList::shape(shown.nonce()),
            repair: Prompt::verdict_repair(),
        };
        let listed = panel.lead(1, &inquiry, calls).await;
        let listed = listed.map_err(|source| JudgeFailure::Claims {
            what: "nuggets of the question",
            source: Arc::new(source),
        })?;
        Ok(listed.nuggets)
    }

    /// The size of the facts, or of the text that has them. `count` counts the tokens of a text.
    pub fn size(&self, count: &dyn Fn(&str) -> u64) -> NuggetsSize {
        match self {
            Self::Given(nuggets) => {
                let texts = nuggets.iter().map(|it| TextSize::of(&it.text, count));
                NuggetsSize {
                    given: Some(nuggets.len() as u64),
                    text: texts.fold(TextSize::default(), TextSize::plus),
                }
            }
            Self::In(text) => NuggetsSize {
                given: None,
                text: TextSize::of(text, count),
            },
        }
    }
}

/// The facts that a judge takes from a text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct NuggetList {
    pub(super) nuggets: Vec<Nugget>,
}

impl NuggetList {
    /// The members of the object in words.
    pub(super) const WANTED: &'static str = "a list `nuggets` of objects with `text` and `vital`";

    /// Reads the text of an object. Of too many facts the last okay ones are dropped, then the last vital ones, as the list begins with
    /// the most important ones.
    pub(super) fn parse(object: &str) -> Option<Self> {
        let list: Self = parse_object(object)?;
        let mut nuggets: Vec<Nugget> = Vec::new();
        for Nugget { text, vital } in list.nuggets {
            let text = text.trim();
            if !text.is_empty() && nuggets.iter().all(|known| known.text != text) {
                let text = text.to_owned();
                nuggets.push(Nugget { text, vital });
            }
        }
        nuggets.sort_by_key(|nugget| !nugget.vital);
        nuggets.truncate(MOST_NUGGETS);
        Some(Self { nuggets })
    }

    /// The form of the object in words.
    pub(super) fn shape(nonce: &str) -> String {
        format!(
            r#"{{"id": "{nonce}", "nuggets": [{{"text": "<fact>", "vital": <true or false>}}, …]}}"#
        )
    }

    pub(super) fn schema() -> ReplySchema {
        let nugget = evals_models::object_schema(
            &json!({"text": {"type": "string"}, "vital": {"type": "boolean"}}),
        );
        let nuggets = json!({"type": "array", "items": nugget});
        ReplySchema::of_object(
            "nuggets",
            &json!({"id": {"type": "string"}, "nuggets": nuggets}),
        )
    }
}

impl Wanted for NuggetList {
    const KEY: &'static str = "nuggets";
}

/// The scores of an answer from the verdicts on the facts of `bank`, in the same order.
///
/// ```text
/// weighted = (Σ s over vital + Σ s over okay / 2) / (number of vital + number of okay / 2)
/// vital    = Σ s over vital / number of vital
/// ```
///
/// where s is 1 for support, 1/2 for partial support and 0 for none; strict scores count partial support as none. Undefined without facts that
/// count.
///
/// Source: Pradeep et al., "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with the `AutoNuggetizer` Framework" (2024), whose
/// `W_strict`, W, `V_strict` and V these are.
pub(super) fn outcomes(bank: &[Nugget], mut evidence: Vec<Evidence>) -> Vec<Outcome> {
    for (evidence, nugget) in evidence.iter_mut().zip(bank) {
        evidence.source = Some(if nugget.vital { "vital" } else { "okay" }.to_owned());
    }
    let support = |evidence: &Evidence, partial: f64| match &*evidence.verdict {
        _ if evidence.holds => 1.0,
        Words::PARTIAL => partial,
        _ => 0.0,
    };
    // What an okay fact weighs, and what partial support counts.
    let scored = [(HALF, 0.0), (HALF, HALF), (0.0, 0.0), (0.0, HALF)];
    let outcomes = scored.into_iter().zip(JudgedMeasure::Nuggets.outcomes());
    let outcomes = outcomes.map(|((okay, partial), name)| {
        let nouns = if okay > 0.0 {
            "nuggets"
        } else {
            "vital nuggets"
        };
        let (mut weights, mut weighted, mut supported, mut number) = (0.0, 0.0, 0.0, 0);
        for (nugget, evidence) in bank.iter().zip(&evidence) {
            let weight = if nugget.vital { 1.0 } else { okay };
            if weight > 0.0 {
                weights += weight;
                weighted += weight * support(evidence, partial);
                supported += support(evidence, partial);
                number += 1;
            }
        }
        if number == 0 {
            return Outcome::undefined(*name, format!("no {nouns}"));
        }
        let reason = format!("{supported} of {number} {nouns}");
        Outcome::score(*name, weighted / weights).because(reason)
    });
    let mut outcomes: Vec<Outcome> = outcomes.collect();
    if let Some(first) = outcomes.first_mut() {
        first.evidence = evidence;
    }
    outcomes
}
