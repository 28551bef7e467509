//! Tests of the public interface.

mod figures;
mod html;
mod page;
#[cfg(feature = "png")]
mod png;
mod samples;
mod synthetic;
mod viewer;
