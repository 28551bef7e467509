//! What our own pipeline makes of a question in a conversation: the query of its search, and what its answerer reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use evals::{Case, CaseField, Domain, TaskError, TaskScope};
use evals_models::{Message, Role};
use futures::future::BoxFuture;
use minijinja::context;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::targets::Conversations;
use crate::{Question, Rewriter};

/// Texts in the place of the inputs of cases, by the id of the case.
pub type AskedAs = Arc<BTreeMap<String, String>>;

/// What a task gets in the place of the inputs of cases.
#[derive(Debug, Clone)]
pub enum Queries {
    /// Texts that are known before the cases run.
    Texts(AskedAs),
    /// What a model makes of each question.
    Rewritten(Arc<Rewriter>),
}

impl Default for Queries {
    /// The inputs themselves.
    fn default() -> Self {
        Self::Texts(AskedAs::default())
    }
}

impl Queries {
    /// The text for a case; `None` if it is the case's input.
    pub(crate) async fn of(
        &self,
        case: &str,
        scope: &TaskScope,
    ) -> Result<Option<String>, TaskError> {
        match self {
            Self::Texts(texts) => Ok(texts.get(case).cloned()),
            Self::Rewritten(rewriter) => rewriter.rewrite(case, scope).await,
        }
    }
}

impl Question {
    /// The text with the last `turns` questions of its conversation before it, each in a line.
    pub fn query(&self, turns: usize) -> String {
        let earlier = self.last_turns(turns).iter();
        let earlier = earlier.filter(|message| message.role == Role::User);
        let lines = earlier.map(|message| message.content.as_str());
        lines
            .chain([self.text.as_str()])
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The text behind the last `turns` turns of its conversation; `None` if there are none.
    pub fn in_conversation(&self, turns: usize) -> Option<String> {
        let history = self.last_turns(turns);
        (!history.is_empty()).then(|| {
            let transcript = transcript(history);
            format!(
                "The conversation so far:\n\n{transcript}\nThe question: {}",
                self.text
            )
        })
    }

    /// The conversation and the number of the turn of a question with this metadata.
    pub fn place(metadata: &Map<String, Value>) -> Option<(&str, u64)> {
        let conversation = metadata.get(Self::CONVERSATION)?.as_str()?;
        Some((conversation, metadata.get(Self::TURN)?.as_u64()?))
    }

    fn last_turns(&self, turns: usize) -> &[Message] {
        let history = self.turn.as_ref().map_or(&[][..], |turn| &turn.history);
        last_turns(history, turns).0
    }
}

/// Messages as prompts show them: `speaker`, `user` or `assistant`, and `text`.
pub(crate) fn speakers(messages: &[Message]) -> Vec<minijinja::Value> {
    let shown = messages.iter().map(|message| {
        let is_user = message.role == Role::User;
        context! {
            speaker => if is_user { "user" } else { "assistant" },
            text => message.content.as_str(),
        }
    });
    shown.collect()
}

/// Messages as people read them.
fn transcript(messages: &[Message]) -> String {
    let lines = messages.iter();
    let lines = lines.map(|it| format!("{}: {}\n", speaker(it), it.content));
    lines.collect()
}

fn speaker(message: &Message) -> &'static str {
    if message.role == Role::User {
        "User"
    } else {
        "Assistant"
    }
}

/// The messages before the question of a case, as its attributes hold them.
fn history(attributes: &BTreeMap<String, Value>) -> Option<Vec<Message>> {
    let history = attributes.get(HISTORY)?;
    Vec::<Message>::deserialize(history).ok()
}

fn asked_as(attributes: &BTreeMap<String, Value>) -> Option<&str> {
    attributes.get(ASKED_AS)?.as_str()
}

/// What was said before the question of a case, as its attributes hold it, in one text.
pub fn said_before(attributes: &BTreeMap<String, Value>) -> Option<String> {
    let said = history(attributes).map(|it| transcript(&it));
    said.or_else(|| asked_as(attributes).map(str::to_owned))
}

/// The same as messages, oldest first, each with who said it: `User` or `Assistant`. If our own pipeline asked the question with earlier turns
/// in one text, that text is the only message, and its speaker `asked as`.
pub fn messages_before(attributes: &BTreeMap<String, Value>) -> Vec<(&'static str, String)> {
    match history(attributes) {
        Some(messages) => messages
            .into_iter()
            .map(|it| (speaker(&it), it.content))
            .collect(),
        None => asked_as(attributes)
            .map(|text| (ASKED_AS, text.to_owned()))
            .into_iter()
            .collect(),
    }
}

