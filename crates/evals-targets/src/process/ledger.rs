//! The requests that a process has, and which of them a line replies to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use evals_messages::quantity;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Protocol;
use super::fault::{self, WorkerError, WorkerFault};
use super::protocol::Guard;

/// Where the reply to a request goes.
pub(super) type Asker = oneshot::Sender<Result<Value, WorkerError>>;

/// The requests of one process.
#[derive(Debug)]
pub(super) struct Ledger {
    open: BTreeMap<String, Open>,
    /// Requests that have a reply.
    answered: BTreeSet<String>,
    /// Requests that nobody waits for any more. A late reply to one is no error.
    abandoned: BTreeSet<String>,
    replies: u64,
    /// Whether a line came, a blank one included.
    has_lines: bool,
    /// When the process wrote that it can answer now.
    ready: Option<Instant>,
    /// `None` unless the protocol is guarded.
    guard: Option<Guard>,
    protocol: Arc<dyn Protocol>,
}

#[derive(Debug)]
struct Open {
    asker: Asker,
    /// How many replies the process had given when the request was sent.
    replies_before: u64,
    /// Its reply, with the beginning of its line, while a second line would be a fault.
    held: Option<(Value, String)>,
}

impl Ledger {
    pub(super) fn new(protocol: Arc<dyn Protocol>) -> Self {
        Self {
            open: BTreeMap::new(),
            answered: BTreeSet::new(),
            abandoned: BTreeSet::new(),
            replies: 0,
            has_lines: false,
            ready: None,
            guard: protocol.is_guarded().then(Guard::new),
            protocol,
        }
    }

    /// How many requests are open.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// How many replies came, late ones included.
    pub(super) fn replies(&self) -> u64 {
        self.replies
    }

    /// Whether the process wrote a line, if only a blank one.
    pub(super) fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// When the process wrote `{"ready": true}`, if that was its first line.
    pub(super) fn ready(&self) -> Option<Instant> {
        self.ready
    }

    /// Opens a request. Returns the id to send, which is `id`, or `id~2` and so on if the process saw that one before, as it does
    /// when a request is repeated after a failure. A guarded one has a random word in place of the number.
    pub(super) fn open_request(&mut self, id: &str, asker: Asker) -> String {
        let guarded = self.guard.as_ref().map(|guard| guard.id(id));
        let mut unique = guarded.unwrap_or_else(|| id.to_owned());
        let mut count = 1;
        while self.has_seen(&unique) {
            count += 1;
            unique = format!("{id}~{count}");
        }
        let open = Open {
            asker,
            replies_before: self.replies,
            held: None,
        };
        self.open.insert(unique.clone(), open);
        unique
    }

    /// Gives up an open request. Returns whether the process hangs: it gave no reply at all since it was sent the request. `None` if the
    /// request is not open any more.
    pub(super) fn abandon(&mut self, id: &str) -> Option<bool> {
        let open = self.open.remove(id)?;
        self.abandoned.insert(id.to_owned());
        Some(open.replies_before == self.replies)
    }

    /// Takes the askers of all open requests.
    pub(super) fn close(&mut self) -> Vec<Asker> {
        let open = std::mem::take(&mut self.open);
        open.into_values().map(|open| open.asker).collect()
    }

    /// Whether replies are held.
    pub(super) fn holds(&self) -> bool {
        self.open.values().any(|open| open.held.is_some())
    }

    /// Hands the held replies to their askers, and returns how many there were.
    pub(super) fn settle(&mut self) -> u32 {
        let mut settled = 0;
        for (id, open) in std::mem::take(&mut self.open) {
            match open.held {
                None => drop(self.open.insert(id, open)),
                Some((reply, _)) => {
                    self.answered.insert(id);
                    let _ = open.asker.send(Ok(reply));
                    settled += 1;
                }
            }
        }
        settled
    }

    /// A text of the process as reports show it.
    pub(super) fn shown(&self, text: &str) -> String {
        let guard = self.guard.as_ref();
        fault::start(&guard.map_or_else(|| text.to_owned(), |guard| guard.without_words(text)))
    }

