//! A target that is a command.

use std::time::Instant;

use async_trait::async_trait;
use evals::{FailureClass, Timing};
use serde_json::{Map, Value};

use crate::process::{self, WorkerCommand, WorkerError, WorkerOptions, WorkerPool};
use crate::{Inputs, Reply, Request, Target, TargetError, TargetIdentity};

/// The fields that make an object a reply.
const FIELDS: [&str; 9] = [
    "answer",
    "documents",
    "citations",
    "refused",
    "usage",
    "tool_calls",
    "attributes",
    "metrics",
    "error",
];

/// A target that is a command, which reads requests as JSON Lines and writes replies.
///
/// A request is `{"id": …, "question": …}`, or `{"id": …, "inputs": …}` for a dataset file. The second repetition of a case has
/// the id `ID#2`. A reply has the fields of [`Reply`] beside its `id`, or `{"id": …, "error": MESSAGE}` to fail the case. A
/// process with one request may leave the `id` out.
#[derive(Debug)]
pub struct ExecTarget {
    identity: TargetIdentity,
    pool: WorkerPool,
}

impl ExecTarget {
    /// A target of this command. Give it as many processes as the run has concurrent cases, or fewer where a process can work on
    /// several requests.
    pub fn new(command: WorkerCommand, options: WorkerOptions) -> Self {
        Self {
            identity: TargetIdentity::new("exec", command.line()),
            pool: WorkerPool::new(command, options, is_reply),
        }
    }

    /// Sets the version of what is tested.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.identity.version = Some(version.into());
        self
    }
}

#[async_trait]
impl Target for ExecTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let started = Instant::now();
        let id = wire_id(request);
        let exchanged = self.pool.exchange(&id, &body(request)).await;
        let duration = started.elapsed();
        let mut reply = read(&exchanged.map_err(of_worker)?)?;
        reply.timings.push(Timing {
            stage: Reply::STAGE.to_owned(),
            duration,
            cached: false,
        });
        Ok(reply)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

fn of_worker(error: WorkerError) -> TargetError {
    TargetError::new(error.class(), error)
}

/// Repetitions differ in their ids, so that each has its own reply.
fn wire_id(request: &Request) -> String {
    let Request { id, repeat, .. } = request;
    if *repeat > 1 {
        format!("{id}#{repeat}")
    } else {
        id.clone()
    }
}

fn body(request: &Request) -> Map<String, Value> {
    let (name, value) = match &request.inputs {
        Inputs::Question(question) => ("question", Value::String(question.clone())),
        Inputs::Value(inputs) => ("inputs", inputs.clone()),
    };
    Map::from_iter([(name.to_owned(), value)])
}

/// Whether a line without an `id` can be a reply. A greeting such as `{"status": "ready"}` is none.
fn is_reply(line: &Value) -> bool {
    match line {
        Value::String(_) => true,
        Value::Object(fields) => FIELDS.iter().any(|field| fields.contains_key(*field)),
        _ => false,
    }
}

fn read(line: &Value) -> Result<Reply, TargetError> {
    let refused = |why: String| TargetError::new(FailureClass::Content, why);
    let shown = || process::shown(&line.to_string());
    let mut fields = match line {
        Value::String(_) => Map::from_iter([("answer".to_owned(), line.clone())]),
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    match fields.get("error") {
        None | Some(Value::Null) => {}
        Some(Value::String(message)) => return Err(refused(message.clone())),
        Some(other) => return Err(refused(other.to_string())),
    }
    if !is_reply(&Value::Object(fields.clone())) {
        return Err(refused(format!(
            "the reply has neither an `answer` nor `documents`: `{}`",
            shown()
        )));
    }
    for document in fields
        .get_mut("documents")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if document.is_string() {
            *document = serde_json::json!({"id": document.take()});
        }
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| refused(format!("the reply cannot be read ({error}): `{}`", shown())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn repetitions_have_ids_of_their_own() {
        let mut request = Request::question("q1", "Why?");
        assert_eq!(wire_id(&request), "q1");
        request.repeat = 2;
        assert_eq!(wire_id(&request), "q1#2");
        assert_eq!(Value::Object(body(&request)), json!({"question": "Why?"}));
        let inputs = Request::inputs("c", json!({"a": [1]}));
        assert_eq!(Value::Object(body(&inputs)), json!({"inputs": {"a": [1]}}));
    }

    #[test]
    fn a_reply_that_says_error_fails_the_case() {
        let error = read(&json!({"id": "q", "error": "the index is empty"})).unwrap_err();
        assert_eq!(error.to_string(), "the index is empty");
        assert_eq!(error.class(), FailureClass::Content);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_command_answers_a_question() {
        let line = r#"read -r line; echo "$line" >&2; echo '{"id": "q1", "answer": "42", "documents": ["d1", {"id": "d2"}]}'"#;
        let target = ExecTarget::new(WorkerCommand::new(line), WorkerOptions::default());
        let reply = target.ask(&Request::question("q1", "Why?")).await.unwrap();
        assert_eq!(reply.answer, Some(json!("42")));
        let documents = reply.documents.unwrap();
        let ids: Vec<_> = documents.iter().map(|it| it.id.as_deref()).collect();
        assert_eq!(ids, [Some("d1"), Some("d2")]);
        assert_eq!(reply.timings[0].stage, "target");
    }
}
