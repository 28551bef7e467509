//! Figures of reports, drawn as SVG, and pages of reports.
//!
//! A figure takes plain numbers, [draws](figure::Estimates::draw) a [`Scene`](scene::Scene) of marks, and the scene writes itself
//! as [SVG](scene::Scene::svg): as a file, or as part of a page. Equal numbers give equal bytes.
//!
//! ```
//! use evals::Unit;
//! use evals_html::figure::{Estimate, Estimates, Heading, Panel, Style, Width};
//! use evals_html::scene::SvgUse;
//!
//! let estimate = |label: &str, value, interval, series| Estimate {
//!     label: label.to_owned(),
//!     value: Ok(value),
//!     interval: Some(interval),
//!     series,
//! };
//! let figure = Estimates {
//!     heading: Heading {
//!         title: "Mean reciprocal rank".to_owned(),
//!         caption: "256 questions; 95 % bootstrap intervals.".to_owned(),
//!     },
//!     panels: vec![Panel {
//!         name: "RR@5".to_owned(),
//!         unit: Unit::Score,
//!         estimates: vec![
//!             estimate("bm25", 0.7012, (0.655, 0.742), 0),
//!             estimate("hybrid", 0.7739, (0.734, 0.811), 1),
//!         ],
//!     }],
//!     style: Style::Dots,
//! };
//! let svg = figure.draw(Width::Column).svg(SvgUse::File);
//! assert!(svg.contains("bm25 0.7012, 0.6550 to 0.7420; hybrid 0.7739"));
//! ```

mod escaping;
pub mod figure;
pub mod page;
pub mod scale;
pub mod scene;
pub mod view;
