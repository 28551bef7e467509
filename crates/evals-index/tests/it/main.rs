//! Tests of the public interface: indexes are built, interrupted, opened and searched in temporary folders.
#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    reason = "a test fails if its fixture cannot be made"
)]

mod approximate;
mod batch;
mod building;
mod corpus;
mod cut;
mod damage;
mod depth;
mod filtering;
mod foreign;
mod fuzz;
mod hybrid;
mod interruption;
mod lexical;
#[cfg(feature = "stores")]
#[path = "../../../../tests/it/object_server/mod.rs"]
#[expect(dead_code, reason = "tests of the binary use more of it")]
mod object_server;
#[cfg(feature = "stores")]
mod object_stores;
mod opening;
mod processes;
mod repeatability;
mod semantic;
mod unranked;
mod vectors;
mod versions;
mod words;
