//! Rows that are turns of conversations: one row for each turn, one for each message, or one with the messages before a question.

use std::collections::{BTreeMap, BTreeSet};

use evals_models::{Message, Role};
use evals_rag::{Turn, UserPart};
use serde_json::Value;

use super::cells::{self, unfit};
use super::fields::Fields;
use super::spans;
use crate::error::{DataError, Place};
use crate::manifest::{Column, QuestionColumns};
use crate::reader::Row;

const MESSAGES: &str = "a list of messages such as `{\"role\": \"user\", \"content\": \"…\"}`";
const ROLES: &str = "`user` or `assistant`";

/// What one question says, and what was said before it.
pub(super) struct Spoken {
    pub(super) text: Option<String>,
    /// Right answers; the first one is the reference.
    pub(super) answers: Vec<String>,
    /// `None` if the question is not part of a conversation.
    pub(super) turn: Option<Turn>,
    /// What the user of a whole conversation knows and says first.
    pub(super) user: Option<UserPart>,
}

/// The row of a question, and what it says.
pub(super) struct Exchange {
    pub(super) row: Row,
    pub(super) spoken: Spoken,
}

impl Spoken {
    /// What a row says by itself. The conversation of its turn is empty if the row does not name it.
    pub(super) fn of_row(
        fields: &Fields<'_>,
        columns: &QuestionColumns,
        place: &Place,
    ) -> Result<Self, DataError> {
        let read = |cell: Option<&Value>, column: Option<&Column>| match (cell, column) {
            (Some(cell), Some(column)) => cells::text(cell, column, place),
            _ => Ok(None),
        };
        let mut spoken = Self {
            text: read(fields.text, columns.text.as_ref())?,
            answers: cells::texts(columns.answer.iter().zip(fields.answers), place)?,
            turn: None,
            user: None,
        };
        if columns.goal.is_some() {
            let column = columns.known.as_ref();
            spoken.user = Some(UserPart {
                facts: spans::of_optional(fields.known, column, |cell, column| {
                    spans::texts(cell, column, place)
                })?,
                first: spoken.text.take(),
            });
            spoken.text = read(fields.goal, columns.goal.as_ref())?;
        }
        let (Some(cell), Some(column)) = (fields.messages, &columns.messages) else {
            return Ok(spoken);
        };
        let mut history = messages(cell, column, place)?;
        if columns.text.is_none() {
            let logged = history.pop_if(|last| last.role == Role::Assistant);
            if spoken.answers.is_empty() {
                spoken.answers.extend(logged.map(|it| it.content));
            }
            let asked = history.pop().filter(|last| last.role == Role::User);
            let none = || {
                place.fails(format!(
                    "the question is missing: column `{column}` ends neither with a message of the user nor with one answer to it"
                ))
            };
            spoken.text = Some(asked.ok_or_else(none)?.content);
        }
        let before = history.iter().filter(|it| it.role == Role::User);
        let number = before.count() as u64 + 1;
        spoken.turn = Some(Turn {
            conversation: conversation(fields, columns, place)?.unwrap_or_default(),
            number,
            history,
        });
        Ok(spoken)
    }
}

/// One row of a log.
struct Said {
    row: Row,
    number: Option<u64>,
    is_user: bool,
    text: String,
    answers: Vec<String>,
}

/// Puts the rows of a log in the order of their conversations, and gives each question the turns before it. Conversations keep the order in
/// which they begin.
///
/// # Errors
///
/// A message has no text, an answer comes before a question, a conversation has no question, or the numbers of its turns repeat or leave a
/// gap.
pub(super) fn exchanges(
    rows: Vec<Row>,
    columns: &QuestionColumns,
) -> Result<Vec<Exchange>, DataError> {
    let mut order = Vec::new();
    let mut conversations: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    for row in rows {
        let Some((conversation, said)) = said(row, columns)? else {
            continue;
        };
        let known = conversations
            .entry(conversation.clone())
            .or_insert_with(|| {
                order.push(conversation);
                Vec::new()
            });
        known.push(said);
    }
    let mut exchanges = Vec::new();
    for conversation in order {
        let said = conversations.remove(&conversation).unwrap_or_default();
        exchanges.extend(of_conversation(&conversation, said)?);
    }
    Ok(exchanges)
}

/// What a row says, with its conversation; `None` for a message of the system or of a tool.
fn said(row: Row, columns: &QuestionColumns) -> Result<Option<(String, Said)>, DataError> {
    let place = &row.place;
    let rest = columns.filter.rest_of(&row.cells).unwrap_or_default();
    let fields = Fields::of(columns, rest);
    let conversation = conversation(&fields, columns, place)?.unwrap_or_default();
    let role = match (fields.role, &columns.role) {
        (Some(cell), Some(column)) => role(cell, column, place)?,
        _ => Some(Role::User),
    };
    let Some(role) = role else {
        return Ok(None);
    };
    let Spoken { text, answers, .. } = Spoken::of_row(&fields, columns, place)?;
    let number = number(&fields, columns, place)?;
    let Some(text) = text else {
        return Err(place.fails(format!(
            "a turn of conversation `{conversation}` has no text"
        )));
    };
    let is_user = role == Role::User;
    Ok(Some((
        conversation,
        Said {
            row,
            number,
            is_user,
            text,
            answers,
        },
    )))
}

