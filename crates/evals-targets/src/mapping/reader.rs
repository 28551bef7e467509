//! A mapping from a reply's JSON to a [`Reply`].

use std::time::Duration;

use evals_messages::visible;
use serde_json::{Map, Value};

use super::error::{MappingError, kind};
use super::path::{Found, Path};
use super::{chat_completion, fields, json_text};
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

/// The path of each field that is read.
#[derive(Clone, Debug, Default)]
struct Paths {
    id: Option<Path>,
    error: Option<Path>,
    answer: Option<Path>,
    documents: Option<Path>,
    document_id: Option<Path>,
    document_score: Option<Path>,
    document_title: Option<Path>,
    document_text: Option<Path>,
    citations: Option<Path>,
    refused: Option<Path>,
    usage: Option<Path>,
    input_tokens: Option<Path>,
    output_tokens: Option<Path>,
    model: Option<Path>,
    latency_seconds: Option<Path>,
    latency_ms: Option<Path>,
    version: Option<Path>,
    tool_calls: Option<Path>,
    spans: Option<Path>,
    attributes: Option<Path>,
    metrics: Option<Path>,
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

    /// Reads the text of a reply.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or the JSON cannot be read as [`read`](Self::read) says.
    pub fn read_text(&self, text: &str) -> Result<Reply, MappingError> {
        self.read(&Self::parse(text)?)
    }

    /// Parses the text of a reply. `NaN` and `Infinity`, which Python writes and JSON does not have, become texts.
    pub fn parse(text: &str) -> Result<Value, MappingError> {
        json_text::parse(text)
    }

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// A field has the wrong type, or the reply has neither an answer nor documents, and neither a refusal nor tool calls.
    pub fn read(&self, reply: &Value) -> Result<Reply, MappingError> {
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
        {
            return Ok(read);
        }
        Err(self.empty(reply))
    }

    /// Reads what the events of a stream brought: their objects merged, and their texts joined as the answer.
    pub(super) fn read_merged(
        &self,
        mut merged: Map<String, Value>,
        text: Option<String>,
    ) -> Result<Reply, MappingError> {
        let Some(text) = text else {
            return self.read(&Value::Object(merged));
        };
        // What is left of the pieces is no completion.
        merged.remove("choices");
        let mut reply = self.fields(&Value::Object(merged))?;
        reply.answer = Some(Value::String(text));
        Ok(reply)
    }

