//! An index from outside: built, interrupted, opened and searched in folders of its own.
#![recursion_limit = "256"]
#![expect(
    clippy::unwrap_used,
    reason = "a test whose fixture cannot be made has failed"
)]

mod building;
mod corpus;
mod cut;
mod damage;
mod depth;
mod filtering;
mod fuzz;
mod hybrid;
mod interruption;
mod lexical;
mod opening;
mod processes;
mod repeatability;
mod semantic;
mod unranked;
mod versions;
mod words;