    /// Hands a line to the asker of its request, or holds it if the protocol is guarded. Returns whether it handed one over; a blank line is
    /// no reply, and neither is a first line `{"ready": true}`.
    pub(super) fn receive(&mut self, line: &[u8]) -> Result<bool, WorkerFault> {
        let is_first = !std::mem::replace(&mut self.has_lines, true);
        if is_first && is_ready(line) {
            self.ready = Some(Instant::now());
            return Ok(false);
        }
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        let beginning = fault::beginning(line);
        if let Some((_, reply)) = self.open.values().find_map(|open| open.held.as_ref()) {
            let line = self.shown(&beginning);
            return Err(WorkerFault::Line(format!(
                "wrote a second line for its request, `{line}` after `{reply}`, and nobody knows which of them counts; write one line \
                 to stdout and everything else to stderr"
            )));
        }
        let was_asked = !self.abandoned.is_empty() || !self.answered.is_empty();
        if self.open.is_empty() && (self.guard.is_some() || !was_asked) {
            return Err(WorkerFault::unasked(&self.shown(&beginning)));
        }
        let reply = self.protocol.parse(line).map_err(|why| {
            let line = self.shown(&beginning);
            if self.open.is_empty() {
                return WorkerFault::unasked(&line);
            }
            WorkerFault::Line(format!(
                "wrote a line that is not JSON ({why}): `{line}`; stdout is for replies, write messages to stderr"
            ))
        })?;
        let id = match self.protocol.id(&reply) {
            Some(id) => id,
            None => self.only_open(&reply, || self.shown(&beginning))?,
        };
        if let Some(guard) = &self.guard {
            let held = (guard.clean(reply), self.shown(&beginning));
            return self.hold(&id, held).map(|()| false);
        }
        if let Some(open) = self.open.remove(&id) {
            self.answered.insert(id);
            // Whoever asked may have gone in this moment.
            let _ = open.asker.send(Ok(reply));
        } else if self.abandoned.remove(&id) {
            self.answered.insert(id);
        } else {
            let (is_second, line) = (self.answered.contains(&id), self.shown(&beginning));
            let id = fault::start(&id);
            return Err(WorkerFault::Line(if is_second {
                format!("replied to `{id}` a second time: `{line}`")
            } else {
                format!("replied to `{id}`, which it was not asked: `{line}`")
            }));
        }
        self.replies += 1;
        Ok(true)
    }

    /// Holds a reply of a guarded protocol, with the beginning of its line.
    fn hold(&mut self, id: &str, held: (Value, String)) -> Result<(), WorkerFault> {
        let Some(open) = self.open.get_mut(id) else {
            let expected = self.protocol.expected();
            return Err(WorkerFault::not_a_reply(&held.1, expected));
        };
        open.held = Some(held);
        self.replies += 1;
        Ok(())
    }

    /// The request of a reply without an id: the only one that the process has.
    fn only_open(&self, reply: &Value, shown: impl Fn() -> String) -> Result<String, WorkerFault> {
        let mut open = self.open.keys();
        let (first, others) = (open.next(), open.len());
        let Some(id) = first else {
            return Err(WorkerFault::unasked(&shown()));
        };
        if !self.protocol.is_reply(reply) {
            let expected = self.protocol.expected();
            return Err(WorkerFault::not_a_reply(&shown(), expected));
        }
        // A late reply to an abandoned request would look the same.
        let open = 1 + others + self.abandoned.len();
        if open > 1 {
            return Err(WorkerFault::Line(format!(
                "wrote a reply without an `id` while {} were open: `{}`; copy the `id` of the request",
                quantity::of(open, "request"),
                shown()
            )));
        }
        Ok(id.clone())
    }

    fn has_seen(&self, id: &str) -> bool {
        self.open.contains_key(id) || self.answered.contains(id) || self.abandoned.contains(id)
    }
}

