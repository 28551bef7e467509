//! Writes questions with a model, each with its answer and the quotes that carry it.

use evals_models::ChatModel;
use evals_rag::judging::Wanted;
use evals_rag::{Call, Document, EvidenceSpan, FoldedText, Passage, SearchError, Searcher};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::drawing::DrawnPassage;
use crate::generator::GenerateError;
use crate::query::{Form, Query, chain, numbered, texts};
use crate::{DropReason, Dropped, Item, Kind, QuestionPrompts};

/// The models and the searcher that make a test set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub(crate) writer: &'a dyn ChatModel,
    pub(crate) searcher: &'a dyn Searcher,
    pub(crate) prompts: &'a QuestionPrompts,
}

/// A question that has to be written.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) number: usize,
    pub(crate) kind: Kind,
    pub(crate) asker: String,
    pub(crate) passage: DrawnPassage,
}

/// A question as it was written, with the passages that it was written from.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) item: Item,
    pub(crate) passages: Vec<Passage>,
}

/// The question that a model wrote, or the answer that it found.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Written {
    question: String,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    quotes: Vec<String>,
}

impl Wanted for Written {
    const KEY: &'static str = "question";

    fn complaint(&self) -> Option<String> {
        (self.question.len() > LONGEST).then(|| "the question is too long".to_owned())
    }
}

/// The answer that a model found to a user's question.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Answered {
    /// Required: an object without it is not a reply.
    #[serde(deserialize_with = "Option::deserialize")]
    answer: Option<String>,
    #[serde(default)]
    quotes: Vec<String>,
}

impl Wanted for Answered {
    const KEY: &'static str = "answer";
}

/// A longer question, in bytes, is a copy of something else.
const LONGEST: usize = 2_000;

/// How many documents a search returns.
pub(crate) const FOUND: usize = 10;

const QUESTION: Form = Form {
    wanted: "a text `question`, a text `answer` and a list `quotes` of texts",
    members: || {
        json!({
            "id": {"type": "string"},
            "question": {"type": "string"},
            "answer": {"type": "string"},
            "quotes": {"type": "array", "items": {"type": "string"}},
        })
    },
    shape: r#"{"id": "NONCE", "question": "<question>", "answer": "<answer>", "quotes": ["<first quote>", …]}"#,
};

const NEAR_MISS: Form = Form {
    wanted: "a text `near_miss` and a text `question`",
    members: || {
        json!({
            "near_miss": {"type": "string"},
            "id": {"type": "string"},
            "question": {"type": "string"},
        })
    },
    shape: r#"{"near_miss": "<what the passage says, and what it leaves out>", "id": "NONCE", "question": "<question>"}"#,
};

const ANSWER: Form = Form {
    wanted: "a text or null `answer` and a list `quotes` of texts",
    members: || {
        json!({
            "id": {"type": "string"},
            "answer": {"type": ["string", "null"]},
            "quotes": {"type": "array", "items": {"type": "string"}},
        })
    },
    shape: r#"{"id": "NONCE", "answer": "<answer, or null>", "quotes": ["<first quote>", …]}"#,
};

