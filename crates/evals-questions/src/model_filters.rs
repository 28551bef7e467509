//! Filters that ask a model: whether a question is clear alone, needs a document, is answered by its evidence, and by no other document
//! differently.

use std::collections::BTreeSet;

use evals_rag::Passage;
use evals_rag::judging::{Judged, Wanted, truth, whole};
use serde::Deserialize;
use serde_json::json;

use crate::generation::Draft;
use crate::query::{Form, Stop, numbered};
use crate::{DropReason, Generator, Item, Kind};

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
    members: r#"{"reason": {"type": "string"}, "id": {"type": "string"}, "clear": {"type": "boolean"}, "answer": {"type": ["string", "null"]}}"#,
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
    members: r#"{"reason": {"type": "string"}, "id": {"type": "string"}, "pass": {"type": "boolean"}}"#,
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
    members: r#"{"id": {"type": "string"}, "answering": {"type": "array", "items": {"type": "object",
        "properties": {"passage": {"type": "integer"}, "same": {"type": "boolean"}, "quote": {"type": "string"}},
        "required": ["passage", "same", "quote"], "additionalProperties": false}}}"#,
    shape: r#"{"id": "NONCE", "answering": [{"passage": <number>, "same": <true or false>, "quote": "<quote>"}, …]}"#,
};

impl Generator<'_> {
    /// Drops a question that a filter finds fault with. The others get the further documents that answer them. What people asked may be
    /// unclear or easy; it only has to be answered by its evidence.
    pub(crate) async fn check(&self, draft: &mut Draft) -> Result<(), Stop> {
        let is_written = draft.item.kind != Kind::Logged;
        if is_written {
            self.alone(draft).await?;
        }
        if draft.item.is_answerable() {
            self.carried(draft).await?;
        }
        if is_written {
            self.others(draft).await?;
        }
        Ok(())
    }

    /// Drops a question that is not clear, or whose answer is known, without any document.
    async fn alone(&self, draft: &Draft) -> Result<(), Stop> {
        let item = &draft.item;
        let values = json!({"question": item.question});
        let query = self.query(&self.prompts.alone, ALONE, values);
        let alone: Alone = query.ask(self.judge).await?;
        if !alone.clear {
            return Err(Stop::Drop(DropReason::NotAlone, alone.reason));
        }
        let known = alone.answer.filter(|answer| !answer.trim().is_empty());
        let Some(known) = known.filter(|_| item.is_answerable()) else {
            return Ok(());
        };
        let judged = Judged {
            question: &item.question,
            reference: &item.answer,
            accepted: &[],
            answerable: true,
            answer: &known,
            refused: false,
            repeat: 1,
        };
        let judged = self.equivalence.judge(judged).await;
        if judged.map_err(|error| error.failure)?.pass {
            let detail = format!("without a document the model answers: {known}");
            return Err(Stop::Drop(DropReason::NeedsNoDocument, detail));
        }
        Ok(())
    }

    /// Drops a question whose evidence does not carry the answer.
    async fn carried(&self, draft: &Draft) -> Result<(), Stop> {
        let item = &draft.item;
        let quotes: Vec<&str> = item.evidence.iter().map(|it| it.quote.as_str()).collect();
        let values = json!({"question": item.question, "answer": item.answer, "quotes": quotes});
        let query = self.query(&self.prompts.evidence, CARRIED, values);
        let carried: Carried = query.ask(self.judge).await?;
        if carried.pass {
            return Ok(());
        }
        Err(Stop::Drop(DropReason::NotAnswered, carried.reason))
    }

    /// Searches for further passages that answer. For an unanswerable question, the passage it comes near to is one of them.
    async fn others(&self, draft: &mut Draft) -> Result<(), Stop> {
        let item = &mut draft.item;
        let mut passages = self.found(&item.question).await?;
        passages.retain(|it| !item.relevant.contains(&it.document));
        if !item.is_answerable() {
            passages.extend(draft.passages.iter().cloned());
        }
        if passages.is_empty() {
            return Ok(());
        }
        let answer = item.is_answerable().then_some(&item.answer);
        let values =
            json!({"question": item.question, "answer": answer, "passages": numbered(&passages)});
        let query = self.query(&self.prompts.others, OTHERS, values);
        let others: Others = query.ask(self.judge).await?;
        add(self, item, &others.answering, &passages)
    }
}

/// Adds the documents that give the same answer to those of `item`, unless others answer differently or too many answer.
fn add(
    generator: &Generator<'_>,
    item: &mut Item,
    answering: &[Other],
    passages: &[Passage],
) -> Result<(), Stop> {
    let answering = answering.iter().filter_map(|other| {
        let passage = passages.get(other.passage.checked_sub(1)?)?;
        Some((other, passage))
    });
    let mut answering: Vec<(&Other, &Passage)> = answering.collect();
    answering.sort_by_key(|(other, _)| other.passage);
    let is_answerable = item.is_answerable();
    let contradicts = |(other, _): &&(&Other, &Passage)| !is_answerable || !other.same;
    if let Some((other, passage)) = answering.iter().find(contradicts) {
        let reason = if is_answerable {
            DropReason::NotUnique
        } else {
            DropReason::Answerable
        };
        let detail = format!("document `{}` says: {}", passage.document, other.quote);
        return Err(Stop::Drop(reason, detail));
    }
    let documents: BTreeSet<&str> = answering.iter().map(|(_, it)| &*it.document).collect();
    let count = documents.len();
    if count > MOST_OTHERS {
        let detail = format!("{count} other documents answer it, and {MOST_OTHERS} are the most");
        return Err(Stop::Drop(DropReason::NotUnique, detail));
    }
    for (other, passage) in answering {
        if !item.relevant.contains(&passage.document) {
            item.relevant.push(passage.document.clone());
        }
        // A document whose quote is wrong answers all the same.
        item.evidence.extend(generator.span(passage, &other.quote));
    }
    Ok(())
}
