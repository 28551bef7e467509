//! Builds values from the events of the parser.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::Value;

use super::scalar::{Plain, float, integer, resolve, truth};
use crate::error::YamlError;
use crate::node::{Content, Document, Key, Member, Members, Node, Place, insert, repeated};
use crate::wording::in_plain_words;

/// The deepest nesting. A report that holds a value of this depth is still readable by parsers that stop at 128 levels.
pub(crate) const MOST_LEVELS: usize = 100;

/// What anchors and aliases may repeat in any text, in bytes of their texts; a value counts as [`BYTES_OF_A_VALUE`] more. They
/// may repeat a text's length this many times beside.
const FREELY_REPEATED: usize = 16 << 20;
const TIMES_REPEATED: usize = 100;

const BYTES_OF_A_VALUE: usize = 64;

/// Reads YAML 1.1. Faulty syntax is an error; values that JSON cannot hold are among the document's
/// [errors](Document::errors).
pub fn read(text: &str) -> Result<Document, YamlError> {
    let options = granit_parser::options! { emit_comments: false };
    let mut composer = Composer {
        text,
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        repeated: 0,
        most_repeated: FREELY_REPEATED.saturating_add(text.len().saturating_mul(TIMES_REPEATED)),
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    let root = composer.document()?;
    let Composer {
        mut errors,
        mut warnings,
        ..
    } = composer;
    // A tag or a merge may be found out after what it contains.
    errors.sort_by_key(|error| (error.line, error.column));
    warnings.sort_by_key(|warning| (warning.line, warning.column));
    Ok(Document {
        root,
        errors,
        warnings,
    })
}

struct Composer<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Anchor>,
    repeated: usize,
    most_repeated: usize,
    errors: Vec<YamlError>,
    warnings: Vec<YamlError>,
}

enum Anchor {
    /// Its value is still being read.
    Open,
    Done {
        node: Node,
        size: Size,
    },
}

/// What an alias of a value costs.
#[derive(Clone, Copy)]
struct Size {
    bytes: usize,
    levels: usize,
}

type OptionalTag<'t> = Option<Cow<'t, Tag>>;