impl Writing<'_> {
    /// Writes the question of a slot about a passage of `document`.
    pub(crate) async fn write(
        &self,
        slot: &Slot,
        document: &Document,
        calls: &mut Vec<Call>,
    ) -> Result<Result<Draft, Box<Dropped>>, GenerateError> {
        let mut item = Item {
            id: format!("q{:04}", slot.number),
            question: String::new(),
            answer: None,
            kind: slot.kind,
            asker: Some(slot.asker.clone()),
            relevant: Vec::new(),
            evidence: Vec::new(),
        };
        let mut passages = vec![passage(document, slot)];
        if slot.kind == Kind::Comparison {
            match self.neighbour(&passages[0]).await? {
                Ok(second) => passages.push(second),
                Err(detail) => return Ok(Err(unusable(item, detail))),
            }
        }
        let mut query = self.query(slot, &passages);
        let written: Written = match query.ask(self.writer, calls).await? {
            Ok(written) => written,
            Err(detail) => return Ok(Err(unusable(item, detail))),
        };
        let question = written.question.trim();
        question.clone_into(&mut item.question);
        if question.is_empty() {
            let detail = "the model found nothing to ask about the passage".to_owned();
            return Ok(Err(unusable(item, detail)));
        }
        if slot.kind == Kind::Unanswerable {
            return Ok(Ok(Draft { item, passages }));
        }
        let starts = Some((&*document.text, slot.passage.range.start));
        let mut anchored = anchor(&written.quotes, &passages, starts, slot.kind);
        let mut answer = written.answer.clone();
        if let Err(complaint) = anchored {
            let reply = serde_json::to_string(&written).unwrap_or_default();
            query.refused = Some((reply, complaint));
            let again: Written = match query.ask(self.writer, calls).await? {
                Ok(again) => again,
                Err(detail) => return Ok(Err(dropped(item, DropReason::NoEvidence, detail))),
            };
            if !again.question.trim().is_empty() {
                again.question.trim().clone_into(&mut item.question);
            }
            answer = again.answer;
            anchored = anchor(&again.quotes, &passages, starts, slot.kind);
        }
        Ok(finished(item, answer, anchored).map(|item| Draft { item, passages }))
    }

    /// Looks for the answer to a user's question.
    pub(crate) async fn answer(
        &self,
        number: usize,
        question: &str,
        calls: &mut Vec<Call>,
    ) -> Result<Result<Draft, Box<Dropped>>, GenerateError> {
        let item = Item {
            id: format!("q{number:04}"),
            question: question.to_owned(),
            answer: None,
            kind: Kind::Logged,
            asker: None,
            relevant: Vec::new(),
            evidence: Vec::new(),
        };
        let passages = match found(self.searcher.search(question, FOUND).await)? {
            Ok(passages) => passages,
            Err(detail) => return Ok(Err(unusable(item, detail))),
        };
        let mut query = Query {
            prompt: &self.prompts.answer,
            repair: &self.prompts.repair,
            values: json!({"question": question, "passages": numbered(&passages)}),
            texts: texts(&passages).chain([question]).collect(),
            form: ANSWER,
            repeat: 1,
            refused: None,
        };
        let mut answered: Answered = match query.ask(self.writer, calls).await? {
            Ok(answered) => answered,
            Err(detail) => return Ok(Err(unusable(item, detail))),
        };
        let is_answer = |it: &Answered| it.answer.as_ref().is_some_and(|it| !it.trim().is_empty());
        if is_answer(&answered)
            && let Err(complaint) = anchor(&answered.quotes, &passages, None, Kind::Logged)
        {
            let reply = serde_json::to_string(&answered).unwrap_or_default();
            query.refused = Some((reply, complaint));
            answered = match query.ask(self.writer, calls).await? {
                Ok(answered) => answered,
                Err(detail) => return Ok(Err(dropped(item, DropReason::NoEvidence, detail))),
            };
        }
        if !is_answer(&answered) {
            return Ok(Ok(Draft { item, passages }));
        }
        let anchored = anchor(&answered.quotes, &passages, None, Kind::Logged);
        Ok(finished(item, answered.answer, anchored).map(|item| Draft { item, passages }))
    }

    fn query<'q>(&'q self, slot: &Slot, passages: &'q [Passage]) -> Query<'q> {
        let values = json!({
            "kind": slot.kind.name(),
            "asker": slot.asker,
            "passages": numbered(passages),
        });
        Query {
            prompt: &self.prompts.write,
            repair: &self.prompts.repair,
            values,
            texts: texts(passages).collect(),
            form: if slot.kind == Kind::Unanswerable {
                NEAR_MISS
            } else {
                QUESTION
            },
            repeat: slot.passage.round,
            refused: None,
        }
    }

    /// A passage of a different document on the topic of `passage`: two that are drawn at random have nothing to compare.
    async fn neighbour(&self, passage: &Passage) -> Result<Result<Passage, String>, GenerateError> {
        let words = passage.text.split_whitespace().take(40);
        let words = words.collect::<Vec<_>>().join(" ");
        let found = found(self.searcher.search(&words, FOUND).await)?;
        Ok(found.and_then(|found| {
            let mut others = found.into_iter();
            others
                .find(|it| it.document != passage.document)
                .ok_or_else(|| "the search finds no second document to compare with".to_owned())
        }))
    }
}

