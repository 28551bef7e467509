//! A target that is a command.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals::FailureClass;
use evals_messages::visible;
use serde_json::{Map, Value};

use crate::mapping;
use crate::process::{
    Protocol, RequestGate, TimedReply, WorkerCommand, WorkerError, WorkerOptions, WorkerPool,
    parse_json,
};
use crate::{
    Inputs, Mapping, Reply, Request, ResponseSettings, SettingsProblem, Target, TargetError,
    TargetIdentity, TargetSettings,
};

/// A target that is a command, which reads requests as JSON Lines and writes replies.
///
/// A request is `{"id": …, "question": …}`, with `conversation` and `messages` for a question of one, or `{"id": …, "inputs": …}` for a dataset file, with the `parameters` of the settings if there
/// are any. The second repetition of a case has
/// the id `ID#2`. A reply is what [`Mapping`] reads, with the `id` of its request, or `{"id": …, "error": MESSAGE}` to fail the
/// case. A process that has one request may leave the `id` out.
#[derive(Debug)]
pub struct ExecTarget {
    identity: TargetIdentity,
    mapping: Mapping,
    pool: WorkerPool,
    parameters: Arc<Map<String, Value>>,
}

/// The lines of a target's command.
#[derive(Debug)]
struct Replies(Mapping);

impl ExecTarget {
    /// A target of this command. Give it as many processes as the run has concurrent cases, or fewer and a `pipeline` where a
    /// process can work on several requests.
    ///
    /// # Errors
    ///
    /// A path in `response` is not a JSONPath.
    pub fn new(
        command: WorkerCommand,
        options: WorkerOptions,
        response: &ResponseSettings,
    ) -> Result<Self, SettingsProblem> {
        let mapping = Mapping::new(response)?;
        Ok(Self {
            identity: TargetIdentity::new("exec", command.line()),
            pool: WorkerPool::new(command, options, Replies(mapping.clone())),
            mapping,
            parameters: Arc::default(),
        })
    }

    /// The target of a section `target:`, for a run of this concurrency. Keys that are for other kinds of targets are ignored;
    /// [`TargetSettings::check`] refuses them.
    ///
    /// # Errors
    ///
    /// A path in `response` is not a JSONPath.
    pub fn of(
        command: WorkerCommand,
        settings: &TargetSettings,
        concurrency: NonZeroUsize,
    ) -> Result<Self, SettingsProblem> {
        let at_once = settings
            .max_concurrency
            .map_or(concurrency, |most| most.min(concurrency));
        // A second process would not know what was said to the first.
        let processes = if settings.session {
            NonZeroUsize::MIN
        } else {
            let processes = settings.processes;
            processes.map_or(at_once, |processes| processes.min(at_once))
        };
        let pipeline = at_once.get().div_ceil(processes.get());
        let defaults = WorkerOptions::default();
        let timeout = settings.timeout.map(Duration::try_from_secs_f64);
        let options = WorkerOptions {
            processes,
            pipeline: NonZeroUsize::new(pipeline).unwrap_or(NonZeroUsize::MIN),
            timeout: timeout.and_then(Result::ok).unwrap_or(defaults.timeout),
            ..defaults
        };
        let identity = TargetIdentity {
            version: settings.version.clone(),
            parameters: settings.parameters(),
            ..TargetIdentity::new("exec", command.line())
        };
        let mut target = Self::new(command, options, &settings.response)?;
        target.parameters = Arc::clone(&settings.parameters);
        Ok(target.identified(identity))
    }

    /// Sets what was tested, as reports name it, in place of the command line alone.
    #[must_use]
    pub fn identified(self, identity: TargetIdentity) -> Self {
        Self { identity, ..self }
    }

    /// The gate that requests to the command pass.
    pub fn gate(&self) -> &RequestGate {
        self.pool.gate()
    }

    fn read(&self, reply: &Value) -> Result<Reply, TargetError> {
        let refused = |why| Err(TargetError::new(FailureClass::Content, why));
        if let Some(message) = reply.get("error").and_then(mapping::error) {
            return refused(message);
        }
        let read = self.mapping.read(reply);
        read.or_else(|error| {
            let command = visible::line(self.pool.command().line());
            refused(format!("`{command}`: {error}"))
        })
    }
}

#[async_trait]
impl Target for ExecTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let (id, mut body) = (wire_id(request), body(request));
        if !self.parameters.is_empty() {
            body.insert("parameters".to_owned(), (*self.parameters).clone().into());
        }
        let session = request.conversation.as_ref().filter(|it| it.is_session);
        let only = session.and_then(|it| it.process.as_deref());
        let exchanged = self.pool.timed_exchange(&id, &body, only).await;
        let TimedReply {
            reply,
            process,
            starting,
            taken,
        } = exchanged.map_err(of_worker)?;
        let mut reply = Reply {
            process: session.map(|_| process),
            ..self.read(&reply)?
        };
        reply.timings.push(Reply::timing(Reply::STAGE, taken));
        if !starting.is_zero() {
            let timing = Reply::timing(Reply::START_STAGE, starting);
            reply.timings.push(timing);
        }
        Ok(reply)
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

impl Protocol for Replies {
    fn parse(&self, line: &[u8]) -> Result<Value, String> {
        parse_json(line).or_else(|problem| {
            // Python's `NaN` is no reason to lose the process.
            let text = std::str::from_utf8(line).ok();
            let read = text.and_then(|text| Mapping::parse(text).ok());
            read.ok_or(problem)
        })
    }

    fn id(&self, reply: &Value) -> Option<String> {
        self.0.id(reply)
    }

    fn is_reply(&self, line: &Value) -> bool {
        line.get("error").and_then(mapping::error).is_some() || self.0.read(line).is_ok()
    }

