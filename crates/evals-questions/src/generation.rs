//! Writes questions with a model, each with its answer and the quotes that carry it.

use evals_messages::chain;
use evals_models::Failure;
use evals_rag::judging::Wanted;
use evals_rag::{EvidenceSpan, FoldedText, Passage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::query::{Form, Query, Stop, numbered, shortened};
use crate::{DropReason, Generator, Item, Kind};

/// A question on its way into the set.
pub(crate) struct Draft {
    pub(crate) item: Item,
    /// The passages that it is written from.
    pub(crate) passages: Vec<Passage>,
    /// The repetition of the same request, from 1.
    pub(crate) repeat: u32,
}

/// The question that a model wrote, unless a user asked it, and the answer that it found.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Reply {
    #[serde(default)]
    question: String,
    /// Required: an object without it is not a reply.
    #[serde(deserialize_with = "Option::deserialize")]
    answer: Option<String>,
    #[serde(default)]
    quotes: Vec<String>,
}

impl Wanted for Reply {
    const KEY: &'static str = "answer";

    fn complaint(&self) -> Option<String> {
        (self.question.len() > LONGEST).then(|| "the question is too long".to_owned())
    }
}

/// A longer question, in bytes, is a copy of something else.
const LONGEST: usize = 2_000;

const QUESTION: Form = Form {
    wanted: "a text `question`, a text `answer` and a list `quotes` of texts",
    members: r#"{"question": {"type": "string"}, "id": {"type": "string"}, "answer": {"type": "string"},
        "quotes": {"type": "array", "items": {"type": "string"}}}"#,
    shape: r#"{"question": "<question>", "id": "NONCE", "answer": "<answer>", "quotes": ["<first quote>", …]}"#,
};

const NEAR_MISS: Form = Form {
    wanted: "a text `near_miss`, a text `question` and an `answer` that is null",
    members: r#"{"near_miss": {"type": "string"}, "question": {"type": "string"}, "id": {"type": "string"}, "answer": {"type": "null"}}"#,
    shape: r#"{"near_miss": "<what the passage says, and what it leaves out>", "question": "<question>", "id": "NONCE", "answer": null}"#,
};

const ANSWER: Form = Form {
    wanted: "a text or null `answer` and a list `quotes` of texts",
    members: r#"{"id": {"type": "string"}, "answer": {"type": ["string", "null"]},
        "quotes": {"type": "array", "items": {"type": "string"}}}"#,
    shape: r#"{"id": "NONCE", "answer": "<answer, or null>", "quotes": ["<first quote>", …]}"#,
};

