//! A mapping from a reply's JSON to a [`Reply`].

use std::time::Duration;

use evals_messages::visible;
use serde_json::{Map, Value, json};

use super::chat_completion::{self, WrittenCompletion};
use super::path::{Path, PathValues, Paths};
use super::{MappingError, fields, json_text, kind, levels, steps};
use crate::settings::{ResponseSettings, SettingsProblem};
use crate::{Reply, ReplyDocument};

/// How a reply is read.
///
/// Without settings it is `{"answer", "documents", …}`, a lone text, number or boolean, or a chat completion of OpenAI's protocol. With
/// settings it is read by their paths alone.
#[derive(Clone, Debug)]
pub struct Mapping {
    paths: Paths,
    is_configured: bool,
}

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

impl Mapping {
    /// The mapping of these settings.
    ///
    /// # Errors
    ///
    /// A setting is not a JSONPath.
    pub fn new(settings: &ResponseSettings) -> Result<Self, SettingsProblem> {
        if *settings == ResponseSettings::default() {
            return Ok(Self {
                paths: Paths::own(),
                is_configured: false,
            });
        }
        Ok(Self {
            paths: Paths::configured(settings)?,
            is_configured: true,
        })
    }

    /// Parses the text of a reply. `NaN` and `Infinity`, which Python writes and JSON does not have, become texts.
    pub fn parse(text: &str) -> Result<Value, MappingError> {
        json_text::parse(text)
    }

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// The reply is nested more than 100 levels deep, a field has the wrong type, or the reply has neither an answer nor documents, and
    /// neither a refusal nor tool calls nor spans. An answer that is there and `null` is [`Value::Null`], because a system may return nothing.
    pub fn read(&self, reply: &Value) -> Result<Reply, MappingError> {
        levels::check(reply)?;
        let read = if self.is_configured {
            self.fields(reply)?
        } else {
            match reply {
                Value::String(_) | Value::Number(_) | Value::Bool(_) => Reply {
                    answer: Some(reply.clone()),
                    ..Reply::default()
                },
                Value::Object(_) => match chat_completion::read(reply) {
                    Some(completion) => completion?,
                    None => self.fields(reply)?,
                },
                Value::Null | Value::Array(_) => {
                    let problem = format!(
                        "the reply is {}, not an object with `answer` or `documents`",
                        kind(reply)
                    );
                    return Err(MappingError::new(problem, reply));
                }
            }
        };
        if read.answer.is_some()
            || read.documents.is_some()
            || read.refused == Some(true)
            || read.tool_calls.is_some()
            || read.spans.is_some()
        {
            return Ok(read);
        }
        Err(self.empty(reply))
    }

    /// Reads what the events of a stream brought: their objects merged, and their texts joined as the answer.
    pub(super) fn read_merged(
        &self,
        mut merged: Map<String, Value>,
        written: WrittenCompletion,
    ) -> Result<Reply, MappingError> {
        if written.is_nothing() {
            return self.read(&Value::Object(merged));
        }
        // The merged pieces without `choices` are not a completion.
        let choices = merged.remove("choices");
        let merged = Value::Object(merged);
        levels::check(&merged)?;
        let reply = self.fields(&merged)?;
        let read = written.into_reply(reply);
        read.map_err(|problem| MappingError::new(problem, &json!({"choices": choices})))
    }

    /// The id of the case that a reply is for, if it names one.
    pub fn id(&self, reply: &Value) -> Option<String> {
        if !self.is_configured && reply.get("choices").is_some() {
            // The id of a chat completion is its own.
            return None;
        }
        match self.paths.get("id")?.find(reply) {
            PathValues::One(id) => fields::word("", id).ok(),
            PathValues::Missing | PathValues::Many(_) => None,
        }
    }

    /// Refuses a reply that is for another case than the one that was `asked`.
    pub fn check_id(&self, reply: &Value, asked: &str) -> Result<(), MappingError> {
        match self.id(reply) {
            Some(id) if id != asked => {
                let advice = if self.is_configured {
                    ""
                } else {
                    " (if its `id` means something else, name the reply's fields in `response`)"
                };
                let problem = format!("the reply is for `{id}`, and `{asked}` was asked{advice}");
                Err(MappingError::new(problem, reply))
            }
            _ => Ok(()),
        }
    }