/// What was said in the conversation of a simulated user before the last message of the user, and that message; `None` without such a user.
pub(crate) fn last_exchange(attributes: &BTreeMap<String, Value>) -> Option<(String, String)> {
    attributes.get(Conversations::ENDED)?;
    let mut history = Vec::<Message>::deserialize(attributes.get(HISTORY)?).ok()?;
    let last = history.pop_if(|last| last.role == Role::User)?;
    Some((transcript(&history), last.content))
}

/// The field of a case whose question a model rewrote.
pub(crate) fn rewritten(attributes: &BTreeMap<String, Value>) -> Option<CaseField> {
    let text = attributes.get(Rewriter::REWRITTEN)?.as_str()?;
    Some(CaseField::new(Rewriter::REWRITTEN, text.to_owned()))
}

/// The last `most` turns of a history, each of which begins with a message of the user, and how many it has.
pub(crate) fn last_turns(history: &[Message], most: usize) -> (&[Message], usize) {
    let questions = history.iter().enumerate();
    let questions = questions.filter(|(_, message)| message.role == Role::User);
    let starts: Vec<usize> = questions.map(|(place, _)| place).collect();
    let first = match starts.len().checked_sub(most) {
        None | Some(0) => 0,
        Some(dropped) => starts.get(dropped).copied().unwrap_or(history.len()),
    };
    (&history[first..], starts.len())
}

/// The attribute of a case that holds the text which was asked in the place of its input.
pub(crate) const ASKED_AS: &str = "asked as";
/// The attribute of a case that holds the messages before its question.
pub(crate) const HISTORY: &str = "history";

/// The task that gets other texts in the place of the inputs of these cases. Reports keep the inputs, and have the texts as the attribute
/// `asked as`, or [`Rewriter::REWRITTEN`].
pub fn asking_as<D, T, F>(
    queries: Queries,
    task: T,
) -> impl Fn(Arc<Case<D>>, TaskScope) -> BoxFuture<'static, Result<D::Output, TaskError>>
where
    D: Domain<Input = String>,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync + 'static,
    F: Future<Output = Result<D::Output, TaskError>> + Send + 'static,
{
    let asked = Arc::new((queries, task));
    move |mut case, scope| {
        let asked = Arc::clone(&asked);
        Box::pin(async move {
            let (queries, task) = &*asked;
            let text = queries.of(case.id.as_str(), &scope).await?;
            if let Some(text) = text.filter(|text| *text != case.input) {
                if matches!(queries, Queries::Texts(_)) {
                    scope.attribute(ASKED_AS, text.as_str());
                }
                case = Arc::new(Case {
                    input: text,
                    ..Case::clone(&case)
                });
            }
            task(case, scope).await
        })
    }
}

#[cfg(test)]
mod tests {
    use evals_metrics::Judgements;
    use evals_targets::Turn;

    use super::*;

    fn question() -> Question {
        Question {
            id: "q".to_owned(),
            text: "And its height?".to_owned(),
            answer: None,
            accepted: Vec::new(),
            answerable: true,
            relevant: Judgements::new(),
            evidence: Vec::new(),
            nuggets: Vec::new(),
            user: None,
            turn: Some(Turn {
                conversation: "c".to_owned(),
                number: 3,
                history: vec![
                    Message::assistant("Hello!"),
                    Message::user("Which tower?"),
                    Message::assistant("The old one."),
                    Message::user("How old?"),
                ],
            }),
            cluster: None,
            metadata: Map::new(),
        }
    }

    #[test]
    fn the_last_questions_stand_before_a_query() {
        let query = |turns| question().query(turns);
        assert_eq!(query(0), "And its height?");
        assert_eq!(query(1), "How old?\nAnd its height?");
        assert_eq!(query(9), "Which tower?\nHow old?\nAnd its height?");
    }

    #[test]
    fn an_answerer_reads_both_sides_of_the_last_turns() {
        let text = |turns| question().in_conversation(turns);
        assert_eq!(text(0), None);
        let framed = |spoken: &str| {
            format!("The conversation so far:\n\n{spoken}\nThe question: And its height?")
        };
        assert_eq!(text(1), Some(framed("User: How old?\n")));
        let whole =
            "Assistant: Hello!\nUser: Which tower?\nAssistant: The old one.\nUser: How old?\n";
        assert_eq!(text(2), Some(framed(whole)));
    }
}