impl Generator<'_> {
    /// Writes the question of a draft about its passage, with its answer and evidence.
    pub(crate) async fn write(&self, draft: &mut Draft) -> Result<(), Stop> {
        let kind = draft.item.kind;
        if kind == Kind::Comparison {
            let second = self.neighbour(&draft.passages[0]).await?;
            draft.passages.push(second);
        }
        let form = if kind == Kind::Unanswerable {
            NEAR_MISS
        } else {
            QUESTION
        };
        let values =
            json!({"kind": kind, "asker": draft.item.asker, "passages": numbered(&draft.passages)});
        let mut query = self.query(&self.prompts.write, form, values);
        query.repeat = draft.repeat;
        self.fill(draft, query).await
    }

    /// Looks for the answer to a user's question.
    pub(crate) async fn find_answer(&self, draft: &mut Draft) -> Result<(), Stop> {
        draft.passages = self.found(&draft.item.question).await?;
        let values =
            json!({"question": draft.item.question, "passages": numbered(&draft.passages)});
        let query = self.query(&self.prompts.answer, ANSWER, values);
        self.fill(draft, query).await
    }

    /// Puts the model's reply into a draft. One whose quotes stand in no passage is sent back once.
    async fn fill(&self, draft: &mut Draft, mut query: Query<'_>) -> Result<(), Stop> {
        let reply: Reply = query.ask(self.writer).await?;
        let written = serde_json::to_string(&reply).unwrap_or_default();
        match self.take(draft, reply) {
            Err(Stop::Drop(DropReason::NoEvidence, complaint)) => {
                query.refused = Some((written, complaint));
                let again = query.ask(self.writer).await?;
                self.take(draft, again)
            }
            taken => taken,
        }
    }

    /// Takes over a reply, or drops the question.
    fn take(&self, draft: &mut Draft, reply: Reply) -> Result<(), Stop> {
        let (item, passages) = (&mut draft.item, &draft.passages);
        if item.kind != Kind::Logged {
            reply.question.trim().clone_into(&mut item.question);
        }
        if item.question.is_empty() {
            return Err(unusable("the model found nothing to ask about the passage"));
        }
        let answer = reply.answer.unwrap_or_default().trim().to_owned();
        if item.kind == Kind::Unanswerable || item.kind == Kind::Logged && answer.is_empty() {
            return Ok(());
        }
        if answer.is_empty() {
            return Err(unusable("the model gave no answer"));
        }
        let mut spans: Vec<EvidenceSpan> = Vec::new();
        for quote in reply.quotes.iter().filter(|quote| !quote.trim().is_empty()) {
            let span = passages.iter().find_map(|it| self.span(it, quote));
            let missing = || format!("no passage has these words, letter by letter: `{quote}`");
            let span = span.ok_or_else(|| no_evidence(&missing()))?;
            if !spans.contains(&span) {
                spans.push(span);
            }
        }
        let is_quoted = |it: &Passage| spans.iter().any(|span| span.document == it.document);
        if spans.is_empty() {
            return Err(no_evidence("`quotes` is empty"));
        }
        if item.kind == Kind::Comparison && !passages.iter().all(is_quoted) {
            return Err(no_evidence("a quote from each passage is needed"));
        }
        item.answer = answer;
        for span in &spans {
            if !item.relevant.contains(&span.document) {
                item.relevant.push(span.document.clone());
            }
        }
        item.evidence = spans;
        Ok(())
    }

    /// The span of a quote with its place in the document, of several the one in the passage; `None` if the passage does not have the quote.
    pub(crate) fn span(&self, passage: &Passage, quote: &str) -> Option<EvidenceSpan> {
        let text = shortened(&passage.text);
        let quoted = FoldedText::new(text).find(quote).into_iter().next()?;
        let mut span = EvidenceSpan {
            document: passage.document.clone(),
            quote: text[quoted.clone()].to_owned(),
            start: None,
            end: None,
        };
        let document = self.corpus.iter().find(|it| it.uri == span.document);
        let whole = document.map_or("", |it| it.text.as_str());
        let length = |text: &str| text.chars().count();
        // The text of a chunk may differ in white space.
        let near = whole
            .find(text)
            .map(|at| length(&whole[..at + quoted.start]));
        span.start = near;
        if let Some(place) = FoldedText::new(whole).anchor(&span) {
            let start = length(&whole[..place.start]);
            whole[place].clone_into(&mut span.quote);
            (span.start, span.end) = (Some(start), Some(start + length(&span.quote)));
        }
        Some(span)
    }

    /// A passage of a different document on the topic of `passage`: two that are drawn at random have nothing to compare.
    async fn neighbour(&self, passage: &Passage) -> Result<Passage, Stop> {
        let words: Vec<&str> = passage.text.split_whitespace().take(40).collect();
        let mut found = self.found(&words.join(" ")).await?.into_iter();
        let other = found.find(|it| it.document != passage.document);
        other.ok_or_else(|| unusable("the search finds no second document to compare with"))
    }

    /// The passages that a search finds. A reranker's fault with one search drops the question.
    pub(crate) async fn found(&self, text: &str) -> Result<Vec<Passage>, Stop> {
        match self.searcher.search(text, Self::PASSAGES).await {
            Ok(retrieved) => Ok(retrieved.passages),
            Err(error)
                if error
                    .reranking()
                    .is_some_and(|it| it.failure == Failure::Content) =>
            {
                Err(unusable(&chain(&error)))
            }
            Err(error) => Err(Stop::End(error.into())),
        }
    }
}

impl Draft {
    /// The draft of a question with this number.
    pub(crate) fn new(number: usize, question: &str, kind: Kind) -> Self {
        Self {
            item: Item::new(format!("q{number:04}"), question, kind),
            passages: Vec::new(),
            repeat: 1,
        }
    }
}

fn no_evidence(complaint: &str) -> Stop {
    Stop::Drop(DropReason::NoEvidence, complaint.to_owned())
}

pub(crate) fn unusable(detail: &str) -> Stop {
    Stop::Drop(DropReason::Unusable, detail.to_owned())
}