    fn expected(&self) -> &'static str {
        "an object such as `{\"id\": …, \"answer\": …}`"
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
    let mut body = Map::from_iter([(name.to_owned(), value)]);
    body.extend(request.spoken());
    body
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Conversation;

    fn target(line: &str, response: Value) -> ExecTarget {
        let response: ResponseSettings = serde_json::from_value(response).unwrap();
        let command = WorkerCommand::new(line);
        ExecTarget::new(command, WorkerOptions::default(), &response).unwrap()
    }

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
    fn settings_limit_the_processes() {
        let options = |settings: Value| {
            let settings: TargetSettings = serde_json::from_value(settings).unwrap();
            let concurrency = NonZeroUsize::new(8).unwrap();
            let target = ExecTarget::of(WorkerCommand::new("x"), &settings, concurrency).unwrap();
            let options = target.pool.options();
            (
                options.processes.get(),
                options.pipeline.get(),
                options.timeout.as_secs(),
            )
        };
        assert_eq!(options(json!("exec:x")), (8, 1, 300));
        assert_eq!(
            options(json!({"address": "exec:x", "processes": 1})),
            (1, 8, 300)
        );
        assert_eq!(
            options(json!({"address": "exec:x", "processes": 3})),
            (3, 3, 300)
        );
        assert_eq!(
            options(
                json!({"address": "exec:x", "processes": 9, "max_concurrency": 2, "timeout": 5})
            ),
            (2, 1, 5)
        );
    }

    #[test]
    fn a_reply_that_says_error_fails_the_case() {
        let target = target("true", json!({}));
        let error = target.read(&json!({"id": "q", "error": "the index is empty"}));
        let error = error.unwrap_err();
        assert_eq!(error.to_string(), "the index is empty");
        assert_eq!(error.class(), FailureClass::Content);
        assert!(target.read(&json!({"answer": "x", "error": null})).is_ok());
        let error = target.read(&json!({"id": "q"})).unwrap_err().to_string();
        assert!(
            error.starts_with("`true`: the reply has neither `answer` nor `documents`"),
            "{error}"
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_command_answers_a_question() {
        let reply = r#"{"id": "q1", "answer": "42", "documents": ["d1", {"id": "d2"}], "metrics": {"m": NaN}}"#;
        let target = target(&format!("read -r line; echo '{reply}'"), json!({}));
        let reply = target.ask(&Request::question("q1", "Why?")).await.unwrap();
        assert_eq!(reply.answer, Some(json!("42")));
        let documents = reply.documents.unwrap();
        let ids: Vec<_> = documents.iter().map(|it| it.id.as_deref()).collect();
        assert_eq!(ids, [Some("d1"), Some("d2")]);
        assert_eq!(reply.timings[0].stage, "target");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_session_that_its_process_took_along_is_not_asked_of_the_next_one() {
        let line = r#"while read -r line; do
            case "$line" in *crash*) exit 3;; esac
            echo '"yes"'
        done"#;
        let target = target(line, json!({}));
        let turn = |question: &str, process: Option<String>| Request {
            conversation: Some(Conversation {
                id: "c1".to_owned(),
                history: Vec::new(),
                is_session: true,
                process,
            }),
            ..Request::question(question, question)
        };
        let first = target.ask(&turn("one", None)).await.unwrap().process;
        let second = target.ask(&turn("two", first.clone())).await.unwrap();
        assert_eq!(second.process, first);
        let crash = target.ask(&turn("crash", first.clone())).await;
        assert_eq!(crash.unwrap_err().class(), FailureClass::Transient);
        for _ in 0..2 {
            let lost = target.ask(&turn("three", first.clone())).await.unwrap_err();
            let expected = "was started again in the middle of the conversation";
            assert!(lost.to_string().contains(expected), "{lost}");
            assert_eq!(lost.class(), FailureClass::Content);
            let other = target.ask(&turn("four", None)).await.unwrap().process;
            assert!(other.is_some() && other != first);
        }
        let alone = target.ask(&Request::question("five", "five")).await;
        assert_eq!(alone.unwrap().process, None);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_start_of_a_command_is_not_the_time_of_its_first_request() {
        let line = r#"sleep 1; echo '{"ready": true}'; while read -r line; do echo '"yes"'; done"#;
        let target = target(line, json!({}));
        let request = Request::question("q1", "Why?");
        let first = target.ask(&request).await.unwrap().timings;
        assert_eq!(first[0].stage, "target");
        assert!(first[0].duration < first[1].duration, "{first:?}");
        assert_eq!(first[1].stage, "target (start)");
        assert!(first[1].duration > Duration::from_millis(900), "{first:?}");
        let second = target.ask(&request).await.unwrap().timings;
        assert_eq!(second.len(), 1, "{second:?}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_reply_of_another_shape_is_read_by_paths() {
        let response = json!({"id": "$.meta.case", "answer": "$.out.text"});
        let reply = r#"{"meta": {"case": "q1"}, "out": {"text": "42"}}"#;
        let right = target(&format!("read -r line; echo '{reply}'"), response.clone());
        let request = Request::question("q1", "Why?");
        assert_eq!(right.ask(&request).await.unwrap().answer, Some(json!("42")));
        let other = Request::question("q2", "Why?");
        let error = right.ask(&other).await.unwrap_err().to_string();
        assert!(
            error.contains("replied to `q1`, which it was not asked"),
            "{error}"
        );

        let greeting = target("echo '{\"status\": \"ready\"}'; sleep 60", response);
        let error = greeting.ask(&request).await.unwrap_err().to_string();
        assert!(
            error.contains("wrote a line that is not a reply: `{\"status\": \"ready\"}`"),
            "{error}"
        );
    }
}
