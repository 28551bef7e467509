//! The turns of conversations as a target is asked them: with the history of the dataset, or with its own replies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use evals::{CaseReport, Domain, FailureClass, TaskScope};
use evals_models::Message;
use evals_targets::{Conversation, Inputs, Reply, Request, Target, TargetError, Turn};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Mutex as AsyncMutex;

use super::system::record;
use crate::call::{Purpose, record_usage};
use crate::conversation::{HISTORY, last_turns};
use crate::{Question, SimulatedUser};

/// The answers in the history that a request to a target contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum History {
    /// The reference answers of the dataset. Each question is asked by itself.
    #[default]
    Gold,
    /// The target's own answers. The questions of a conversation are asked one after the other.
    Live,
    /// The target's own answers, to the messages of a user whom a model plays. A case is a whole conversation.
    Simulated,
}

/// How conversations are asked.
#[derive(Clone, Debug)]
pub struct ConversationPlan {
    /// Whose answers the history contains.
    pub history: History,
    /// Most turns of a history. The oldest are left out. A simulated conversation ends after as many.
    pub turns: usize,
    /// The name of the session, if the target remembers conversations by their id. Ids then end with it, so that no run meets the
    /// conversations of another one.
    pub session: Option<String>,
}

/// The conversations of a run, for one benchmark.
#[derive(Debug)]
pub struct Conversations {
    pub(super) plan: ConversationPlan,
    turns: BTreeMap<String, Turn>,
    script: Arc<Script>,
    user: Option<Arc<SimulatedUser>>,
    /// What was said so far, by conversation and repetition.
    said: Mutex<BTreeMap<(String, u32), Shared>>,
}

/// What was said in one conversation, for one turn at a time.
type Shared = Arc<AsyncMutex<Said>>;

/// The id and the text of every turn of a dataset, by conversation and number.
pub type Script = BTreeMap<(String, u64), (String, String)>;

/// What was said in one live conversation.
#[derive(Debug, Default)]
struct Said {
    /// The questions and answers, two for each turn. In a session an answer may be empty.
    messages: Vec<Message>,
    /// How many turns are over.
    turns: u64,
    /// The process that remembers them.
    process: Option<String>,
    ended: Option<End>,
}

/// Why a conversation does not go on.
#[derive(Clone, Copy, Debug)]
struct End {
    turn: u64,
    what: &'static str,
    class: FailureClass,
}

/// A turn that is not asked.
#[derive(Debug, thiserror::Error)]
#[error("not asked, because turn {turn} of conversation `{conversation}` {what}")]
struct NotAsked {
    conversation: String,
    turn: u64,
    what: &'static str,
}

const FAILED: &str = "failed";
const UNANSWERED: &str = "has no answer that could be part of the history";

impl Conversations {
    /// The attribute of a case that holds the messages before the question: those which the target was sent, or which it remembers.
    pub const HISTORY: &str = HISTORY;
    /// The attribute of a case that holds how many turns its history had before the oldest were left out.
    pub const CUT: &str = "turns of the whole history";

    /// No conversations: every question is alone.
    pub fn none() -> Self {
        let plan = ConversationPlan {
            history: History::Gold,
            turns: usize::MAX,
            session: None,
        };
        Self::new(plan, &[], Arc::default())
    }

    /// The conversations of these questions. `script` has their earlier turns, which are asked first if the questions lack them.
    pub fn new(plan: ConversationPlan, questions: &[Question], script: Arc<Script>) -> Self {
        let turns = questions.iter();
        let turns = turns.filter_map(|it| Some((it.id.clone(), it.turn.clone()?)));
        Self {
            plan,
            turns: turns.collect(),
            script,
            user: None,
            said: Mutex::default(),
        }
    }

    /// The same with a model that plays the users of cases.
    #[must_use]
    pub fn played_by(self, user: Option<Arc<SimulatedUser>>) -> Self {
        Self { user, ..self }
    }

    /// The id and the text of every turn of these questions.
    pub fn script(questions: &[Question]) -> Script {
        let turns = questions.iter().filter_map(|question| {
            let turn = question.turn.as_ref()?;
            let key = (turn.conversation.clone(), turn.number);
            Some((key, (question.id.clone(), question.text.clone())))
        });
        turns.collect()
    }

