//! OpenAI's endpoints for files and batches, with the faults that a script asks for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::reaction::Reaction;
use super::{Received, ScriptedServer};

/// What the output of a batch holds for a request.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// A reply with this text.
    Say(String),
    /// An answer with this status and body, in the error file unless the status is a success.
    Answer(u16, Value),
    /// A failure with this code, in the error file.
    Failed(&'static str),
    /// No line.
    Missing,
    /// No line, although the server counts it as completed.
    Lost,
    /// A text that is no JSON.
    Garbage,
    /// The reply twice, and one with an id that nobody asked for.
    Odd(String),
}

/// A request in a batch: its position in the order of arrival, and its body.
pub(crate) type Answerer = dyn Fn(usize, &Value) -> Line + Send + Sync;

/// Reacts to a request otherwise than the protocol says, if it returns something.
pub(crate) type Fault = dyn Fn(&Received, usize) -> Option<Reaction> + Send + Sync;

/// How the server treats batches.
pub(crate) struct Script {
    /// Answers a request of the batch with this number, from 0.
    pub(crate) answer: Box<Answerer>,
    /// The state in which the batch with a number ends.
    pub(crate) end: fn(usize) -> &'static str,
    /// How often a batch is `in_progress` before it ends.
    pub(crate) polls: usize,
    /// The reason for which a batch fails.
    pub(crate) reason: Value,
    /// How many batches are created without an answer that says so.
    pub(crate) lost: usize,
    /// The reaction to the requests that create them.
    pub(crate) loss: Reaction,
    /// How often a batch that ended is described without its files.
    pub(crate) late: usize,
    /// Reacts otherwise than the protocol says, if it returns something.
    pub(crate) fault: Box<Fault>,
}

/// The files and batches of a server.
#[derive(Default)]
struct State {
    files: Vec<String>,
    batches: Vec<Batch>,
}

struct Batch {
    input: usize,
    metadata: Value,
    polls: usize,
    is_held: bool,
    output: Option<usize>,
    errors: Option<usize>,
    /// Requests that count as completed and have no line.
    lost: usize,
}

/// A server with batches. It also answers direct requests.
pub(crate) struct BatchServer {
    pub(crate) server: ScriptedServer,
    state: std::sync::Arc<Shared>,
}

struct Shared {
    script: Script,
    state: Mutex<State>,
    /// While set, batches do not end.
    held: Mutex<bool>,
}

impl Script {
    /// Answers every request with a text made of its last message, and completes every batch at the second look.
    pub(crate) fn sound() -> Self {
        Self {
            answer: Box::new(|_, body| Line::Say(echo(body))),
            end: |_| "completed",
            polls: 1,
            reason: json!(null),
            lost: 0,
            loss: Reaction::Reset,
            late: 0,
            fault: Box::new(|_, _| None),
        }
    }
}

/// The reply of a sound server: the last message behind a word.
pub(crate) fn echo(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice);
    let last = messages.unwrap_or_default().last();
    let text = last.and_then(|last| last["content"].as_str());
    format!("echo: {}", text.unwrap_or_default())
}

impl BatchServer {
    /// Starts a server with this script. Requests outside batches get the same answers, as if they were in batch `usize::MAX`.
    pub(crate) fn start(script: Script) -> Self {
        let shared = std::sync::Arc::new(Shared {
            script,
            state: Mutex::default(),
            held: Mutex::new(false),
        });
        let reacting = std::sync::Arc::clone(&shared);
        Self {
            server: ScriptedServer::start(move |request, before| reacting.react(request, before)),
            state: shared,
        }
    }

    /// Lets no batch end, or lets all end again.
    pub(crate) fn hold(&self, held: bool) {
        *lock(&self.state.held) = held;
    }

    /// The number of requests in each batch so far.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let state = lock(&self.state.state);
        let batches = state.batches.iter();
        batches
            .map(|batch| state.files[batch.input].lines().count())
            .collect()
    }

    /// How often each request was sent in a batch, by its `custom_id`.
    pub(crate) fn submissions(&self) -> BTreeMap<String, usize> {
        let state = lock(&self.state.state);
        let mut submissions = BTreeMap::new();
        for batch in &state.batches {
            for line in state.files[batch.input].lines() {
                let line: Value = serde_json::from_str(line).expect("a line of JSON");
                let id = line["custom_id"].as_str().expect("an id").to_owned();
                *submissions.entry(id).or_default() += 1;
            }
        }
        submissions
    }

    /// The number of direct requests.
    pub(crate) fn direct(&self) -> usize {
        self.server.received_at("/chat/completions").len()
    }
}

