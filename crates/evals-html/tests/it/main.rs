//! Tests of the public interface.

mod figures;
mod samples;
mod viewer;
