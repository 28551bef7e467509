//! Asks a model for a JSON object about texts.

use evals_messages::chain;
use evals_models::{ChatModel, ChatRequest, Failure, Message, ReplySchema};
use evals_rag::judging::{Inquiry, JudgeFailure, Shown, Wanted, parse_object};
use evals_rag::{Passage, Prompt, PromptError};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{DropReason, GenerateError, Generator};

/// Why a question is not kept.
pub(crate) enum Stop {
    /// It has a fault, and the others go on.
    Drop(DropReason, String),
    /// The model did not reply in the form that it was asked for.
    Unreadable {
        /// The beginning of its last reply.
        reply: String,
        source: Box<JudgeFailure>,
    },
    /// Every further question would fail. So does one that fails for a while: were it dropped, a repeated command would write another set.
    End(GenerateError),
}

impl From<JudgeFailure> for Stop {
    fn from(failure: JudgeFailure) -> Self {
        match &failure {
            JudgeFailure::Unreadable { reply, .. } => Self::Unreadable {
                reply: reply.clone(),
                source: Box::new(failure),
            },
            _ if failure.failure() == Failure::Content => {
                Self::Drop(DropReason::Unusable, chain(&failure))
            }
            _ => Self::End(failure.into()),
        }
    }
}

/// What a model is asked for, which is a function of the passages and the seed alone: a repeated command finds every stored reply.
pub(crate) struct Query<'a> {
    prompt: &'a Prompt,
    repair: &'a Prompt,
    /// The values of the prompt, apart from `nonce` and `shape`.
    values: Value,
    form: Form,
    /// The repetition of the same request, from 1.
    pub(crate) repeat: u32,
    /// A reply that could not be used, and why.
    pub(crate) refused: Option<(String, String)>,
}

/// The form of a reply.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The members in words.
    pub(crate) wanted: &'static str,
    /// The members with their schemas, as JSON.
    pub(crate) members: &'static str,
    /// The object as the prompt shows it, with `NONCE` for the nonce.
    pub(crate) shape: &'static str,
}

impl Generator<'_> {
    /// A request with a prompt, as its first repetition.
    pub(crate) fn query<'q>(&'q self, prompt: &'q Prompt, form: Form, values: Value) -> Query<'q> {
        Query {
            prompt,
            repair: &self.prompts.repair,
            values,
            form,
            repeat: 1,
            refused: None,
        }
    }
}

impl Query<'_> {
    /// Asks `model`. A reply of another form is sent back once.
    pub(crate) async fn ask<T: Wanted + DeserializeOwned + 'static>(
        &self,
        model: &dyn ChatModel,
    ) -> Result<T, Stop> {
        let mut texts = Vec::new();
        collect_texts(&self.values, &mut texts);
        let shown = Shown::new(&texts);
        let shape = self.form.shape.replace("NONCE", shown.nonce());
        let inquiry = Inquiry {
            request: self.request(&shown, &shape).map_err(JudgeFailure::from)?,
            shown: &shown,
            parse: &parse_object::<T>,
            wanted: self.form.wanted,
            shape,
            repair: self.repair.clone(),
        };
        let asked = inquiry.ask(model).await;
        let (reply, _) = asked.map_err(|error| error.failure)?;
        Ok(reply)
    }

    fn request(&self, shown: &Shown, shape: &str) -> Result<ChatRequest, PromptError> {
        let mut values = self.values.clone();
        values["nonce"] = shown.nonce().into();
        values["shape"] = shape.into();
        let members = serde_json::from_str(self.form.members).expect("the members are JSON");
        let schema = ReplySchema::of_object("reply", &members);
        let mut request = ChatRequest::asking(self.prompt.fill_with(&values)?, schema);
        request.repeat = self.repeat;
        if let Some((reply, complaint)) = &self.refused {
            values["complaint"] = complaint.as_str().into();
            let message = Message::user(self.repair.fill_with(&values)?);
            request
                .messages
                .extend([Message::assistant(reply), message]);
        }
        Ok(request)
    }
}

/// The texts that a prompt shows.
fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|it| collect_texts(it, texts)),
        Value::Object(values) => values.values().for_each(|it| collect_texts(it, texts)),
        _ => {}
    }
}

/// The most bytes of a passage that a model is shown: chunks may be whole documents.
const LONGEST: usize = 8_000;

/// The start of a long text.
pub(crate) fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// Passages as values of a prompt, numbered from 1.
pub(crate) fn numbered(passages: &[Passage]) -> Value {
    let numbered = passages.iter().zip(1..).map(|(passage, number)| {
        json!({"number": number, "title": passage.title, "text": shortened(&passage.text)})
    });
    Value::Array(numbered.collect())
}
