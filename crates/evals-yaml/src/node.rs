//! Values that remember their places in the text.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Number, Value};

use crate::error::YamlError;

/// The deepest nesting. A report that holds a value of this depth is still readable by parsers that stop at 128 levels.
pub(crate) const MOST_LEVELS: usize = 100;

/// A place in a text, both numbers from 1. Columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

/// A text that was read.
///
/// Whoever uses [`root`](Self::root) has to look at [`errors`](Self::errors) first.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The value; an empty YAML text is null.
    pub root: Node,
    /// Values that JSON cannot hold, in the order of the text. Each of them is null in the tree.
    pub errors: Vec<YamlError>,
    /// Warnings about values that were not read as a reader of the text may expect, such as a key that occurs twice.
    pub warnings: Vec<YamlError>,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value begins. An alias stands where it is used, what it contains where it was written.
    pub place: Place,
    /// The value.
    pub content: Content,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A null, a truth value, a number or a text.
    Scalar(Value),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text. No two members have the same key.
    Mapping(Vec<Member>),
}

/// A key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key.
    pub key: Key,
    /// Its value.
    pub value: Node,
}

/// The key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key; one that is not a text in YAML is written as in JSON: `1`, `true`, `null`.
    pub text: String,
    /// Whether the key is a text in YAML, which `1`, `yes`, `~` and `2021-05-08` are not.
    pub is_text: bool,
    /// Where it stands.
    pub place: Place,
}

/// One step from a value to a value inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Into a mapping.
    Key(&'a str),
    /// Into a list, from 0.
    Index(usize),
}

impl Place {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// An error or a warning about this place.
    pub fn error(self, message: impl Into<String>) -> YamlError {
        YamlError {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }

    /// The error of a number that is not finite.
    pub(crate) fn not_finite(self, text: &str) -> YamlError {
        self.error(format!(
            "`{text}` is not a finite number, and JSON, in which cases are sent and stored, has only finite ones; write `null`, or put it into quotes"
        ))
    }

    /// The warning of an integer that loses digits.
    pub(crate) fn rounded(self, text: &str, number: &Number) -> YamlError {
        self.error(format!(
            "the integer `{text}` does not fit into 64 bits and is read as {number}; put it into quotes to keep its digits"
        ))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

impl Node {
    /// A null, a truth value, a number or a text.
    pub(crate) fn scalar(place: Place, value: impl Into<Value>) -> Self {
        Self {
            place,
            content: Content::Scalar(value.into()),
        }
    }

    /// The value alone.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Content::Mapping(members) => {
                let members = members.iter();
                let members =
                    members.map(|member| (member.key.text.clone(), member.value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// The members of a mapping.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.content {
            Content::Mapping(members) => Some(members),
            Content::Scalar(_) | Content::List(_) => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(items) => Some(items),
            Content::Scalar(_) | Content::Mapping(_) => None,
        }
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        self.content == Content::Scalar(Value::Null)
    }

    /// The member of a mapping with this key.
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().find(|member| member.key.text == key)
    }

    /// The place of what `path` leads to: of the key, for a member of a mapping. Where the path leads nowhere, it is the place
    /// of the last step that was found.
    pub fn place_of<'p>(&self, path: impl IntoIterator<Item = Step<'p>>) -> Place {
        let mut node = self;
        let mut place = self.place;
        for step in path {
            let found = match step {
                Step::Key(key) => node
                    .member(key)
                    .map(|member| (member.key.place, &member.value)),
                Step::Index(index) => node
                    .items()
                    .and_then(|items| items.get(index))
                    .map(|item| (item.place, item)),
            };
            let Some(found) = found else {
                break;
            };
            (place, node) = found;
        }
        place
    }

    /// The kind of value, for messages: `a text`, `a list`, `null`.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(Value::Null) => "null",
            Content::Scalar(Value::Bool(_)) => "a truth value",
            Content::Scalar(Value::Number(_)) => "a number",
            Content::Scalar(_) => "a text",
            Content::List(_) => "a list",
            Content::Mapping(_) => "a mapping",
        }
    }
}

/// The members of a mapping while it is read.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub(crate) list: Vec<Member>,
    /// Their places in the list by their keys.
    places: HashMap<String, usize>,
}

impl Members {
    /// Adds a member as Python's `dict` does: a key that is there keeps its place in the order and takes the later value. Returns
    /// the warning about that.
    pub(crate) fn insert(&mut self, member: Member) -> Option<YamlError> {
        if let Some(index) = self.places.get(&member.key.text) {
            let warning = repeated(&member.key, self.list[*index].key.place);
            self.list[*index] = member;
            return Some(warning);
        }
        self.places.insert(member.key.text.clone(), self.list.len());
        self.list.push(member);
        None
    }
}

/// The warning about a key that occurs twice.
fn repeated(key: &Key, earlier: Place) -> YamlError {
    key.place.error(format!(
        "duplicate key `{}`: this value replaces the one of line {}",
        key.text, earlier.line
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml11;

    #[test]
    fn a_path_leads_to_the_place_of_its_last_step() {
        let root = yaml11::read("a:\n  - x\n  - b: 1\n").unwrap().root;
        let place = |path: &[Step<'_>]| root.place_of(path.iter().copied()).to_string();
        assert_eq!(place(&[Step::Key("a")]), "1:1");
        assert_eq!(place(&[Step::Key("a"), Step::Index(1)]), "3:5");
        let to_b = [Step::Key("a"), Step::Index(1), Step::Key("b")];
        assert_eq!(place(&to_b), "3:5");
        assert_eq!(
            place(&[Step::Key("a"), Step::Index(7)]),
            "1:1",
            "as far as it leads"
        );
        assert_eq!(place(&[Step::Key("c")]), "1:1");
    }
}
