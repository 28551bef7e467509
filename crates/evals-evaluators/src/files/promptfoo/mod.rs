//! Tables of promptfoo.

mod check;
mod kinds;
mod table;

pub(super) use table::read;
