//! A span with its place in the tree.

use evals::{Span, SpanTree};

use crate::python::PatternError;

/// A span and the spans around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) span: &'a Span,
    parent: Option<&'a Node<'a>>,
}

/// A property of spans. Finding out may fail.
pub(super) type Property<'f> = dyn Fn(&Node<'_>) -> Result<bool, PatternError> + 'f;

impl<'a> Node<'a> {
    /// Whether any span of the tree has the property.
    pub(super) fn any_in(tree: &SpanTree, holds: &Property<'_>) -> Result<bool, PatternError> {
        for span in &tree.roots {
            let root = Node { span, parent: None };
            if holds(&root)? || root.any_descendant(&|_| Ok(false), holds)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether any child has the property.
    pub(super) fn any_child(&self, holds: &Property<'_>) -> Result<bool, PatternError> {
        for span in &self.span.children {
            let child = Node {
                span,
                parent: Some(self),
            };
            if holds(&child)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether any descendant has the property. The spans inside one that `stops` do not count.
    pub(super) fn any_descendant(
        &self,
        stops: &Property<'_>,
        holds: &Property<'_>,
    ) -> Result<bool, PatternError> {
        self.any_child(&|child| {
            Ok(holds(child)? || (!stops(child)? && child.any_descendant(stops, holds)?))
        })
    }

    /// Whether any ancestor has the property, the parent first. The spans around one that `stops` do not count.
    pub(super) fn any_ancestor(
        &self,
        stops: &Property<'_>,
        holds: &Property<'_>,
    ) -> Result<bool, PatternError> {
        for ancestor in self.ancestors() {
            if holds(ancestor)? {
                return Ok(true);
            }
            if stops(ancestor)? {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// The depth of this span: the number of its ancestors, 0 for a root.
    pub(super) fn depth(&self) -> usize {
        self.ancestors().count()
    }

    /// How many spans there are inside this one, at any depth.
    pub(super) fn descendant_count(&self) -> usize {
        fn count(span: &Span) -> usize {
            span.children.iter().map(|child| 1 + count(child)).sum()
        }
        count(self.span)
    }

    fn ancestors(&self) -> impl Iterator<Item = &'a Node<'a>> {
        std::iter::successors(self.parent, |node| node.parent)
    }
}
