//! Asks a model for a JSON object about texts.

use evals_models::{ChatModel, ChatRequest, Failure, Message, ReplySchema};
use evals_rag::judging::{Inquiry, JudgeFailure, Shown, Wanted, parse_object};
use evals_rag::{Call, Passage, Prompt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::generator::GenerateError;

/// What a model is asked for, which is a function of the passages and the seed alone: a repeated command finds every stored reply.
pub(crate) struct Query<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) repair: &'a Prompt,
    /// The values of the prompt, apart from `nonce` and `shape`.
    pub(crate) values: Value,
    /// The texts among the values.
    pub(crate) texts: Vec<&'a str>,
    pub(crate) form: Form,
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
    /// The members with their schemas.
    pub(crate) members: fn() -> Value,
    /// The object as the prompt shows it, with `NONCE` for the nonce.
    pub(crate) shape: &'static str,
}

impl Query<'_> {
    /// Asks `model` and adds the calls to `calls`. A reply of another form is sent back once.
    ///
    /// # Errors
    ///
    /// The outer error is one that every further call would also meet. The inner one says why this reply cannot be used.
    pub(crate) async fn ask<T: Wanted + DeserializeOwned + 'static>(
        &self,
        model: &dyn ChatModel,
        calls: &mut Vec<Call>,
    ) -> Result<Result<T, String>, GenerateError> {
        let shown = Shown::new(&self.texts);
        let shape = self.form.shape.replace("NONCE", shown.nonce());
        let inquiry = Inquiry {
            request: self.request(&shown, &shape).map_err(JudgeFailure::from)?,
            shown: &shown,
            parse: &parse_object::<T>,
            wanted: self.form.wanted,
            shape,
            repair: self.repair.clone(),
        };
        match inquiry.ask(model).await {
            Ok((reply, made)) => {
                calls.extend(made);
                Ok(Ok(reply))
            }
            Err(error) => {
                calls.extend(error.calls);
                unusable(error.failure).map(Err)
            }
        }
    }

    fn request(&self, shown: &Shown, shape: &str) -> Result<ChatRequest, evals_rag::PromptError> {
        let mut values = self.values.clone();
        values["nonce"] = shown.nonce().into();
        values["shape"] = shape.into();
        let schema = ReplySchema::of_object("reply", &(self.form.members)());
        let mut request = ChatRequest::asking(self.prompt.fill_with(&values)?, schema);
        request.repeat = self.repeat;
        if let Some((reply, complaint)) = &self.refused {
            let values = json!({"complaint": complaint, "shape": shape, "nonce": shown.nonce()});
            let message = self.repair.fill_with(&values)?;
            request
                .messages
                .extend([Message::assistant(reply), Message::user(message)]);
        }
        Ok(request)
    }
}

/// Why a reply cannot be used, in words.
///
/// # Errors
///
/// Further calls would also fail. A failure that passes counts as one of them: were the question dropped in its place, a repeated command
/// would write another set.
pub(crate) fn unusable(failure: JudgeFailure) -> Result<String, GenerateError> {
    if failure.failure() == Failure::Content {
        Ok(chain(&failure))
    } else {
        Err(failure.into())
    }
}

/// The message of an error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
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

/// The texts of passages that a prompt shows.
pub(crate) fn texts(passages: &[Passage]) -> impl Iterator<Item = &str> {
    let texts = passages.iter();
    texts.flat_map(|it| [it.title.as_deref().unwrap_or_default(), shortened(&it.text)])
}
