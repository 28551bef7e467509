//! Tests of the framework through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accuracy;
mod analyses;
mod change;
mod clusters;
mod compared;
mod comparison;
mod concerns;
mod current;
mod experiment;
mod facts;
mod fakes;
mod fuzz;
mod gate;
mod groups;
mod joined;
mod journal;
mod judging;
mod lifecycle;
mod observers;
mod pair_testing;
mod pooling;
mod regression;
mod rendering;
mod reports;
mod retries;
mod scratch;
mod standings;
mod stopping;
mod summary;
mod tail;
mod timeouts;
mod topics;