    fn fields(&self, reply: &Value) -> Result<Reply, MappingError> {
        if let Some(PathValues::One(error)) = self.paths.get("error").map(|path| path.find(reply))
            && let Some(message) = fields::error(error)
        {
            let message = visible::single_line(&message);
            let problem = format!("the target reports an error: {message}");
            return Err(MappingError::new(problem, reply).reported());
        }
        let paths = &self.paths;
        let read = || -> Result<Reply, String> {
            let answer = match answer(paths.get("answer"), reply)? {
                None => answer(paths.get("output"), reply)?,
                answer => answer,
            };
            let seconds = one(paths.get("latency_seconds"), reply, |place, value| {
                fields::duration(place, value, SECOND)
            })?;
            let milliseconds = one(paths.get("latency_ms"), reply, |place, value| {
                fields::duration(place, value, MILLISECOND)
            })?;
            let usage = one(paths.get("usage"), reply, fields::usage)?.flatten();
            let input_tokens = one(paths.get("usage.input_tokens"), reply, fields::count)?;
            let output_tokens = one(paths.get("usage.output_tokens"), reply, fields::count)?;
            let counted = input_tokens.zip(output_tokens);
            let counted = counted.map(|(input_tokens, output_tokens)| evals_models::Usage {
                input_tokens,
                output_tokens,
                estimated: false,
            });
            Ok(Reply {
                answer,
                documents: self.documents(reply)?,
                citations: list(paths.get("citations"), reply, |place, ids| {
                    let ids = ids.iter().enumerate();
                    ids.map(|(index, id)| fields::word(&fields::element(place, index), id))
                        .collect()
                })?,
                refused: one(paths.get("refused"), reply, fields::boolean)?,
                usage: usage.or(counted),
                model: one(paths.get("model"), reply, fields::text)?,
                tool_calls: list(paths.get("tool_calls"), reply, fields::tool_calls)?,
                spans: one(paths.get("spans"), reply, steps::spans)?,
                attributes: one(paths.get("attributes"), reply, |place, value| {
                    fields::object(place, value).cloned()
                })?
                .unwrap_or_default(),
                metrics: one(paths.get("metrics"), reply, fields::metrics)?.unwrap_or_default(),
                version: one(paths.get("version"), reply, fields::word)?,
                process: None,
                timings: Vec::new(),
                reported: seconds.or(milliseconds),
            })
        };
        read().map_err(|problem| MappingError::new(problem, reply))
    }

    fn documents(&self, reply: &Value) -> Result<Option<Vec<ReplyDocument>>, String> {
        list(self.paths.get("documents"), reply, |place, documents| {
            let documents = documents.iter().enumerate();
            documents
                .map(|(index, document)| self.document(&fields::element(place, index), document))
                .collect()
        })
    }

    fn document(&self, place: &str, document: &Value) -> Result<ReplyDocument, String> {
        let paths = &self.paths;
        let inside = |error: String| format!("{place}: {error}");
        if matches!(document, Value::String(_) | Value::Number(_)) && paths.document_may_be_an_id {
            return Ok(ReplyDocument {
                id: Some(fields::word(place, document)?),
                ..ReplyDocument::default()
            });
        }
        let read = ReplyDocument {
            id: one(paths.get("document_id"), document, fields::word).map_err(inside)?,
            score: one(paths.get("document_score"), document, fields::number).map_err(inside)?,
            title: one(paths.get("document_title"), document, fields::text).map_err(inside)?,
            text: one(paths.get("document_text"), document, fields::text).map_err(inside)?,
        };
        if read.id.is_none() && read.text.is_none() {
            let place_of = |key| paths.get(key).map_or("", |path| path.place.as_str());
            let (id, text) = (place_of("document_id"), place_of("document_text"));
            return Err(format!(
                "{place} has neither an id ({id}) nor a text ({text})"
            ));
        }
        Ok(read)
    }

    /// The error of a reply with neither an answer nor documents.
    fn empty(&self, reply: &Value) -> MappingError {
        let problem = if self.is_configured {
            let paths = ["answer", "documents"].map(|key| self.paths.get(key));
            let tried = paths.into_iter().flatten().map(|path| path.place.as_str());
            let tried: Vec<&str> = tried.collect();
            match tried.as_slice() {
                [] => "`response` names neither `answer` nor `documents`".to_owned(),
                tried => format!("the reply has nothing at {}", tried.join(" and ")),
            }
        } else {
            "the reply has neither `answer` nor `documents`; name its fields in `response`, such as \
             `answer: $.output.text`, or `answer: $` for the whole reply"
                .to_owned()
        };
        MappingError::new(problem, reply)
    }
}

/// An answer, which may be null.
fn answer(path: Option<&Path>, reply: &Value) -> Result<Option<Value>, String> {
    let answer = one(path, reply, |_, value| Ok(value.clone()))?;
    let is_null = || path.is_some_and(|path| path.is_null(reply));
    Ok(answer.or_else(|| is_null().then_some(Value::Null)))
}

/// The one value of a field.
fn one<T>(
    path: Option<&Path>,
    reply: &Value,
    read: impl Fn(&str, &Value) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let Some(path) = path else { return Ok(None) };
    match path.find(reply) {
        PathValues::Missing => Ok(None),
        PathValues::One(value) => read(&path.place, value).map(Some),
        PathValues::Many(values) => match values.as_slice() {
            [] | [Value::Null] => Ok(None),
            [value] => read(&path.place, value).map(Some),
            values => Err(format!(
                "{} matches {} values, and one is needed",
                path.place,
                values.len()
            )),
        },
    }
}

/// The values of a field that is a list, or of a path that matches each element of one.
fn list<T>(
    path: Option<&Path>,
    reply: &Value,
    read: impl Fn(&str, &[&Value]) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let Some(path) = path else { return Ok(None) };
    let values = match path.find(reply) {
        PathValues::Missing => return Ok(None),
        PathValues::One(Value::Array(values)) => values.iter().collect(),
        PathValues::One(other) => {
            return Err(format!("{} is {}, not a list", path.place, kind(other)));
        }
        PathValues::Many(values) => values,
    };
    read(&path.place, &values).map(Some)
}
