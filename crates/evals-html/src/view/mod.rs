//! Pages of the local viewer: the stored runs, a running run, a measure over time, and what people label or review.
//!
//! A page is filled in from plain texts and rendered to HTML that works without scripts. Every text is escaped, and characters that
//! change the direction of text or control a terminal are shown as escapes.

mod asset;
mod labelling;
mod link;
mod live;
mod message;
mod reviewing;
mod runs;
mod sparkline;
mod template;
mod trend;

pub use asset::{Asset, SCRIPT_TYPE, STYLE_TYPE};
pub use labelling::LabellingPage;
pub use link::{Link, segment, up};
pub use live::{LiveMeasure, LivePage, LiveProgress};
pub use message::{ForwardPage, MessagePage};
pub use reviewing::{Reviewed, ReviewingPage};
pub use runs::{BrokenRow, Choice, Filter, Reading, RowChange, RunRow, RunsPage, StateKind};
pub use sparkline::Sparkline;
pub use template::{TemplateError, render};
pub use trend::{TrendLine, TrendPage, TrendRow};
