//! Filters that ask a model: whether a question is clear alone, needs a document, is answered by its evidence, and by no other document
//! differently.

use std::collections::BTreeSet;

use evals_models::ChatModel;
use evals_rag::judging::{Judge, Judged, Wanted, truth, whole};
use evals_rag::{Call, EvidenceSpan, FoldedText, Passage, Searcher};
use serde::Deserialize;
use serde_json::json;

use crate::generation::{Draft, FOUND, dropped, found};
use crate::generator::GenerateError;
use crate::query::{Form, Query, numbered, shortened, texts, unusable};
use crate::{DropReason, Dropped, Item, Kind, QuestionPrompts};

/// The models and the searcher that check a test set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checking<'a> {
    pub(crate) judge: &'a dyn ChatModel,
    pub(crate) equivalence: &'a dyn Judge,
    pub(crate) searcher: &'a dyn Searcher,
    pub(crate) prompts: &'a QuestionPrompts,
}

/// Why a question goes.
type Fault = (DropReason, String);

/// A question that more documents answer asks for nothing in particular.
const MOST_OTHERS: usize = 5;

#[derive(Debug, PartialEq, Deserialize)]
struct Alone {
    #[serde(default)]
    reason: String,
    #[serde(deserialize_with = "truth")]
    clear: bool,
    #[serde(default)]
    answer: Option<String>,
}

impl Wanted for Alone {
    const KEY: &'static str = "clear";
}

const ALONE: Form = Form {
    wanted: "a text `reason`, a boolean `clear` and a text or null `answer`",
    members: || {
        json!({
            "reason": {"type": "string"},
            "id": {"type": "string"},
            "clear": {"type": "boolean"},
            "answer": {"type": ["string", "null"]},
        })
    },
    shape: r#"{"reason": "<what is unclear, in one sentence>", "id": "NONCE", "clear": <true or false>, "answer": "<answer, or null>"}"#,
};

#[derive(Debug, PartialEq, Deserialize)]
struct Carried {
    #[serde(default)]
    reason: String,
    #[serde(deserialize_with = "truth")]
    pass: bool,
}

impl Wanted for Carried {
    const KEY: &'static str = "pass";

    fn agrees(&self, other: &Self) -> bool {
        self.pass == other.pass
    }
}

const CARRIED: Form = Form {
    wanted: "a text `reason` and a boolean `pass`",
    members: || {
        json!({
            "reason": {"type": "string"},
            "id": {"type": "string"},
            "pass": {"type": "boolean"},
        })
    },
    shape: r#"{"reason": "<what decides it, in one sentence>", "id": "NONCE", "pass": <true or false>}"#,
};

#[derive(Debug, PartialEq, Deserialize)]
struct Others {
    answering: Vec<Other>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Other {
    #[serde(deserialize_with = "whole")]
    passage: usize,
    #[serde(deserialize_with = "truth")]
    same: bool,
    #[serde(default)]
    quote: String,
}

impl Wanted for Others {
    const KEY: &'static str = "answering";
}

const OTHERS: Form = Form {
    wanted: "a list `answering` of objects with a number `passage`, a boolean `same` and a text `quote`",
    members: || {
        let other = evals_models::object_schema(&json!({
            "passage": {"type": "integer"},
            "same": {"type": "boolean"},
            "quote": {"type": "string"},
        }));
        json!({
            "id": {"type": "string"},
            "answering": {"type": "array", "items": other},
        })
    },
    shape: r#"{"id": "NONCE", "answering": [{"passage": <number>, "same": <true or false>, "quote": "<quote>"}, …]}"#,
};

impl Checking<'_> {
    /// Drops a question that a filter finds fault with. The others get the further documents that answer them.
    pub(crate) async fn check(
        &self,
        draft: Draft,
        calls: &mut Vec<Call>,
    ) -> Result<Result<Item, Box<Dropped>>, GenerateError> {
        let Draft { mut item, passages } = draft;
        Ok(match self.fault(&mut item, passages, calls).await? {
            None => Ok(item),
            Some((reason, detail)) => Err(dropped(item, reason, detail)),
        })
    }

    /// The first fault. What people asked may be unclear or easy; it only has to be answered by its evidence.
    async fn fault(
        &self,
        item: &mut Item,
        passages: Vec<Passage>,
        calls: &mut Vec<Call>,
    ) -> Result<Option<Fault>, GenerateError> {
        if item.kind != Kind::Logged
            && let Some(fault) = self.alone(item, calls).await?
        {
            return Ok(Some(fault));
        }
        if let Some(fault) = self.unanswered(item, calls).await? {
            return Ok(Some(fault));
        }
        if item.kind == Kind::Logged {
            return Ok(None);
        }
        self.others(item, passages, calls).await
    }

