//! Tests of the public interface.

mod figures;
mod html;
mod page;
mod samples;
mod synthetic;
mod viewer;
