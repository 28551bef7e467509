//! YAML 1.1 as Python's `yaml.safe_load` reads it.
//!
//! The syntax is the parser's, YAML 1.2 with the leniency of PyYAML; what a plain scalar means is YAML 1.1: `yes` is true,
//! `1:30` is 90, `010` is 8, `1e3` and `0o10` are texts. The result has to fit into JSON, so some values differ:
//!
//! - dates and times stay the text that was written;
//! - `.nan` and `.inf`, also of a number that is too large, are errors;
//! - integers beyond 64 bits become the nearest floating-point number, with a warning;
//! - `!!binary` is an error, `!!set` becomes the list of its members, `!!omap` and `!!pairs` lists of pairs;
//! - a key that is not a text becomes one: `1`, `true`, `null`;
//! - a plain `=`, and numbers without a digit such as `0x_`, are texts, where PyYAML gives up.
//!
//! Where a break is a line or paragraph separator of Unicode (U+2028, U+2029), only quoted and plain texts agree with PyYAML; it
//! ends no comment here. A mapping in braces needs a blank or a quote between a key's colon and its value: `{a: {b: 1}}`, where
//! PyYAML also takes `{a:{b: 1}}`. The lines of a text in quotes must be indented more than their block.
//!
//! A key that occurs twice takes its last value, with a warning. Aliases and merge keys work; an alias inside the value that
//! it repeats is an error, and so are aliases that together repeat more than 16 MB and
//! a hundred times the length of the text.

mod anchors;
mod breaks;
mod scalar;
mod scanned_text;
mod values;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::Value;

use self::anchors::{Anchors, UNKNOWN_ALIAS};
use self::breaks::with_breaks_of_yaml11;
use self::scalar::{Plain, resolve};
use self::scanned_text::as_pyyaml_scans;
use self::values::{Values, is_meant, is_merge};
use crate::error::{YamlError, in_plain_words};
use crate::node::{Content, Document, Key, MOST_LEVELS, Member, Members, Node, Place};

/// Reads YAML 1.1. Faulty syntax is an error; values that JSON cannot hold are among the document's
/// [errors](Document::errors).
pub fn read(text: &str) -> Result<Document, YamlError> {
    let text = &*with_breaks_of_yaml11(text);
    let options = granit_parser::options! { emit_comments: false };
    let mut composer = Composer {
        text,
        parser: Parser::new_from_str_with_options(text, options),
        anchors: Anchors::of_text(text.len()),
        values: Values::default(),
    };
    let root = composer.document()?;
    let Values {
        mut errors,
        mut warnings,
    } = composer.values;
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
    anchors: Anchors,
    values: Values,
}

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
        let (node, anchor) = match event {
            Event::Alias(id) => return self.anchors.alias(id, place, level),
            Event::Scalar(text, style, anchor, tag) => {
                let text = as_pyyaml_scans(self.text, &text, style, span);
                // PyYAML resolves a text with the tag `!` as one without quotes.
                let is_resolved = tag.as_ref().is_some_and(|tag| !is_meant(tag));
                let style = if is_resolved {
                    ScalarStyle::Plain
                } else {
                    style
                };
                let tag = tag.filter(|tag| is_meant(tag));
                let value = self.values.scalar(&text, style, tag.as_deref(), place);
                (Node::scalar(place, value), anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.anchors.open(anchor);
                let items = self.items(level)?;
                (
                    self.values
                        .list(items, &tag.filter(|tag| is_meant(tag)), place),
                    anchor,
                )
            }
            Event::MappingStart(_, anchor, tag) => {
                self.anchors.open(anchor);
                let members = self.members(level)?;
                (
                    self.values
                        .mapping(members, &tag.filter(|tag| is_meant(tag)), place),
                    anchor,
                )
            }
            _ => return Err(place.error("a value is expected here")),
        };
        self.anchors.keep(anchor, &node)?;
        Ok(node)
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
        let mut own = Members::default();
        let mut members = Members::default();
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
                for member in self.values.merge(&value) {
                    members.insert(member);
                }
            } else if let Some(key) = key {
                let warning = own.insert(Member { key, value });
                self.values.warnings.extend(warning);
            }
        }
        // The mapping's own members replace those that it merges.
        if members.list.is_empty() {
            return Ok(own.list);
        }
        for member in own.list {
            members.insert(member);
        }
        Ok(members.list)
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
                self.values.errors.push(node.place.error(format!(
                    "{} cannot be a key; if this is a text, put it into quotes",
                    node.kind()
                )));
                Ok(None)
            }
        }
    }
}

/// Where a span begins.
fn place(span: &Span) -> Place {
    place_at(span.start)
}

fn place_at(marker: Marker) -> Place {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Place {
        line: number(marker.line()).max(1),
        column: number(marker.col()).saturating_add(1),
    }
}

/// An error of the parser.
fn syntax(error: &ScanError) -> YamlError {
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => UNKNOWN_ALIAS.to_owned(),
        kind => in_plain_words(&kind.to_string()),
    };
    place_at(*error.marker()).error(message)
}
