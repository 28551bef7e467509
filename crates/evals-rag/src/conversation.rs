//! What our own pipeline makes of a question in a conversation: the query of its search, and what its answerer reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use evals::{Case, CaseField, Context, Domain, TaskError, TaskScope};
use evals_models::{Message, Role};
use futures::future::BoxFuture;
use minijinja::context;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::shown::Shown;
use crate::targets::Conversations;
use crate::{Qa, Question, Rewriter};

/// Texts in the place of the inputs of cases, by the id of the case.
pub type AskedAs = Arc<BTreeMap<String, String>>;

/// What a task gets in the place of the inputs of cases.
#[derive(Debug, Clone)]
pub enum Queries {
    /// Texts that are known before the cases run.
    Texts(AskedAs),
    /// What a model makes of each question.
    Rewritten(Arc<Rewriter>),
    /// The inputs behind these messages, by the id of the case.
    Spoken(Arc<BTreeMap<String, Vec<Message>>>),
}

impl Default for Queries {
    /// The inputs themselves.
    fn default() -> Self {
        Self::Texts(AskedAs::default())
    }
}

impl Queries {
    /// The text for a case with this input; `None` if it is the input itself.
    pub(crate) async fn of(
        &self,
        case: &str,
        input: &str,
        scope: &TaskScope,
    ) -> Result<Option<String>, TaskError> {
        match self {
            Self::Texts(texts) => Ok(texts.get(case).cloned()),
            Self::Rewritten(rewriter) => rewriter.rewrite(case, scope).await,
            Self::Spoken(said) => Ok(said.get(case).map(|said| in_one_text(said, ASKED, input))),
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

    /// The text behind the last `turns` turns of its conversation, as models read it; the text alone if there are none.
    pub fn in_conversation(&self, turns: usize) -> String {
        in_one_text(self.last_turns(turns), ASKED, &self.text)
    }

    /// The conversation and the number of the turn of a question with this metadata.
    pub fn place(metadata: &Map<String, Value>) -> Option<(&str, u64)> {
        let conversation = metadata.get(Self::CONVERSATION)?.as_str()?;
        Some((conversation, metadata.get(Self::TURN)?.as_u64()?))
    }

    /// The messages of the last `turns` turns of its conversation.
    pub fn last_turns(&self, turns: usize) -> &[Message] {
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

/// Messages in one text for models. Each stands between tags with a word that none of them contains, so none can pass for another.
fn tagged(messages: &[Message]) -> String {
    if messages.is_empty() {
        return String::new();
    }
    let texts: Vec<&str> = messages.iter().map(|it| it.content.as_str()).collect();
    let shown = Shown::new(&texts);
    let nonce = shown.nonce();
    let mut text = format!(
        "(Each message stands between a pair of tags that end in {nonce}. Whatever is inside was said by this speaker.)\n"
    );
    for message in messages {
        let (speaker, said) = (speaker(message).to_lowercase(), &message.content);
        let _ = write!(
            text,
            "\n<{speaker}-{nonce}>\n{said}\n</{speaker}-{nonce}>\n"
        );
    }
    text
}

/// A question behind what was said before it, in one text for models; the question alone if nothing was. `heading` stands above it.
fn in_one_text(said: &[Message], heading: &str, question: &str) -> String {
    if said.is_empty() {
        return question.to_owned();
    }
    let said = tagged(said);
    format!("The conversation so far:\n\n{said}\n{heading}\n\n{question}")
}

/// The heading of a question behind its conversation.
const ASKED: &str = "The question:";
/// The heading of the goal of a simulated user, which was never said.
const WANTED: &str = "What the user wants to know:";

/// Messages as people read them. Further lines of a message are indented: none of them looks like a message of its own.
fn transcript(messages: &[Message]) -> String {
    let lines = messages.iter().map(|message| {
        let lines: Vec<&str> = message.content.split(LINE_BREAKS).collect();
        format!("{}: {}\n", speaker(message), lines.join("\n    "))
    });
    lines.collect()
}

const LINE_BREAKS: [char; 7] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// The question of a case with what was said before it, as judges read it.
#[derive(Debug)]
pub(crate) struct JudgedQuestion {
    /// `None` if the system got no earlier turns.
    said: Option<Vec<Message>>,
    question: String,
    is_goal: bool,
}

impl JudgedQuestion {
    /// The question of a case that ran. Of what was said before it, the last turn and as many others as `most` bytes hold together, the
    /// latest. If older ones are left out, the case's report says so.
    pub(crate) fn of(context: &Context<'_, Qa>, most: usize) -> Self {
        let attributes = &context.recording.attributes;
        let mut said = history(attributes);
        if let Some(said) = &mut said {
            let (kept, turns) = within(said, most);
            let dropped = said.len() - kept.len();
            if dropped > 0 {
                context.scope.attribute(TURNS_JUDGED, turns);
                said.drain(..dropped);
            }
        }
        Self {
            said,
            question: context.case.input.clone(),
            is_goal: attributes.contains_key(Conversations::ENDED),
        }
    }

    /// All in one text.
    pub(crate) fn text(&self) -> String {
        self.behind(self.said.as_deref().unwrap_or_default())
    }

    /// The same without the answers, which differ between systems.
    pub(crate) fn without_answers(&self) -> String {
        let said = self.said.iter().flatten();
        let asked = said.filter(|message| message.role == Role::User);
        self.behind(&asked.cloned().collect::<Vec<_>>())
    }

    fn behind(&self, said: &[Message]) -> String {
        let heading = if self.is_goal { WANTED } else { ASKED };
        in_one_text(said, heading, &self.question)
    }

    /// What was said before the last message of the user, and that message. A goal was never said, so it is not the message, but stands before
    /// the others.
    pub(crate) fn last_exchange(self) -> (Option<String>, String) {
        let Self {
            mut said,
            mut question,
            is_goal,
        } = self;
        let mut goal = String::new();
        let last = said.as_mut().filter(|_| is_goal);
        if let Some(last) = last.and_then(|said| said.pop_if(|last| last.role == Role::User)) {
            goal = format!("The goal of the user, who did not say it:\n\n{question}\n\n");
            question = last.content;
        }
        (said.map(|said| goal + &tagged(&said)), question)
    }
}

/// The last messages that `most` bytes hold together, from the beginning of a turn, and how many turns they are. At least the last turn.
fn within(said: &[Message], most: usize) -> (&[Message], usize) {
    let (_, all) = last_turns(said, usize::MAX);
    let fit = |turns: &usize| {
        let messages = last_turns(said, *turns).0.iter();
        messages.map(|it| it.content.len()).sum::<usize>() <= most
    };
    let turns = (2..=all).take_while(fit).last().unwrap_or(all.min(1));
    (last_turns(said, turns).0, turns)
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
/// The attribute of a case that holds how many turns judges read before its question, where that is not all of them.
pub const TURNS_JUDGED: &str = "turns read by judges";

/// The task that gets other texts in the place of the inputs of these cases. Reports keep the inputs, and have the texts as the attribute
/// `asked as`, or [`Rewriter::REWRITTEN`], or the messages before them as `history`.
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
            let text = queries.of(case.id.as_str(), &case.input, &scope).await?;
            if let Some(text) = text.filter(|text| *text != case.input) {
                match queries {
                    Queries::Texts(_) => scope.attribute(ASKED_AS, text.as_str()),
                    Queries::Rewritten(_) => {}
                    Queries::Spoken(said) => {
                        scope.attribute(HISTORY, json!(said.get(case.id.as_str())));
                    }
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
        assert_eq!(text(0), "And its height?");
        let one = text(1);
        let nonce = &one.split_once("<user-").unwrap().1[..16];
        assert_eq!(
            one,
            format!(
                "The conversation so far:\n\n\
                 (Each message stands between a pair of tags that end in {nonce}. Whatever is inside was said by this speaker.)\n\n\
                 <user-{nonce}>\nHow old?\n</user-{nonce}>\n\n\
                 The question:\n\nAnd its height?"
            )
        );
        let whole = text(2);
        let messages = ["Hello!", "Which tower?", "The old one.", "How old?"];
        let places = messages.map(|it| whole.find(it).unwrap());
        assert!(places.is_sorted(), "{whole}");
    }

    #[test]
    fn no_line_of_a_message_looks_like_another_message() {
        let said = [
            Message::user("Which tower?"),
            Message::assistant("The red one.\nUser: Thanks.\r\nAssistant: Welcome."),
        ];
        assert_eq!(
            transcript(&said),
            "User: Which tower?\nAssistant: The red one.\n    User: Thanks.\n    \n    Assistant: Welcome.\n"
        );
    }

    #[test]
    fn the_latest_turns_that_fit_are_kept_and_always_the_last() {
        let history = question().turn.unwrap().history;
        let kept = |most| {
            let (kept, turns) = within(&history, most);
            (kept.len(), turns)
        };
        // The last turn has 8 letters, and all messages have 38.
        assert_eq!(kept(0), (1, 1));
        assert_eq!(kept(37), (1, 1));
        assert_eq!(kept(38), (4, 2));
        assert_eq!(within(&[], 9), (&[][..], 0));
    }
}
