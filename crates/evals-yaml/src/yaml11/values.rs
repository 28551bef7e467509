//! Values of scalars, lists and mappings with their tags, and the problems found on the way.

use std::borrow::Cow;

use granit_parser::{Event, ScalarStyle, Tag};
use serde_json::Value;

use super::scalar::{Plain, float, integer, resolve, truth};
use crate::error::YamlError;
use crate::node::{Content, Member, Node, Place};

type OptionalTag<'t> = Option<Cow<'t, Tag>>;

/// Makes values, and collects what JSON cannot hold.
#[derive(Default)]
pub(super) struct Values {
    pub(super) errors: Vec<YamlError>,
    pub(super) warnings: Vec<YamlError>,
}

impl Values {
    /// The members that `<<` brings, the strongest last.
    pub(super) fn merge(&mut self, value: &Node) -> Vec<Member> {
        match &value.content {
            Content::Mapping(members) => members.clone(),
            Content::List(items) if items.iter().all(|item| item.members().is_some()) => {
                // The first of several mappings is the strongest.
                let members = items.iter().rev().filter_map(Node::members);
                members.flatten().cloned().collect()
            }
            _ => {
                self.errors.push(
                    value
                        .place
                        .error("`<<` takes a mapping or a list of mappings"),
                );
                Vec::new()
            }
        }
    }

    /// The value of a scalar.
    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        place: Place,
    ) -> Value {
        let Some(tag) = tag else {
            if style != ScalarStyle::Plain {
                return text.into();
            }
            return self.plain(resolve(text), text, place);
        };
        let tagged = match name_of(tag).as_deref() {
            Some("str" | "timestamp" | "value" | "merge") => return text.into(),
            Some("null") => return Value::Null,
            Some("bool") => truth_of_any_case(text).map(Plain::Bool),
            Some("int") => integer(text.trim()),
            Some("float") => float(text.trim()),
            _ => {
                self.errors.push(place.error(unknown_tag(tag)));
                return Value::Null;
            }
        };
        if let Some(plain) = tagged {
            return self.plain(plain, text, place);
        }
        let problem = format!("`{text}` is not a value of the tag `{}`", tag.original());
        self.errors.push(place.error(problem));
        Value::Null
    }

    fn plain(&mut self, plain: Plain, text: &str, place: Place) -> Value {
        match plain {
            Plain::Null => Value::Null,
            Plain::Bool(value) => value.into(),
            Plain::Number(number) => Value::Number(number),
            Plain::Rounded(number) => {
                self.warnings.push(place.rounded(text, &number));
                Value::Number(number)
            }
            Plain::NotFinite => {
                self.errors.push(place.not_finite(text));
                Value::Null
            }
            Plain::Timestamp | Plain::Merge | Plain::Text => text.into(),
        }
    }

    /// The value of a list, or of pairs.
    pub(super) fn list(&mut self, items: Vec<Node>, tag: &OptionalTag<'_>, place: Place) -> Node {
        let is_known = tag
            .as_deref()
            .is_none_or(|tag| matches!(name_of(tag).as_deref(), Some("seq")));
        if is_known {
            let content = Content::List(items);
            return Node { place, content };
        }
        let Some(tag) = tag.as_deref() else {
            return Node::scalar(place, Value::Null);
        };
        if !matches!(name_of(tag).as_deref(), Some("omap" | "pairs")) {
            self.errors.push(place.error(unknown_tag(tag)));
            return Node::scalar(place, Value::Null);
        }
        let mut pairs = Vec::new();
        for item in items {
            let Some([Member { key, value }]) = item.members() else {
                self.errors.push(item.place.error(format!(
                    "an item of `{}` is a mapping with one key",
                    tag.original()
                )));
                continue;
            };
            let key = Node::scalar(key.place, key.text.clone());
            pairs.push(Node {
                place: item.place,
                content: Content::List(vec![key, value.clone()]),
            });
        }
        let content = Content::List(pairs);
        Node { place, content }
    }

    /// The value of a mapping, or of a set.
    pub(super) fn mapping(
        &mut self,
        members: Vec<Member>,
        tag: &OptionalTag<'_>,
        place: Place,
    ) -> Node {
        let content = match tag.as_deref().map(|tag| (tag, name_of(tag))) {
            None => Content::Mapping(members),
            Some((_, Some(name))) if name == "map" => Content::Mapping(members),
            Some((_, Some(name))) if name == "set" => {
                let keys = members.into_iter().map(|member| member.key);
                Content::List(keys.map(|key| Node::scalar(key.place, key.text)).collect())
            }
            Some((tag, _)) => {
                self.errors.push(place.error(unknown_tag(tag)));
                Content::Scalar(Value::Null)
            }
        };
        Node { place, content }
    }
}

/// The value of a `!!bool`, which PyYAML compares in lower case.
fn truth_of_any_case(text: &str) -> Option<bool> {
    truth(&text.to_ascii_lowercase())
}

/// Whether a tag says anything: `!` alone does not.
pub(super) fn is_meant(tag: &Tag) -> bool {
    !matches!(tag.parts(), ("!", "") | ("", "!"))
}

/// The name of one of YAML's own tags: `str` for `!!str`.
fn name_of(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

/// The message for a tag that cannot be read.
fn unknown_tag(tag: &Tag) -> String {
    let name = tag.original();
    match name_of(tag).as_deref() {
        Some("binary") => format!("`{name}`: JSON has no bytes; write the value as a text"),
        _ => format!("the tag `{name}` cannot be read here"),
    }
}

/// Whether a key is `<<`, which merges mappings.
pub(super) fn is_merge(key: &Event<'_>) -> bool {
    match key {
        Event::Scalar(text, ScalarStyle::Plain, _, None) => text == "<<",
        Event::Scalar(_, _, _, Some(tag)) => name_of(tag).as_deref() == Some("merge"),
        _ => false,
    }
}
