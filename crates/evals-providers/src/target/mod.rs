//! Targets behind a server: systems under test that are asked over HTTP.

mod http_target;
mod request;

pub use http_target::HttpTarget;