    /// The first earlier turn of these questions that the script lacks, which live conversations cannot do without.
    pub fn gap<'q>(questions: &'q [Question], script: &Script) -> Option<(&'q str, u64)> {
        let turns = questions.iter().filter_map(|it| it.turn.as_ref());
        let mut earlier = turns.flat_map(|turn| {
            (1..turn.number).map(move |number| (turn.conversation.as_str(), number))
        });
        earlier.find(|(name, number)| !script.contains_key(&((*name).to_owned(), *number)))
    }

    /// How many turns these questions lack that live conversations ask before them.
    pub fn asked_before(questions: &[Question]) -> u64 {
        let mut turns: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for turn in questions.iter().filter_map(|it| it.turn.as_ref()) {
            let numbers = turns.entry(&turn.conversation).or_default();
            numbers.insert(turn.number);
        }
        let lacking = turns.values();
        let lacking = lacking.map(|it| it.last().copied().unwrap_or_default() - it.len() as u64);
        lacking.sum()
    }

    /// The sequence of a case: its conversation, if the target's own answers become the history.
    pub fn sequence(&self, case: &str) -> Option<String> {
        let turn = self.turns.get(case).filter(|_| self.is_live())?;
        Some(turn.conversation.clone())
    }

    /// Ends the live conversations of cases that failed in an earlier session: their later turns are not asked.
    pub fn resume<D: Domain>(&self, finished: &[CaseReport<D>]) {
        let failed = finished.iter().filter(|it| it.result.failure().is_some());
        for case in failed {
            self.end(case.id.as_str(), case.repeat);
        }
    }

    /// Ends the live conversation of a case that failed.
    pub(super) fn end(&self, case: &str, repeat: u32) {
        let Some(turn) = self.turns.get(case).filter(|_| self.is_live()) else {
            return;
        };
        let said = self.said(&turn.conversation, repeat);
        // Nobody is asking another turn: those of a conversation run one after the other.
        let Ok(mut said) = said.try_lock() else {
            return;
        };
        if said.ended.is_none_or(|end| turn.number < end.turn) {
            said.ended = Some(End {
                turn: turn.number,
                what: FAILED,
                class: FailureClass::Content,
            });
        }
    }

    fn is_live(&self) -> bool {
        self.plan.history == History::Live
    }

    /// Asks a question as a part of its conversation, or holds the whole conversation of a simulated user. Records what was said before the
    /// reply, and the reply.
    pub(super) async fn ask(
        &self,
        target: &dyn Target,
        request: Request,
        scope: &TaskScope,
    ) -> Result<Reply, TargetError> {
        if let Some(user) = self.user.as_ref().filter(|user| user.plays(&request.id)) {
            return self.converse(user, target, &request, scope).await;
        }
        let reply = self.ask_question(target, request, scope).await?;
        // Before anything can fail: the target has worked, even if its reply is of no use.
        record(&reply, target, scope);
        Ok(reply)
    }

    async fn ask_question(
        &self,
        target: &dyn Target,
        mut request: Request,
        scope: &TaskScope,
    ) -> Result<Reply, TargetError> {
        let Some(turn) = self.turns.get(&request.id) else {
            if self.plan.session.is_some() {
                request.conversation = Some(self.conversation(&request.id, request.repeat, &[]));
            }
            return target.ask(&request).await;
        };
        if self.is_live() {
            return self.ask_live(target, request, turn, scope).await;
        }
        let history = self.fitted(&turn.history, Some(scope));
        request.conversation = Some(self.conversation(&turn.conversation, request.repeat, history));
        target.ask(&request).await
    }

    async fn ask_live(
        &self,
        target: &dyn Target,
        request: Request,
        turn: &Turn,
        scope: &TaskScope,
    ) -> Result<Reply, TargetError> {
        let said = self.said(&turn.conversation, request.repeat);
        let mut said = said.lock().await;
        // An earlier session has asked them, so that their replies are recorded, or the run has only later turns. The tokens of turns that
        // are no case of the run count in the next one that is.
        let mut used = Vec::new();
        let mut number = said.turns + 1;
        while said.ended.is_none() && number < turn.number {
            let key = (turn.conversation.clone(), number);
            let Some((id, text)) = self.script.get(&key) else {
                break;
            };
            let earlier = Request {
                id: id.clone(),
                inputs: Inputs::Question(text.clone()),
                ..request.clone()
            };
            let place = (turn.conversation.as_str(), number);
            // If it fails, the conversation has ended, and says why.
            let reply = self.say(target, earlier, place, &mut said, None).await;
            used.extend(reply.ok().and_then(|reply| reply.usage));
            if self.turns.contains_key(id) {
                used.clear();
            }
            number += 1;
        }
        for usage in used {
            record_usage(usage, Purpose::Answerer, scope);
        }
        let place = (turn.conversation.as_str(), turn.number);
        self.say(target, request, place, &mut said, Some(scope))
            .await
    }

    /// Asks one turn of a live conversation.
    async fn say(
        &self,
        target: &dyn Target,
        mut request: Request,
        (conversation, number): (&str, u64),
        said: &mut Said,
        scope: Option<&TaskScope>,
    ) -> Result<Reply, TargetError> {
        if let Some(End { turn, what, class }) = said.ended.filter(|end| end.turn < number) {
            let conversation = conversation.to_owned();
            let error = NotAsked {
                conversation,
                turn,
                what,
            };
            return Err(TargetError::new(class, error));
        }
        let before = said.messages.iter().take(2 * count(number - 1));
        let before: Vec<Message> = before.cloned().collect();
        let history = self.fitted(&before, scope);
        request.conversation = Some(Conversation {
            process: said.process.clone(),
            ..self.conversation(conversation, request.repeat, history)
        });
        let mut end = End {
            turn: number,
            what: FAILED,
            class: FailureClass::Transient,
        };
        // Stays if nobody waits for the reply, as at the end of the time of its case.
        said.ended = Some(end);
        let asked = target.ask(&request).await;
        end.class = asked
            .as_ref()
            .err()
            .map_or(FailureClass::Content, TargetError::class);
        said.ended = Some(end);
        let reply = asked?;
        let answer = reply.answer.as_ref().and_then(spoken);
        if self.plan.session.is_none() && answer.is_none() {
            end.what = UNANSWERED;
            said.ended = Some(end);
            return Ok(reply);
        }
        said.ended = None;
        said.process.clone_from(&reply.process);
        if said.turns < number {
            said.turns = number;
            if let Inputs::Question(question) = request.inputs {
                let answer = answer.unwrap_or_default();
                said.messages.push(Message::user(question));
                said.messages.push(Message::assistant(answer));
            }
        }
        Ok(reply)
    }

    /// The conversation as the target is sent it. Repetitions have conversations of their own.
    pub(super) fn conversation(
        &self,
        name: &str,
        repeat: u32,
        history: &[Message],
    ) -> Conversation {
        let repetition = (repeat > 1).then(|| format!("#{repeat}"));
        let session = self
            .plan
            .session
            .as_ref()
            .map(|session| format!("@{session}"));
        Conversation {
            id: [Some(name.to_owned()), repetition, session]
                .into_iter()
                .flatten()
                .collect(),
            history: history.to_vec(),
            is_session: self.plan.session.is_some(),
            process: None,
        }
    }

    /// The last turns of a history, as many as the plan allows: all of them for a target that keeps sessions. Records them, and that there
    /// were more, in the scope of a case.
    fn fitted<'h>(&self, history: &'h [Message], scope: Option<&TaskScope>) -> &'h [Message] {
        let most = match self.plan.session {
            Some(_) => usize::MAX,
            None => self.plan.turns,
        };
        let (kept, turns) = last_turns(history, most);
        if let Some(scope) = scope.filter(|_| !history.is_empty()) {
            if kept.len() < history.len() {
                scope.attribute(Self::CUT, turns);
            }
            scope.attribute(Self::HISTORY, json!(kept));
        }
        kept
    }

    fn said(&self, conversation: &str, repeat: u32) -> Shared {
        // Nothing panics while the lock is held.
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (conversation.to_owned(), repeat);
        Arc::clone(said.entry(key).or_default())
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX / 2)
}

/// An answer as a message.
pub(super) fn spoken(answer: &Value) -> Option<String> {
    match answer {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(answer.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
