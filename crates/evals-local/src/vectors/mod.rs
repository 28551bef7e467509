//! From the vectors of a text's tokens to the vectors that are compared: pooling, projection, normalisation.

mod dense;
mod pooling;
mod projection;

pub(crate) use dense::{Dense, Subject};
pub(crate) use pooling::normalize;
pub(crate) use projection::Projection;
