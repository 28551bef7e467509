//! The engines, each as its own documentation says to use it.

mod candle;
mod candle_packed;
mod ort;
mod rten;

use anyhow::Result;

pub(crate) use self::candle::Candle;
pub(crate) use self::candle_packed::CandlePacked;
pub(crate) use self::ort::Ort;
pub(crate) use self::rten::Rten;
use crate::batch::Batch;

/// A model that is loaded.
pub(crate) trait Engine {
    /// The last states of every token, padding too, row after row.
    fn states(&mut self, batch: &Batch) -> Result<Vec<f32>>;
}
