//! The style sheet and the script of every page.

/// The rules of the page. Those of figures come from [`page_rules`](crate::scene::page_rules).
pub(super) const STYLE: &str = include_str!("../../assets/page.css");

/// The script, as classic scripts one after the other.
pub(super) const SCRIPT: &str = concat!(include_str!("../../assets/page.js"));