/// Whether a line is `{"ready": true}`.
fn is_ready(line: &[u8]) -> bool {
    serde_json::from_slice(line).is_ok_and(|line: Value| line == json!({"ready": true}))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Asked = oneshot::Receiver<Result<Value, WorkerError>>;

    /// A reply has an answer.
    #[derive(Debug)]
    struct Answers;

    impl Protocol for Answers {
        fn is_reply(&self, line: &Value) -> bool {
            line.get("answer").is_some()
        }

        fn expected(&self) -> &'static str {
            "an answer"
        }
    }

    fn ledger() -> Ledger {
        Ledger::new(Arc::new(Answers))
    }

    fn ask(ledger: &mut Ledger, id: &str) -> (String, Asked) {
        let (asker, asked) = oneshot::channel();
        (ledger.open_request(id, asker), asked)
    }

    #[test]
    fn replies_are_matched_by_id_in_any_order() {
        let mut ledger = ledger();
        let (_, mut first) = ask(&mut ledger, "1");
        let (_, mut second) = ask(&mut ledger, "b");
        ledger.receive(br#"{"id": "b", "answer": "B"}"#).unwrap();
        ledger.receive(br#"{"id": 1, "answer": "A"}"#).unwrap();
        assert_eq!(first.try_recv().unwrap().unwrap()["answer"], "A");
        assert_eq!(second.try_recv().unwrap().unwrap()["answer"], "B");
    }

    #[test]
    fn a_request_that_is_repeated_gets_an_id_of_its_own() {
        let mut ledger = ledger();
        assert_eq!(ask(&mut ledger, "a").0, "a");
        ledger.abandon("a");
        assert_eq!(ask(&mut ledger, "a").0, "a~2");
        assert_eq!(ask(&mut ledger, "a").0, "a~3");
    }

    #[test]
    fn a_late_reply_reaches_nobody_and_is_no_error() {
        let mut ledger = ledger();
        let (_, _gone) = ask(&mut ledger, "a");
        assert_eq!(ledger.abandon("a"), Some(true));
        let (again, mut asked) = ask(&mut ledger, "a");
        ledger.receive(br#"{"id": "a", "answer": "late"}"#).unwrap();
        assert!(asked.try_recv().is_err());
        assert_eq!(ledger.abandon(&again), Some(false), "it replied since");
    }

    #[test]
    fn a_reply_without_id_is_taken_only_for_the_only_request() {
        let mut ledger = ledger();
        let (_, mut only) = ask(&mut ledger, "a");
        ledger.receive(br#"{"answer": "A"}"#).unwrap();
        assert_eq!(only.try_recv().unwrap().unwrap(), json!({"answer": "A"}));

        let (_, _one) = ask(&mut ledger, "b");
        let refused = ledger.receive(br#"{"status": "ready"}"#).unwrap_err();
        let told = refused.to_string();
        assert!(told.contains("a line that is not a reply"), "{told}");
        let (_, _two) = ask(&mut ledger, "c");
        let refused = ledger.receive(br#"{"answer": "?"}"#).unwrap_err();
        let told = refused.to_string();
        assert!(told.contains("while 2 requests were open"), "{told}");
    }

    #[test]
    fn a_reply_without_id_could_belong_to_an_abandoned_request() {
        let mut ledger = ledger();
        let (_, _gone) = ask(&mut ledger, "a");
        ledger.abandon("a");
        let (_, _asked) = ask(&mut ledger, "b");
        let refused = ledger.receive(br#"{"answer": "?"}"#).unwrap_err();
        let told = refused.to_string();
        assert!(told.contains("while 2 requests were open"), "{told}");
    }

    #[test]
    fn only_the_first_line_says_that_the_process_is_ready() {
        let mut ledger = ledger();
        assert!(!ledger.receive(br#"{"ready": true}"#).unwrap());
        assert!(ledger.ready().is_some());
        assert_eq!(ledger.replies(), 0);
        let (_, _asked) = ask(&mut ledger, "a");
        let refused = ledger.receive(br#"{"ready": true}"#).unwrap_err();
        let told = refused.to_string();
        assert!(told.contains("a line that is not a reply"), "{told}");
    }

    #[test]
    fn lines_that_answer_no_request_are_refused() {
        let refused = |ledger: &mut Ledger, line: &str| {
            let refused = ledger.receive(line.as_bytes()).unwrap_err();
            refused.to_string()
        };
        let mut ledger = ledger();
        assert!(
            refused(&mut ledger, r#"{"id": "a"}"#)
                .contains("without being asked: `{\"id\": \"a\"}`")
        );
        let (_, _asked) = ask(&mut ledger, "a");
        assert!(refused(&mut ledger, r#"{"id": "b"}"#).contains("`b`, which it was not asked"));
        let not_json = refused(&mut ledger, "Loading model…");
        assert!(
            not_json.contains("not JSON (expected value at column 1)"),
            "{not_json}"
        );
        assert!(not_json.contains("`Loading model…`"), "{not_json}");
        ledger.receive(br#"{"id": "a"}"#).unwrap();
        assert!(refused(&mut ledger, r#"{"id": "a"}"#).contains("a second time"));
        assert!(refused(&mut ledger, r#"{"answer": 1}"#).contains("without being asked"));
        assert!(refused(&mut ledger, &"x".repeat(1 << 20)).len() < 400);
        assert!(!ledger.receive(b" \r").unwrap(), "a blank line is nothing");
    }
}
