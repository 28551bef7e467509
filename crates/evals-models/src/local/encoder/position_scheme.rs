use std::sync::Arc;

use super::rotary::Rotary;

/// How attention knows where tokens are.
#[derive(Debug)]
pub(in crate::local) enum PositionScheme {
    /// From the vectors that tokens start with.
    Absolute,
    /// Queries and keys are turned by their positions.
    Rotary(Arc<Rotary>),
}