    /// The id of the case that a reply is for, if it names one.
    pub fn id(&self, reply: &Value) -> Option<String> {
        if !self.is_configured && reply.get("choices").is_some() {
            // The id of a chat completion is its own.
            return None;
        }
        match self.paths.id.as_ref()?.find(reply) {
            Found::One(id) => fields::word("", id).ok(),
            Found::Missing | Found::Many(_) => None,
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
        if let Some(Found::One(error)) = self.paths.error.as_ref().map(|path| path.find(reply)) {
            let message = match error {
                Value::String(message) => visible::single_line(message),
                other => other.to_string(),
            };
            let problem = format!("the target reports an error: {message}");
            return Err(MappingError::new(problem, reply));
        }
        let paths = &self.paths;
        let read = || -> Result<Reply, String> {
            let answer = one(paths.answer.as_ref(), reply, |_, value| Ok(value.clone()))?;
            let seconds = one(paths.latency_seconds.as_ref(), reply, |place, value| {
                fields::duration(place, value, SECOND)
            })?;
            let milliseconds = one(paths.latency_ms.as_ref(), reply, |place, value| {
                fields::duration(place, value, MILLISECOND)
            })?;
            let usage = one(paths.usage.as_ref(), reply, fields::usage)?.flatten();
            let input_tokens = one(paths.input_tokens.as_ref(), reply, fields::count)?;
            let output_tokens = one(paths.output_tokens.as_ref(), reply, fields::count)?;
            let counted = input_tokens.zip(output_tokens);
            let counted = counted.map(|(input_tokens, output_tokens)| evals_models::Usage {
                input_tokens,
                output_tokens,
                estimated: false,
            });
            Ok(Reply {
                answer,
                documents: self.documents(reply)?,
                citations: list(paths.citations.as_ref(), reply, |place, ids| {
                    let ids = ids.iter().enumerate();
                    ids.map(|(index, id)| fields::word(&fields::element(place, index), id))
                        .collect()
                })?,
                refused: one(paths.refused.as_ref(), reply, fields::boolean)?,
                usage: usage.or(counted),
                model: one(paths.model.as_ref(), reply, fields::text)?,
                tool_calls: list(paths.tool_calls.as_ref(), reply, fields::tool_calls)?,
                spans: one(paths.spans.as_ref(), reply, fields::spans)?,
                attributes: one(paths.attributes.as_ref(), reply, |place, value| {
                    fields::object(place, value).cloned()
                })?
                .unwrap_or_default(),
                metrics: one(paths.metrics.as_ref(), reply, fields::metrics)?.unwrap_or_default(),
                version: one(paths.version.as_ref(), reply, fields::word)?,
                timings: Vec::new(),
                reported: seconds.or(milliseconds),
            })
        };
        read().map_err(|problem| MappingError::new(problem, reply))
    }

    fn documents(&self, reply: &Value) -> Result<Option<Vec<ReplyDocument>>, String> {
        list(self.paths.documents.as_ref(), reply, |place, documents| {
            let documents = documents.iter().enumerate();
            documents
                .map(|(index, document)| self.document(&fields::element(place, index), document))
                .collect()
        })
    }

    fn document(&self, place: &str, document: &Value) -> Result<ReplyDocument, String> {
        let paths = &self.paths;
        let inside = |error: String| format!("{place}: {error}");
        if matches!(document, Value::String(_) | Value::Number(_)) && paths.document_id.is_none() {
            return Ok(ReplyDocument {
                id: Some(fields::word(place, document)?),
                ..ReplyDocument::default()
            });
        }
        let own = |name: &str| Path::own(name, &format!("$.{name}"));
        let path =
            |configured: &Option<Path>, name: &str| configured.clone().unwrap_or_else(|| own(name));
        let id = path(&paths.document_id, "id");
        let score = path(&paths.document_score, "score");
        let title = path(&paths.document_title, "title");
        let text = path(&paths.document_text, "text");
        let read = ReplyDocument {
            id: one(Some(&id), document, fields::word).map_err(inside)?,
            score: one(Some(&score), document, fields::number).map_err(inside)?,
            title: one(Some(&title), document, fields::text).map_err(inside)?,
            text: one(Some(&text), document, fields::text).map_err(inside)?,
        };
        if read.id.is_none() && read.text.is_none() {
            let (id, text) = (&id.place, &text.place);
            return Err(format!(
                "{place} has neither an id ({id}) nor a text ({text})"
            ));
        }
        Ok(read)
    }

    /// The error of a reply with neither an answer nor documents.
    fn empty(&self, reply: &Value) -> MappingError {
        let problem = if self.is_configured {
            let paths = [&self.paths.answer, &self.paths.documents];
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

impl Paths {
    /// The paths of our own format.
    fn own() -> Self {
        let own = |name: &str| Some(Path::own(name, &format!("$.{name}")));
        Self {
            id: own("id"),
            error: own("error"),
            answer: own("answer"),
            documents: own("documents"),
            citations: own("citations"),
            refused: own("refused"),
            usage: own("usage"),
            model: own("model"),
            latency_seconds: own("latency_seconds"),
            latency_ms: own("latency_ms"),
            version: own("version"),
            tool_calls: own("tool_calls"),
            spans: own("spans"),
            attributes: own("attributes"),
            metrics: own("metrics"),
            ..Self::default()
        }
    }

    fn configured(settings: &ResponseSettings) -> Result<Self, SettingsProblem> {
        let path = |key: &str, text: &Option<String>| {
            let path = text.as_deref().map(|text| Path::configured(key, text));
            path.transpose()
        };
        let usage = &settings.usage;
        Ok(Self {
            id: path("id", &settings.id)?,
            error: path("error", &settings.error)?,
            answer: path("answer", &settings.answer)?,
            documents: path("documents", &settings.documents)?,
            document_id: path("document_id", &settings.document_id)?,
            document_score: path("document_score", &settings.document_score)?,
            document_title: path("document_title", &settings.document_title)?,
            document_text: path("document_text", &settings.document_text)?,
            citations: path("citations", &settings.citations)?,
            refused: path("refused", &settings.refused)?,
            usage: None,
            input_tokens: path("usage.input_tokens", &usage.input_tokens)?,
            output_tokens: path("usage.output_tokens", &usage.output_tokens)?,
            model: path("model", &settings.model)?,
            latency_seconds: path("latency_seconds", &settings.latency_seconds)?,
            latency_ms: path("latency_ms", &settings.latency_ms)?,
            version: path("version", &settings.version)?,
            tool_calls: path("tool_calls", &settings.tool_calls)?,
            spans: None,
            attributes: path("attributes", &settings.attributes)?,
            metrics: path("metrics", &settings.metrics)?,
        })
    }
}

/// The one value of a field.
fn one<T>(
    path: Option<&Path>,
    reply: &Value,
    read: impl Fn(&str, &Value) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let Some(path) = path else { return Ok(None) };
    match path.find(reply) {
        Found::Missing => Ok(None),
        Found::One(value) => read(&path.place, value).map(Some),
        Found::Many(values) => match values.as_slice() {
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
        Found::Missing => return Ok(None),
        Found::One(Value::Array(values)) => values.iter().collect(),
        Found::One(other) => return Err(format!("{} is {}, not a list", path.place, kind(other))),
        Found::Many(values) => values,
    };
    read(&path.place, &values).map(Some)
}

#[cfg(test)]
mod tests {
    use evals_models::Usage;
    use serde_json::json;

    use super::*;
    use crate::ToolCall;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "tests write the reply where it is read"
    )]
    fn own(reply: Value) -> Result<Reply, String> {
        let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
        mapping.read(&reply).map_err(|error| error.to_string())
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "tests write the reply where it is read"
    )]
    fn configured(settings: Value, reply: Value) -> Result<Reply, String> {
        let settings: ResponseSettings = serde_json::from_value(settings).unwrap();
        let mapping = Mapping::new(&settings).unwrap();
        mapping.read(&reply).map_err(|error| error.to_string())
    }

    #[test]
    fn every_field_of_our_own_format_is_read() {
        let reply = own(json!({
            "id": "q1", "answer": "Paris",
            "documents": [{"id": "a", "score": 2.5, "title": "T", "text": "x", "more": 1}, "b", 7, {"text": "only text"}],
            "citations": ["a", 7], "refused": false, "usage": {"input_tokens": 3, "output_tokens": 4}, "model": "m",
            "latency_ms": 250, "version": 2, "tool_calls": [{"name": "search", "arguments": {"q": "x"}}],
            "attributes": {"route": "fast"}, "metrics": {"hops": 2}, "spans": [{"name": "plan"}], "trace": "ignored",
        }))
        .unwrap();
        let documents = reply.documents.unwrap();
        let ids: Vec<_> = documents
            .iter()
            .map(|document| document.id.as_deref())
            .collect();
        assert_eq!(ids, [Some("a"), Some("b"), Some("7"), None]);
        assert_eq!(
            (documents[0].score, documents[0].title.as_deref()),
            (Some(2.5), Some("T"))
        );
        assert_eq!(documents[3].text.as_deref(), Some("only text"));
        assert_eq!(reply.answer, Some("Paris".into()));
        assert_eq!(reply.citations.unwrap(), ["a", "7"]);
        assert_eq!(reply.refused, Some(false));
        assert_eq!(
            reply.usage,
            Some(Usage {
                input_tokens: 3,
                output_tokens: 4,
                estimated: false
            })
        );
        assert_eq!(reply.reported, Some(Duration::from_millis(250)));
        assert_eq!(reply.version.as_deref(), Some("2"));
        assert_eq!(reply.tool_calls.unwrap()[0].arguments, json!({"q": "x"}));
        assert_eq!(reply.attributes["route"], "fast");
        assert_eq!(reply.metrics["hops"].to_bits(), 2.0_f64.to_bits());
        assert_eq!(reply.spans.unwrap().roots[0].name, "plan");
    }

    #[test]
    fn a_lone_value_is_an_answer() {
        for value in [json!("Paris"), json!(7), json!(true)] {
            assert_eq!(own(value.clone()).unwrap().answer, Some(value));
        }
    }

    #[test]
    fn a_chat_completion_is_read_with_its_usage_and_model() {
        let reply = own(json!({
            "id": "chatcmpl-1", "model": "gpt",
            "choices": [{"message": {"content": "Paris", "tool_calls": [
                {"id": "1", "function": {"name": "search", "arguments": "{\"q\": 1}"}},
                {"id": "2", "function": {"name": "search", "arguments": "{broken"}},
            ]}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        }))
        .unwrap();
        assert_eq!(reply.answer, Some("Paris".into()));
        assert_eq!(reply.model.as_deref(), Some("gpt"));
        assert_eq!(reply.usage.unwrap().input_tokens, 9);
        let call = |arguments| ToolCall {
            name: "search".to_owned(),
            arguments,
            failed: false,
        };
        assert_eq!(
            reply.tool_calls.unwrap(),
            [call(json!({"q": 1})), call(json!("{broken"))]
        );
        let refused =
            own(json!({"choices": [{"message": {"content": null, "refusal": "No."}}]})).unwrap();
        assert_eq!(
            (refused.refused, refused.answer),
            (Some(true), Some("No.".into()))
        );
        let parts = own(
            json!({"choices": [{"message": {"content": [{"type": "text", "text": "Pa"}, {"text": "ris"}]}}]}),
        );
        assert_eq!(parts.unwrap().answer, Some("Paris".into()));
    }

    #[test]
    fn paths_read_what_they_name_and_nothing_else() {
        let settings = json!({
            "answer": "$.out.text", "documents": "$.hits.hits[*]", "document_id": "$._id", "document_score": "$._score",
            "document_text": "$._source.body", "citations": "$.hits.hits[?@.cited]['_id']", "latency_ms": "$.took",
            "usage": {"input_tokens": "$.u.i", "output_tokens": "$.u.o"}, "refused": "$.declined",
        });
        let reply = configured(settings, json!({
            "out": {"text": "Paris"}, "took": 12, "u": {"i": 1, "o": 2}, "declined": false,
            "hits": {"hits": [{"_id": "a", "_score": 1, "_source": {"body": "x"}, "cited": true}, {"_id": "b"}]},
            "model": "not named",
        }))
        .unwrap();
        assert_eq!(reply.answer, Some("Paris".into()));
        let documents = reply.documents.unwrap();
        assert_eq!(
            (documents[0].id.as_deref(), documents[0].text.as_deref()),
            (Some("a"), Some("x"))
        );
        assert_eq!(documents[1].id.as_deref(), Some("b"));
        assert_eq!(reply.citations.unwrap(), ["a"]);
        assert_eq!(reply.reported, Some(Duration::from_millis(12)));
        assert_eq!(reply.usage.unwrap().output_tokens, 2);
        assert_eq!(reply.model, None);
    }

    #[test]
    fn no_document_found_is_not_the_same_as_no_documents() {
        let settings = json!({"documents": "$.hits[*]", "answer": "$.text"});
        let found = |reply| configured(settings.clone(), reply).unwrap().documents;
        assert_eq!(found(json!({"hits": []})), Some(Vec::new()));
        assert_eq!(found(json!({"text": "x"})), None);
        assert_eq!(
            own(json!({"documents": []})).unwrap().documents,
            Some(Vec::new())
        );
        assert_eq!(
            own(json!({"answer": "", "documents": null}))
                .unwrap()
                .documents,
            None
        );
    }

    #[test]
    fn the_whole_reply_can_be_the_answer() {
        let reply = json!({"label": "spam", "score": 1});
        let read = configured(json!({"answer": "$"}), reply.clone()).unwrap();
        assert_eq!(read.answer, Some(reply));
    }

    #[test]
    fn replies_of_another_shape_say_what_failed() {
        for (reply, start) in [
            (
                json!({}),
                "the reply has neither `answer` nor `documents`; name its fields in `response`",
            ),
            (
                json!({"response": "Paris"}),
                "the reply has neither `answer`",
            ),
            (
                json!([1, 2]),
                "the reply is a list, not an object with `answer` or `documents`; the reply begins with `[1,2]`",
            ),
            (json!(null), "the reply is null"),
            (json!({"answer": null}), "the reply has neither"),
            (
                json!({"documents": "a, b"}),
                "`documents` is a text, not a list",
            ),
            (
                json!({"documents": [["a"]]}),
                "element 0 of `documents` has neither an id (`id`) nor a text (`text`)",
            ),
            (
                json!({"documents": [{"id": "a"}, {"id": ["b"]}]}),
                "element 1 of `documents`: `id` is a list, not a text or a number",
            ),
            (
                json!({"documents": [{"id": "a", "score": "high"}]}),
                "element 0 of `documents`: `score` is a text, not a number",
            ),
            (
                json!({"documents": [{"title": "a"}]}),
                "element 0 of `documents` has neither an id",
            ),
            (
                json!({"answer": "x", "refused": "no"}),
                "`refused` is a text, not true or false",
            ),
            (
                json!({"answer": "x", "usage": {"input_tokens": -1}}),
                "`input_tokens` in `usage` is `-1`, not a whole number",
            ),
            (
                json!({"answer": "x", "metrics": {"m": "high"}}),
                "`m` in `metrics` is a text, not a number",
            ),
            (
                json!({"answer": "x", "tool_calls": [{}]}),
                "element 0 of `tool_calls` has no `name`",
            ),
            (
                json!({"answer": "x", "latency_ms": -3}),
                "`latency_ms` is -3, and a duration is not negative",
            ),
            (
                json!({"choices": [{"message": {"content": null}}]}),
                "the reply has neither",
            ),
        ] {
            let message = own(reply).unwrap_err();
            assert!(message.starts_with(start), "{message}");
        }
        for (settings, reply, start) in [
            (
                json!({"answer": "$.text", "documents": "$.hits[*]"}),
                json!({"txt": 1}),
                "the reply has nothing at `response.answer` (`$.text`) and `response.documents` (`$.hits[*]`); the reply begins with `{\"txt\":1}`",
            ),
            (
                json!({"answer": "$.all[*]"}),
                json!({"all": [1, 2]}),
                "`response.answer` (`$.all[*]`) matches 2 values, and one is needed",
            ),
            (
                json!({"documents": "$.hits"}),
                json!({"hits": {"a": 1}}),
                "`response.documents` (`$.hits`) is an object, not a list",
            ),
            (
                json!({"documents": "$.hits[*]", "document_id": "$._id"}),
                json!({"hits": [{"id": 1}]}),
                "element 0 of `response.documents` (`$.hits[*]`) has neither an id (`response.document_id` (`$._id`)) nor a text",
            ),
            (
                json!({"latency_ms": "$.ms"}),
                json!({"ms": 3}),
                "`response` names neither `answer` nor `documents`",
            ),
        ] {
            let message = configured(settings, reply).unwrap_err();
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn numbers_that_json_does_not_have_are_kept_for_metrics_alone() {
        let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
        let reply = mapping
            .read_text(r#"{"answer": "x", "metrics": {"a": NaN, "b": -Infinity, "c": null}}"#)
            .unwrap();
        assert!(reply.metrics["a"].is_nan());
        assert!(reply.metrics["b"].is_infinite());
        assert!(!reply.metrics.contains_key("c"));
        let error = mapping
            .read_text(r#"{"documents": [{"id": "a", "score": NaN}]}"#)
            .unwrap_err();
        assert!(
            error
                .problem
                .contains("`score` is NaN, not a finite number"),
            "{error}"
        );
    }

    #[test]
    fn a_reply_for_another_case_is_refused() {
        let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
        let check = |reply: Value| mapping.check_id(&reply, "7").map_err(|error| error.problem);
        assert_eq!(check(json!({"id": 7, "answer": "x"})), Ok(()));
        assert_eq!(check(json!({"answer": "x"})), Ok(()));
        assert_eq!(check(json!({"id": "chatcmpl-1", "choices": []})), Ok(()));
        let message = check(json!({"id": "8", "answer": "x"})).unwrap_err();
        assert!(
            message.starts_with("the reply is for `8`, and `7` was asked"),
            "{message}"
        );
    }

    #[test]
    fn a_long_answer_is_read_whole() {
        let text = "ä".repeat(1 << 19);
        assert_eq!(
            own(json!({"answer": text}))
                .unwrap()
                .answer
                .unwrap()
                .as_str()
                .unwrap()
                .len(),
            1 << 20
        );
    }
}