/// The passages of a search.
///
/// # Errors
///
/// The outer error ends the generation. The inner one is a reranker's that only this search has.
pub(crate) fn found(
    searched: Result<evals_rag::Retrieved, SearchError>,
) -> Result<Result<Vec<Passage>, String>, GenerateError> {
    match searched {
        Ok(retrieved) => Ok(Ok(retrieved.passages)),
        Err(error)
            if error
                .reranking()
                .is_some_and(|it| it.failure == evals_models::Failure::Content) =>
        {
            Ok(Err(chain(&error)))
        }
        Err(error) => Err(error.into()),
    }
}

fn passage(document: &Document, slot: &Slot) -> Passage {
    Passage {
        document: document.uri.clone(),
        title: document.title.clone(),
        ordinal: 0,
        text: document.text[slot.passage.range.clone()].to_owned(),
        score: 0.0,
    }
}

/// The spans of `quotes` in the passages they come from. The first passage may be from a whole document: its text, and the byte at which
/// the passage starts there.
///
/// # Errors
///
/// A complaint about what is missing.
fn anchor(
    quotes: &[String],
    passages: &[Passage],
    whole: Option<(&str, usize)>,
    kind: Kind,
) -> Result<Vec<EvidenceSpan>, String> {
    let texts: Vec<FoldedText<'_>> = passages
        .iter()
        .map(|it| FoldedText::new(&it.text))
        .collect();
    let mut spans: Vec<EvidenceSpan> = Vec::new();
    let mut missing: Vec<&str> = Vec::new();
    for quote in quotes.iter().filter(|quote| !quote.trim().is_empty()) {
        let places = passages.iter().zip(&texts).enumerate();
        let mut places = places.filter_map(|(number, (passage, text))| {
            let range = text.find(quote).into_iter().next()?;
            let start = whole.filter(|_| number == 0).map(|(document, start)| {
                let before = &document[..start + range.start];
                before.chars().count()
            });
            let quote = passage.text[range].to_owned();
            Some(EvidenceSpan {
                document: passage.document.clone(),
                start,
                end: start.map(|start| start + quote.chars().count()),
                quote,
            })
        });
        match places.next() {
            Some(span) if spans.contains(&span) => {}
            Some(span) => spans.push(span),
            None => missing.push(quote),
        }
    }
    if !missing.is_empty() {
        let missing = missing.join("`, `");
        return Err(format!(
            "no passage has these words, letter by letter: `{missing}`"
        ));
    }
    let is_quoted = |it: &Passage| spans.iter().any(|span| span.document == it.document);
    if spans.is_empty() {
        Err("`quotes` is empty".to_owned())
    } else if kind == Kind::Comparison && !passages.iter().all(is_quoted) {
        Err("a quote from each passage is needed".to_owned())
    } else {
        Ok(spans)
    }
}

/// Gives a question its answer and evidence.
fn finished(
    mut item: Item,
    answer: Option<String>,
    anchored: Result<Vec<EvidenceSpan>, String>,
) -> Result<Item, Box<Dropped>> {
    let answer = answer.unwrap_or_default().trim().to_owned();
    if answer.is_empty() {
        return Err(unusable(item, "the model gave no answer".to_owned()));
    }
    item.answer = Some(answer);
    match anchored {
        Err(detail) => Err(dropped(item, DropReason::NoEvidence, detail)),
        Ok(spans) => {
            for span in &spans {
                if !item.relevant.contains(&span.document) {
                    item.relevant.push(span.document.clone());
                }
            }
            item.evidence = spans;
            Ok(item)
        }
    }
}

pub(crate) fn dropped(item: Item, reason: DropReason, detail: String) -> Box<Dropped> {
    Box::new(Dropped {
        reason,
        detail,
        item,
    })
}

fn unusable(item: Item, detail: String) -> Box<Dropped> {
    dropped(item, DropReason::Unusable, detail)
}