    /// Whether the question is clear, and its answer known, without any document.
    async fn alone(
        &self,
        item: &Item,
        calls: &mut Vec<Call>,
    ) -> Result<Option<Fault>, GenerateError> {
        let query = Query {
            prompt: &self.prompts.alone,
            repair: &self.prompts.repair,
            values: json!({"question": item.question}),
            texts: vec![&item.question],
            form: ALONE,
            repeat: 1,
            refused: None,
        };
        let alone: Alone = match query.ask(self.judge, calls).await? {
            Ok(alone) => alone,
            Err(detail) => return Ok(Some((DropReason::Unusable, detail))),
        };
        if !alone.clear {
            return Ok(Some((DropReason::NotAlone, alone.reason)));
        }
        let known = alone.answer.filter(|answer| !answer.trim().is_empty());
        let (Some(known), Some(reference)) = (known, &item.answer) else {
            return Ok(None);
        };
        let judged = Judged {
            question: &item.question,
            reference,
            answerable: true,
            answer: &known,
            refused: false,
            repeat: 1,
        };
        match self.equivalence.judge(judged).await {
            Ok(verdict) => {
                calls.extend(verdict.calls);
                let detail = || format!("without a document the model answers: {known}");
                Ok(verdict
                    .pass
                    .then(|| (DropReason::NeedsNoDocument, detail())))
            }
            Err(error) => {
                calls.extend(error.calls);
                let detail = unusable(error.failure)?;
                Ok(Some((DropReason::Unusable, detail)))
            }
        }
    }

    /// Whether the evidence does not carry the answer.
    async fn unanswered(
        &self,
        item: &Item,
        calls: &mut Vec<Call>,
    ) -> Result<Option<Fault>, GenerateError> {
        let Some(answer) = &item.answer else {
            return Ok(None);
        };
        let quotes: Vec<&str> = item.evidence.iter().map(|it| it.quote.as_str()).collect();
        let query = Query {
            prompt: &self.prompts.evidence,
            repair: &self.prompts.repair,
            values: json!({"question": item.question, "answer": answer, "quotes": quotes}),
            texts: quotes
                .iter()
                .copied()
                .chain([item.question.as_str(), answer])
                .collect(),
            form: CARRIED,
            repeat: 1,
            refused: None,
        };
        Ok(match query.ask::<Carried>(self.judge, calls).await? {
            Ok(carried) if carried.pass => None,
            Ok(carried) => Some((DropReason::NotAnswered, carried.reason)),
            Err(detail) => Some((DropReason::Unusable, detail)),
        })
    }

    /// Searches for further passages that answer. For an unanswerable question, the passage it comes near to is one of them.
    async fn others(
        &self,
        item: &mut Item,
        written_from: Vec<Passage>,
        calls: &mut Vec<Call>,
    ) -> Result<Option<Fault>, GenerateError> {
        let searched = self.searcher.search(&item.question, FOUND).await;
        let passages = match found(searched)? {
            Ok(passages) => passages,
            Err(detail) => return Ok(Some((DropReason::Unusable, detail))),
        };
        let own = &item.relevant;
        let mut passages: Vec<Passage> = passages
            .into_iter()
            .filter(|it| !own.contains(&it.document))
            .take(FOUND)
            .collect();
        if !item.is_answerable() {
            passages.extend(written_from);
        }
        if passages.is_empty() {
            return Ok(None);
        }
        let others = {
            let query = Query {
                prompt: &self.prompts.others,
                repair: &self.prompts.repair,
                values: json!({
                    "question": item.question,
                    "answer": item.answer,
                    "passages": numbered(&passages),
                }),
                texts: texts(&passages)
                    .chain([&*item.question, item.answer.as_deref().unwrap_or_default()])
                    .collect(),
                form: OTHERS,
                repeat: 1,
                refused: None,
            };
            query.ask::<Others>(self.judge, calls).await?
        };
        Ok(match others {
            Ok(others) => add(item, &others.answering, &passages),
            Err(detail) => Some((DropReason::Unusable, detail)),
        })
    }
}

/// Adds the documents that give the same answer to those of `item`, unless others answer differently or too many answer.
fn add(item: &mut Item, answering: &[Other], passages: &[Passage]) -> Option<Fault> {
    let mut answering: Vec<(&Other, &Passage)> = answering
        .iter()
        .filter_map(|other| Some((other, passages.get(other.passage.checked_sub(1)?)?)))
        .collect();
    answering.sort_by_key(|(other, _)| other.passage);
    let says = |(other, passage): &(&Other, &Passage)| {
        format!("document `{}` says: {}", passage.document, other.quote)
    };
    if !item.is_answerable() {
        let first = answering.first()?;
        return Some((DropReason::Answerable, says(first)));
    }
    if let Some(different) = answering.iter().find(|(other, _)| !other.same) {
        return Some((DropReason::NotUnique, says(different)));
    }
    let documents: BTreeSet<&str> = answering.iter().map(|(_, it)| &*it.document).collect();
    if documents.len() > MOST_OTHERS {
        let detail = format!(
            "{} other documents answer it, and {MOST_OTHERS} are the most",
            documents.len()
        );
        return Some((DropReason::NotUnique, detail));
    }
    for (other, passage) in answering {
        if !item.relevant.contains(&passage.document) {
            item.relevant.push(passage.document.clone());
        }
        // A document whose quote is wrong answers all the same.
        let text = shortened(&passage.text);
        if let Some(range) = FoldedText::new(text).find(&other.quote).into_iter().next() {
            item.evidence.push(EvidenceSpan {
                document: passage.document.clone(),
                quote: text[range].to_owned(),
                start: None,
                end: None,
            });
        }
    }
    None
}
