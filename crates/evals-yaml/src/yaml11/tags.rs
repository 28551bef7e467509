//! Tags: `!!str` and others of YAML's own.

use std::borrow::Cow;

use granit_parser::{Event, ScalarStyle, Tag};

/// Whether a tag says anything: `!` alone does not.
pub(super) fn is_meant(tag: &Tag) -> bool {
    !matches!(tag.parts(), ("!", "") | ("", "!"))
}

/// The name of one of YAML's own tags: `str` for `!!str`.
pub(super) fn name_of(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

/// The message for a tag that cannot be read.
pub(super) fn unknown_tag(tag: &Tag) -> String {
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