/// The questions of a conversation.
fn of_conversation(conversation: &str, mut said: Vec<Said>) -> Result<Vec<Exchange>, DataError> {
    // Stable, so that a question stays before the answer that has its number.
    said.sort_by_key(|it| it.number);
    check_numbers(conversation, &said)?;
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut history: Vec<Message> = Vec::new();
    for said in said {
        let fails = |problem: &str| {
            let place = &said.row.place;
            Err(place.fails(format!("conversation `{conversation}` {problem}")))
        };
        if said.is_user {
            let turn = Turn {
                conversation: conversation.to_owned(),
                number: exchanges.len() as u64 + 1,
                history: history.clone(),
            };
            history.push(Message::user(said.text.clone()));
            history.extend(said.answers.first().cloned().map(Message::assistant));
            let spoken = Spoken {
                text: Some(said.text),
                answers: said.answers,
                turn: Some(turn),
                user: None,
            };
            exchanges.push(Exchange {
                row: said.row,
                spoken,
            });
            continue;
        }
        let Some(asked) = exchanges.last_mut() else {
            return fails(
                "has an answer before its first question; delete the row if it is a greeting",
            );
        };
        if !asked.spoken.answers.is_empty() {
            return fails("has two answers to one question");
        }
        asked.spoken.answers.push(said.text.clone());
        history.push(Message::assistant(said.text));
    }
    Ok(exchanges)
}

/// Fails unless the numbers begin with 0 or 1 and rise by 1. An answer may have the number of its question.
fn check_numbers(conversation: &str, said: &[Said]) -> Result<(), DataError> {
    let numbered = said.iter().filter_map(|it| Some((it, it.number?)));
    let mut last: Option<(u64, bool)> = None;
    for (said, number) in numbered {
        let fails = |problem: String| {
            let place = &said.row.place;
            Err(place.fails(format!("conversation `{conversation}` {problem}")))
        };
        match last {
            None if number > 1 => return fails(format!("begins with turn {number}, not with 1")),
            Some((before, was_user)) if before == number && (said.is_user || !was_user) => {
                return fails(format!("has two turns of number {number}"));
            }
            Some((before, _)) if number > before + 1 => {
                return fails(format!("has a turn {number}, and no turn {}", before + 1));
            }
            _ => {}
        }
        last = Some((number, said.is_user));
    }
    Ok(())
}

/// Fails if two questions of a conversation have one number, as rows with the same number of messages do.
pub(super) fn check_unique(
    seen: &mut BTreeSet<(String, u64)>,
    turn: &Turn,
    place: &Place,
) -> Result<(), DataError> {
    let Turn {
        conversation,
        number,
        ..
    } = turn;
    if seen.insert((conversation.clone(), *number)) {
        return Ok(());
    }
    Err(place.fails(format!(
        "conversation `{conversation}` has two turns of number {number}"
    )))
}

fn conversation(
    fields: &Fields<'_>,
    columns: &QuestionColumns,
    place: &Place,
) -> Result<Option<String>, DataError> {
    match (fields.conversation, &columns.conversation) {
        (Some(cell), Some(column)) => cells::id(cell, column, place).map(Some),
        _ => Ok(None),
    }
}

fn number(
    fields: &Fields<'_>,
    columns: &QuestionColumns,
    place: &Place,
) -> Result<Option<u64>, DataError> {
    let (Some(cell), Some(column)) = (fields.turn, &columns.turn) else {
        return Ok(None);
    };
    let number = cells::id(cell, column, place).ok();
    let number = number.and_then(|text| text.parse().ok());
    let wrong = || unfit(cell, column, place, "the number of a turn (0, 1, 2, …)");
    number.map(Some).ok_or_else(wrong)
}

/// The role that a cell names; `None` for the system and for tools.
fn role(cell: &Value, column: &Column, place: &Place) -> Result<Option<Role>, DataError> {
    let name = cell.as_str().map(str::to_ascii_lowercase);
    match name.as_deref() {
        Some("user" | "human") => Ok(Some(Role::User)),
        Some("assistant" | "agent" | "ai" | "bot" | "gpt" | "model") => Ok(Some(Role::Assistant)),
        Some("system" | "developer" | "tool" | "function") => Ok(None),
        _ => Err(unfit(cell, column, place, ROLES)),
    }
}

/// The messages of the user and the assistant in a list, which CSV and parquet may hold as JSON text.
fn messages(cell: &Value, column: &Column, place: &Place) -> Result<Vec<Message>, DataError> {
    let wrong = || unfit(cell, column, place, MESSAGES);
    if cell.as_str().is_some_and(|text| text.trim().is_empty()) {
        return Ok(Vec::new());
    }
    let written = cell.as_str().map(serde_json::from_str::<Value>);
    let written = written.transpose().map_err(|_| wrong())?;
    let list = match written.as_ref().unwrap_or(cell) {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        _ => return Err(wrong()),
    };
    let mut messages = Vec::new();
    for message in list {
        let field = |names: [&str; 3]| names.iter().find_map(|name| message.get(name));
        let speaker = field(["role", "speaker", "from"]).ok_or_else(wrong)?;
        let Some(role) = role(speaker, column, place)? else {
            continue;
        };
        let content = match field(["content", "text", "value"]) {
            Some(content) => content,
            // A call of tools, which says nothing to the user.
            None if message.get("tool_calls").is_some() => continue,
            None => return Err(wrong()),
        };
        if let Some(text) = cells::text(&of_parts(content), column, place)? {
            messages.push(match role {
                Role::User => Message::user(text),
                _ => Message::assistant(text),
            });
        }
    }
    Ok(messages)
}

/// The texts of a content in parts: `[{"type": "text", "text": "…"}]`.
fn of_parts(content: &Value) -> Value {
    match content {
        Value::Array(parts) => {
            let text = |part: &Value| part.get("text").unwrap_or(part).clone();
            parts.iter().map(text).collect()
        }
        other => other.clone(),
    }
}