impl<'t> Composer<'t> {
    fn document(&mut self) -> Result<Node, YamlError> {
        let mut root = None;
        while let Some((event, span)) = self.next()? {
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_some() => {
                    return Err(place(&span).error(
                        "more than one YAML document: only one is read, so nothing can follow `---`",
                    ));
                }
                Event::DocumentStart(..) => {
                    let (event, span) = self.expect()?;
                    root = Some(self.node(event, &span, 1)?);
                }
                _ => break,
            }
        }
        Ok(root.unwrap_or(Node::scalar(Place::START, Value::Null)))
    }

    /// The next event that is no comment.
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, YamlError> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(Some(next)),
            Some(Err(error)) => Err(syntax(&error)),
            None => Ok(None),
        }
    }

    fn expect(&mut self) -> Result<(Event<'t>, Span), YamlError> {
        let next = self.next()?;
        next.ok_or_else(|| Place::START.error("the text ends where a value is expected"))
    }

    fn node(&mut self, event: Event<'t>, span: &Span, level: usize) -> Result<Node, YamlError> {
        let place = place(span);
        if level > MOST_LEVELS {
            return Err(place.error(format!("nested more than {MOST_LEVELS} levels deep")));
        }
        let is_meant = |tag: &Cow<'_, Tag>| !matches!(tag.parts(), ("!", "") | ("", "!"));
        let (node, anchor) = match event {
            Event::Alias(id) => return self.alias(id, place, level),
            Event::Scalar(text, style, anchor, tag) => {
                let text = self.as_pyyaml_scans(&text, style, span);
                // PyYAML resolves a text with the tag `!` as one without quotes.
                let is_resolved = tag.as_ref().is_some_and(|tag| !is_meant(tag));
                let style = if is_resolved {
                    ScalarStyle::Plain
                } else {
                    style
                };
                let tag = tag.filter(is_meant);
                let value = self.scalar(&text, style, tag.as_deref(), place);
                (Node::scalar(place, value), anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(anchor);
                let items = self.items(level)?;
                (self.list(items, &tag.filter(is_meant), place), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(anchor);
                let members = self.members(level)?;
                (self.mapping(members, &tag.filter(is_meant), place), anchor)
            }
            _ => return Err(place.error("a value is expected here")),
        };
        if anchor != 0 {
            let size = size(&node);
            self.repeat(size, place)?;
            let node = node.clone();
            self.anchors.insert(anchor, Anchor::Done { node, size });
        }
        Ok(node)
    }

    /// The text of a scalar where the parser and PyYAML differ: a block at the end of a text that ends without a line break has none
    /// either, and the line and paragraph separators of Unicode are line breaks, around which blanks do not count. In double quotes,
    /// PyYAML writes them as escapes.
    fn as_pyyaml_scans<'s>(
        &self,
        scalar: &'s str,
        style: ScalarStyle,
        span: &Span,
    ) -> Cow<'s, str> {
        match style {
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let end = span.end.byte_offset();
                let is_last = end.is_none_or(|end| end >= self.text.len());
                let last_line = self.text.rsplit('\n').next().unwrap_or_default();
                let is_cut_off = is_last && !last_line.trim().is_empty();
                let without = scalar.strip_suffix('\n').filter(|_| is_cut_off);
                Cow::Borrowed(without.unwrap_or(scalar))
            }
            ScalarStyle::Plain | ScalarStyle::SingleQuoted if scalar.contains(SEPARATORS) => {
                Cow::Owned(without_blanks_around_separators(scalar))
            }
            _ => Cow::Borrowed(scalar),
        }
    }

    fn open(&mut self, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor::Open);
        }
    }

    fn alias(&mut self, id: usize, place: Place, level: usize) -> Result<Node, YamlError> {
        match self.anchors.get(&id) {
            Some(Anchor::Done { node, size }) => {
                if level - 1 + size.levels > MOST_LEVELS {
                    return Err(place.error(format!(
                        "nested more than {MOST_LEVELS} levels deep by this alias"
                    )));
                }
                let content = node.content.clone();
                let size = *size;
                self.repeat(size, place)?;
                Ok(Node { place, content })
            }
            Some(Anchor::Open) => {
                Err(place.error("this alias stands inside the value that it repeats"))
            }
            None => Err(place.error(UNKNOWN_ALIAS)),
        }
    }

    /// Counts a copy of a value.
    fn repeat(&mut self, size: Size, place: Place) -> Result<(), YamlError> {
        self.repeated = self.repeated.saturating_add(size.bytes);
        if self.repeated > self.most_repeated {
            return Err(place.error(format!(
                "the anchors and aliases up to here repeat more than {} MB; write the values without them",
                self.most_repeated >> 20
            )));
        }
        Ok(())
    }

    fn items(&mut self, level: usize) -> Result<Vec<Node>, YamlError> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.expect()?;
            if event == Event::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(event, &span, level + 1)?);
        }
    }

    fn members(&mut self, level: usize) -> Result<Vec<Member>, YamlError> {
        let mut own = Vec::new();
        let mut merged = Vec::new();
        loop {
            let (event, span) = self.expect()?;
            if event == Event::MappingEnd {
                break;
            }
            let merges = is_merge(&event);
            let key = if merges {
                None
            } else {
                self.key(event, &span, level)?
            };
            let (event, value_span) = self.expect()?;
            let value = self.node(event, &value_span, level + 1)?;
            if merges {
                merged.extend(self.merge(&value));
            } else if let Some(key) = key {
                own.push(Member { key, value });
            }
        }
        let mut members = Members::default();
        for member in merged {
            insert(&mut members, member);
        }
        let mut seen = HashMap::new();
        for member in own {
            if let Some(earlier) = seen.insert(member.key.text.clone(), member.key.place) {
                self.warnings.push(repeated(&member.key, earlier));
            }
            insert(&mut members, member);
        }
        Ok(members.list)
    }

    /// The members that `<<` brings, the strongest last.
    fn merge(&mut self, value: &Node) -> Vec<Member> {
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

    /// The key of a member; `None` for one that was refused.
    fn key(
        &mut self,
        event: Event<'t>,
        span: &Span,
        level: usize,
    ) -> Result<Option<Key>, YamlError> {
        let is_timestamp = matches!(
            &event,
            Event::Scalar(text, ScalarStyle::Plain, _, None) if resolve(text) == Plain::Timestamp
        );
        let node = self.node(event, span, level + 1)?;
        let key = |text: String, is_text| {
            Ok(Some(Key {
                text,
                is_text,
                place: node.place,
            }))
        };
        match &node.content {
            Content::Scalar(Value::String(text)) => key(text.clone(), !is_timestamp),
            Content::Scalar(other) => key(other.to_string(), false),
            Content::List(_) | Content::Mapping(_) => {
                self.errors.push(node.place.error(format!(
                    "{} cannot be a key; if this is a text, put it into quotes",
                    node.kind()
                )));
                Ok(None)
            }
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, place: Place) -> Value {
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
        let problem = format!("`{text}` is no value of the tag `{}`", tag.original());
        self.errors.push(place.error(problem));
        Value::Null
    }

    fn plain(&mut self, plain: Plain, text: &str, place: Place) -> Value {
        match plain {
            Plain::Null => Value::Null,
            Plain::Bool(value) => value.into(),
            Plain::Number(number) => Value::Number(number),
            Plain::Rounded(number) => {
                self.warnings.push(rounded(text, &number, place));
                Value::Number(number)
            }
            Plain::NotFinite => {
                self.errors.push(not_finite(text, place));
                Value::Null
            }
            Plain::Timestamp | Plain::Merge | Plain::Text => text.into(),
        }
    }

    fn list(&mut self, items: Vec<Node>, tag: &OptionalTag<'t>, place: Place) -> Node {
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

    fn mapping(&mut self, members: Vec<Member>, tag: &OptionalTag<'t>, place: Place) -> Node {
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

const UNKNOWN_ALIAS: &str = "this `*` refers to a name that no `&` defines";

/// The characters that YAML 1.1 takes for line breaks and YAML 1.2 does not, and that stay in a text.
const SEPARATORS: [char; 2] = ['\u{2028}', '\u{2029}'];

fn without_blanks_around_separators(scalar: &str) -> String {
    const BLANKS: [char; 2] = [' ', '\t'];
    let mut text = String::with_capacity(scalar.len());
    for (index, part) in scalar.split_inclusive(SEPARATORS).enumerate() {
        let part = if index == 0 {
            part
        } else {
            part.trim_start_matches(BLANKS)
        };
        match part.strip_suffix(SEPARATORS) {
            Some(body) => {
                text.push_str(body.trim_end_matches(BLANKS));
                text.push_str(&part[body.len()..]);
            }
            None => text.push_str(part),
        }
    }
    text
}

fn place(span: &Span) -> Place {
    place_at(span.start)
}

fn place_at(marker: granit_parser::Marker) -> Place {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Place {
        line: number(marker.line()).max(1),
        column: number(marker.col()).saturating_add(1),
    }
}

fn syntax(error: &ScanError) -> YamlError {
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => UNKNOWN_ALIAS.to_owned(),
        kind => in_plain_words(&kind.to_string()),
    };
    place_at(*error.marker()).error(message)
}

fn is_merge(key: &Event<'_>) -> bool {
    match key {
        Event::Scalar(text, ScalarStyle::Plain, _, None) => text == "<<",
        Event::Scalar(_, _, _, Some(tag)) => name_of(tag).as_deref() == Some("merge"),
        _ => false,
    }
}

/// The name of one of YAML's own tags: `str` for `!!str`.
fn name_of(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

fn unknown_tag(tag: &Tag) -> String {
    let name = tag.original();
    match name_of(tag).as_deref() {
        Some("binary") => format!("`{name}`: JSON has no bytes; write the value as a text"),
        _ => format!("the tag `{name}` cannot be read here"),
    }
}

/// What `!!bool` takes, which PyYAML compares in lower case.
fn truth_of_any_case(text: &str) -> Option<bool> {
    truth(&text.to_ascii_lowercase())
}

pub(crate) fn not_finite(text: &str, place: Place) -> YamlError {
    place.error(format!(
        "`{text}` is no finite number, and JSON, in which cases are sent and stored, has no other; write `null`, or put it into quotes"
    ))
}

pub(crate) fn rounded(text: &str, number: &serde_json::Number, place: Place) -> YamlError {
    place.error(format!(
        "the integer `{text}` does not fit into 64 bits and is read as {number}; put it into quotes to keep its digits"
    ))
}

fn size(node: &Node) -> Size {
    match &node.content {
        Content::Scalar(value) => Size {
            bytes: BYTES_OF_A_VALUE + value.as_str().map_or(0, str::len),
            levels: 1,
        },
        Content::List(items) => items.iter().map(size).fold(Size::EMPTY, Size::with),
        Content::Mapping(members) => members
            .iter()
            .map(|member| {
                let Size { bytes, levels } = size(&member.value);
                let bytes = bytes.saturating_add(member.key.text.len());
                Size { bytes, levels }
            })
            .fold(Size::EMPTY, Size::with),
    }
}

impl Size {
    /// That of an empty list.
    const EMPTY: Self = Self {
        bytes: BYTES_OF_A_VALUE,
        levels: 1,
    };

    /// Adds a value inside the list.
    fn with(self, inside: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(inside.bytes),
            levels: self.levels.max(inside.levels + 1),
        }
    }
}