impl Shared {
    fn react(&self, request: &Received, before: usize) -> Reaction {
        if let Some(fault) = (self.script.fault)(request, before) {
            return fault;
        }
        let path = request.path.split('?').next().unwrap_or_default();
        let path = path.strip_prefix("/v1").unwrap_or(path);
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["files"]) => self.upload(request),
            ("GET", ["files", file, "content"]) => self.content(file),
            ("POST", ["batches"]) => self.create(request),
            ("GET", ["batches"]) => self.list(),
            ("GET", ["batches", batch]) => self.look(batch),
            ("POST", ["chat", "completions"]) => {
                match (self.script.answer)(usize::MAX, &request.body) {
                    Line::Say(text) => Reaction::say(&text),
                    Line::Answer(status, body) => Reaction::json(status, &body),
                    _ => Reaction::say(&echo(&request.body)),
                }
            }
            _ => Reaction::Sound,
        }
    }

    fn upload(&self, request: &Received) -> Reaction {
        let text = String::from_utf8_lossy(&request.bytes);
        assert!(text.contains("name=\"purpose\""), "{text}");
        // The part of the file lies between its empty line and the next boundary.
        let part = text.find("filename=").expect("a part with a file");
        let start = part + text[part..].find("\r\n\r\n").expect("the head of a part") + 4;
        let end = start + text[start..].find("\r\n--").expect("a boundary");
        let mut state = lock(&self.state);
        state.files.push(text[start..end].to_owned());
        let id = format!("file-{}", state.files.len() - 1);
        Reaction::json(
            200,
            &json!({"id": id, "object": "file", "purpose": "batch"}),
        )
    }

    fn content(&self, file: &str) -> Reaction {
        let state = lock(&self.state);
        let number: usize = number(file);
        Reaction::body(200, state.files[number].clone())
    }

    fn create(&self, request: &Received) -> Reaction {
        assert_eq!(request.body["endpoint"], "/v1/chat/completions");
        assert_eq!(request.body["completion_window"], "24h");
        let input = number(request.body["input_file_id"].as_str().expect("a file"));
        let mut state = lock(&self.state);
        state.batches.push(Batch {
            input,
            metadata: request.body["metadata"].clone(),
            polls: 0,
            is_held: true,
            output: None,
            errors: None,
            lost: 0,
        });
        let created = state.batches.len() - 1;
        if created < self.script.lost {
            return self.script.loss.clone();
        }
        Reaction::json(200, &describe(&state, created, "validating", &Value::Null))
    }

    fn list(&self) -> Reaction {
        let state = lock(&self.state);
        let batches = (0..state.batches.len()).rev();
        let batches: Vec<Value> = batches
            .map(|batch| describe(&state, batch, "in_progress", &Value::Null))
            .collect();
        Reaction::json(
            200,
            &json!({"object": "list", "data": batches, "has_more": false}),
        )
    }

    fn look(&self, batch: &str) -> Reaction {
        let number = number(batch);
        let mut state = lock(&self.state);
        if state.batches.get(number).is_none() {
            return Reaction::json(404, &json!({"error": {"message": "No such batch"}}));
        }
        state.batches[number].polls += 1;
        if *lock(&self.held) || state.batches[number].polls <= self.script.polls {
            return Reaction::json(200, &describe(&state, number, "in_progress", &Value::Null));
        }
        let end = (self.script.end)(number);
        if state.batches[number].is_held && end != "failed" {
            self.finish(&mut state, number);
        }
        let mut batch = describe(&state, number, end, &self.script.reason);
        let looks = state.batches[number].polls - self.script.polls;
        if looks <= self.script.late {
            batch["output_file_id"].take();
            batch["error_file_id"].take();
        }
        Reaction::json(200, &batch)
    }

    /// Writes output and errors, in the reverse order of the requests.
    fn finish(&self, state: &mut State, number: usize) {
        let (mut output, mut errors, mut lost) = (String::new(), String::new(), 0);
        let input = state.files[state.batches[number].input].clone();
        for line in input.lines().rev() {
            let request: Value = serde_json::from_str(line).expect("a line of JSON");
            let id = request["custom_id"].as_str().expect("an id");
            let answered = |id: &str, status: u16, body: &Value| {
                let response = json!({"status_code": status, "request_id": "r", "body": body});
                json!({"id": "x", "custom_id": id, "response": response, "error": null}).to_string()
            };
            let said = |id: &str, text: &str| answered(id, 200, &completion(text));
            match (self.script.answer)(number, &request["body"]) {
                Line::Say(text) => writeln!(output, "{}", said(id, &text)),
                Line::Answer(status, body) if status < 300 => {
                    writeln!(output, "{}", answered(id, status, &body))
                }
                Line::Answer(status, body) => writeln!(errors, "{}", answered(id, status, &body)),
                Line::Failed(code) => {
                    let error = json!({"code": code, "message": "it was not executed"});
                    let line =
                        json!({"id": "x", "custom_id": id, "response": null, "error": error});
                    writeln!(errors, "{line}")
                }
                Line::Missing => Ok(()),
                Line::Lost => {
                    lost += 1;
                    Ok(())
                }
                Line::Garbage => writeln!(output, "{{\"custom_id\": \"{id}\", \"resp"),
                Line::Odd(text) => {
                    let (one, stray) = (said(id, &text), said("nobody", "lost"));
                    writeln!(output, "{one}\n{stray}\n{one}")
                }
            }
            .expect("a text");
        }
        let mut keep = |text: String| {
            (!text.is_empty()).then(|| {
                state.files.push(text);
                state.files.len() - 1
            })
        };
        let (output, errors) = (keep(output), keep(errors));
        let batch = &mut state.batches[number];
        (batch.output, batch.errors, batch.lost) = (output, errors, lost);
        batch.is_held = false;
    }
}

fn describe(state: &State, number: usize, status: &str, reason: &Value) -> Value {
    let batch = &state.batches[number];
    let file = |file: Option<usize>| file.map(|file| format!("file-{file}"));
    let lines = |file: Option<usize>| file.map_or(0, |file| state.files[file].lines().count());
    json!({
        "id": format!("batch-{number}"), "object": "batch", "status": status, "errors": reason,
        "input_file_id": format!("file-{}", batch.input),
        "output_file_id": file(batch.output), "error_file_id": file(batch.errors).unwrap_or_default(),
        "request_counts": {
            "total": state.files[batch.input].lines().count(),
            "completed": lines(batch.output) + batch.lost, "failed": lines(batch.errors),
        },
        "metadata": batch.metadata,
    })
}

/// A reply as OpenAI writes it.
fn completion(text: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 25, "completion_tokens": 7},
    })
}

/// The number in a name such as `file-3`.
fn number(name: &str) -> usize {
    let number = name.rsplit('-').next().and_then(|text| text.parse().ok());
    number.unwrap_or(usize::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
