//! The figures, each drawn from plain numbers.
//!
//! All of them follow the rules of publications: text of at least 7 points, colours that people with any colour vision can tell
//! apart and never colour alone, labels beside the data, the number of cases and the method in the caption. An undefined value
//! has its reason in words and is never drawn as 0.

mod breakdown;
mod change;
mod distribution;
mod estimates;
mod frame;
mod histogram;
mod labels;
mod precision;
mod trade_off;
mod trend;

pub use breakdown::{Breakdown, Part};
pub use change::{ChangeFigure, MeasuredChange};
pub use distribution::{Distribution, Samples};
pub use estimates::{Estimate, Estimates, Panel, Style};
pub use histogram::Histogram;
pub use labels::distinct;
pub use precision::{PrecisionCurve, RecallPrecision};
pub use trade_off::{TradeOff, TradeOffPoint};
pub use trend::{Trend, TrendPoint};

/// The width of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// One column of a journal, 89 mm.
    Column,
    /// Half of a window, 130 mm: beside another figure on a page, its text is as large as that of the page.
    Screen,
    /// A page of a journal, 183 mm.
    #[default]
    Page,
}

impl Width {
    /// The width in points.
    pub fn points(self) -> f64 {
        let millimetres = match self {
            Self::Column => 89.0,
            Self::Screen => 130.0,
            Self::Page => 183.0,
        };
        millimetres / 25.4 * 72.0
    }
}

/// What every figure has beside its marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The name of the figure, printed above it.
    pub title: String,
    /// The sentences below it: the number of cases, and the method of its intervals.
    pub caption: String,
}
