//! The user of a conversation, played by a model from a goal and facts.

use std::collections::BTreeMap;
use std::sync::Arc;

use evals::{FailureClass, StopSignal, TaskScope};
use evals_models::{ChatModel, ChatRequest, Message};
use evals_targets::TargetError;
use minijinja::context;

use crate::answering::AnswerFailure;
use crate::call::Purpose;
use crate::conversation::speakers;
use crate::failures::class;
use crate::shown::Shown;
use crate::writing::Writer;
use crate::{Prompt, PromptError, Question, UserPart};

/// Asks a chat model for the messages of users, one at a time, until it says that a conversation is done.
///
/// The benchmarks of a run share the messages. Calls are recorded under the names of [`Purpose::User`].
#[derive(Debug)]
pub struct SimulatedUser {
    writer: Writer,
    prompt: Prompt,
    /// The goal and the part of each user, by case.
    users: BTreeMap<String, (String, UserPart)>,
    stop: StopSignal,
}

/// A message that was not written.
#[derive(Debug, thiserror::Error)]
#[error("the simulated user wrote no message")]
struct NotWritten(#[source] Arc<AnswerFailure>);

/// The run ends. The class is that of a failure which leaves its case for the session that resumes the run.
const STOPPED: (FailureClass, &str) = (
    FailureClass::Terminal,
    "the run is stopped, and the user writes no further message",
);

/// What the model writes if there is no further message, before a hyphen and the nonce of its prompt. Small models leave these out.
const DONE: &str = "done";

/// What the model wrote has no text beside the delimiters of messages.
const EMPTY: &str = "the simulated user wrote no message, and only delimiters";

impl SimulatedUser {
    /// Plays the users of those of `questions` that have one. [`Prompt::user`] lists the values that the prompt may use.
    pub fn new(model: Arc<dyn ChatModel>, prompt: Prompt, questions: &[Question]) -> Self {
        let users = questions.iter().filter_map(|question| {
            let user = (question.text.clone(), question.user.clone()?);
            Some((question.id.clone(), user))
        });
        Self {
            writer: Writer::new(model, Purpose::User),
            prompt,
            users: users.collect(),
            stop: StopSignal::new(),
        }
    }

    /// The same for a run that this signal stops: then users write no further message, so that their cases count as not run.
    #[must_use]
    pub fn stopped_by(self, stop: StopSignal) -> Self {
        Self { stop, ..self }
    }

    /// The request for the first message of each user, or for the second one if the first is given, without what the target replied; and how many
    /// requests a conversation of `turns` turns makes.
    ///
    /// # Errors
    ///
    /// The prompt cannot be filled in.
    pub fn requests(
        &self,
        turns: u64,
    ) -> impl Iterator<Item = Result<(u64, ChatRequest), PromptError>> {
        self.users.values().map(move |user| {
            let first = user.1.first.as_deref().map(Message::user);
            let said: Vec<Message> = first.into_iter().collect();
            let (request, _) = self.request(user, &said, 1);
            Ok((turns.saturating_sub(said.len() as u64), request?))
        })
    }

    /// Whether the user of a case is played.
    pub(crate) fn plays(&self, case: &str) -> bool {
        self.users.contains_key(case)
    }

    /// The next message of the user of a case after what was `said`; `None` if the conversation is done.
    pub(crate) async fn next(
        &self,
        case: &str,
        said: &[Message],
        scope: &TaskScope,
    ) -> Result<Option<String>, TargetError> {
        if self.stop.is_set() {
            let (class, why) = STOPPED;
            return Err(TargetError::new(class, why));
        }
        let Some(user) = self.users.get(case) else {
            return Ok(None);
        };
        if let Some(first) = user.1.first.as_ref().filter(|_| said.is_empty()) {
            return Ok(Some(first.clone()));
        }
        let (request, nonce) = self.request(user, said, scope.repeat());
        let key = (case.to_owned(), scope.repeat(), said.len());
        let text = self.writer.write(key, request, scope).await;
        let text = text
            .map_err(|failure| TargetError::new(class(failure.failure()), NotWritten(failure)))?;
        // Some models write the delimiters of messages, too.
        let message = text.replace(&format!("<user-{nonce}>"), "");
        let message = message.replace(&format!("</user-{nonce}>"), "");
        let message = message.trim();
        if message.is_empty() {
            return Err(TargetError::new(FailureClass::Content, EMPTY));
        }
        let bare = message.trim_matches(|letter: char| !letter.is_alphanumeric());
        let ends = [DONE.to_owned(), format!("{DONE}-{nonce}")];
        let is_done = ends.iter().any(|end| bare.eq_ignore_ascii_case(end));
        Ok((!is_done).then(|| message.to_owned()))
    }

    /// A request, and its nonce.
    fn request(
        &self,
        (goal, UserPart { facts, .. }): &(String, UserPart),
        said: &[Message],
        repeat: u32,
    ) -> (Result<ChatRequest, PromptError>, String) {
        let contents = said.iter().map(|message| &message.content);
        let texts = [goal].into_iter().chain(facts).chain(contents);
        let shown = Shown::new(&texts.map(String::as_str).collect::<Vec<_>>());
        let messages = speakers(said);
        let prompt = self
            .prompt
            .render(context! { goal, facts, messages, nonce => shown.nonce() });
        let request = prompt.map(|prompt| ChatRequest {
            repeat,
            ..ChatRequest::new(vec![Message::user(prompt)])
        });
        (request, shown.nonce().to_owned())
    }
}
