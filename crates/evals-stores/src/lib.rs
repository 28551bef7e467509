//! Stores of what models returned: [replies], [vectors] and [scores], so that nobody pays for them twice.
//!
//! Each store stands in front of any model of its kind, behind a server or in the process. All three are files of one kind: a
//! `SQLite` database that several processes may use at a time ([`store`]).

pub mod replies;
pub mod scores;
pub mod store;
pub mod vectors;
