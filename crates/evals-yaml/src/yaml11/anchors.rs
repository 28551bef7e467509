//! Anchors and aliases: the values that a text repeats, within limits.

use std::collections::HashMap;

use crate::error::YamlError;
use crate::node::{Content, MOST_LEVELS, Node, Place};

/// Most bytes that the aliases of any text may repeat. A value counts as [`BYTES_OF_A_VALUE`] besides its text.
const FREELY_REPEATED: usize = 16 << 20;
/// The multiple of a text's length that its aliases may repeat in addition.
const TIMES_REPEATED: usize = 100;

const BYTES_OF_A_VALUE: usize = 64;

/// The message for an alias of a name that no anchor has.
pub(super) const UNKNOWN_ALIAS: &str = "this `*` refers to a name that no `&` defines";

/// The values that aliases can repeat, by the parser's number of their anchor; 0 stands for none.
pub(super) struct Anchors {
    values: HashMap<usize, Anchor>,
    repeated: usize,
    most_repeated: usize,
}

enum Anchor {
    /// Its value is still being read.
    Open,
    Done {
        node: Node,
        size: Size,
    },
}

/// The size of the value that an alias repeats.
#[derive(Clone, Copy)]
struct Size {
    bytes: usize,
    levels: usize,
}

impl Anchors {
    /// The anchors of a text of this many bytes.
    pub(super) fn of_text(bytes: usize) -> Self {
        Self {
            values: HashMap::new(),
            repeated: 0,
            most_repeated: FREELY_REPEATED.saturating_add(bytes.saturating_mul(TIMES_REPEATED)),
        }
    }

    /// Begins a value that may contain others.
    pub(super) fn open(&mut self, anchor: usize) {
        if anchor != 0 {
            self.values.insert(anchor, Anchor::Open);
        }
    }

    /// Keeps a value for its aliases.
    pub(super) fn keep(&mut self, anchor: usize, node: &Node) -> Result<(), YamlError> {
        if anchor != 0 {
            let size = size(node);
            self.repeat(size, node.place)?;
            let node = node.clone();
            self.values.insert(anchor, Anchor::Done { node, size });
        }
        Ok(())
    }

    /// The value that an alias at this place and level repeats.
    pub(super) fn alias(
        &mut self,
        id: usize,
        place: Place,
        level: usize,
    ) -> Result<Node, YamlError> {
        match self.values.get(&id) {
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
}

fn size(node: &Node) -> Size {
    let inside: Vec<Size> = match &node.content {
        Content::Scalar(_) => Vec::new(),
        Content::List(items) => items.iter().map(size).collect(),
        Content::Mapping(members) => members.iter().map(|member| size(&member.value)).collect(),
    };
    let text = match &node.content {
        Content::Scalar(value) => value.as_str().map_or(0, str::len),
        Content::List(_) => 0,
        Content::Mapping(members) => members.iter().map(|member| member.key.text.len()).sum(),
    };
    Size {
        bytes: inside.iter().fold(BYTES_OF_A_VALUE + text, |bytes, it| {
            bytes.saturating_add(it.bytes)
        }),
        levels: 1 + inside.iter().map(|it| it.levels).max().unwrap_or(0),
    }
}
