//! `--batch`: gets answers and verdicts from the batch endpoints of servers.

mod host;
mod open;
mod plan;
mod prices;
mod searcher;

pub(crate) use self::open::Batches;
pub(crate) use self::plan::{Caller, case_timeout, concurrency, fact, layer, plan};
pub(crate) use self::prices::{discounted, note};
pub(crate) use self::searcher::limited;
