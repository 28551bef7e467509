//! The engines, each used as its own documentation recommends.

mod candle;
mod candle_packed;
mod ort;
mod rten;

pub(crate) use self::candle::Candle;
pub(crate) use self::candle_packed::CandlePacked;
pub(crate) use self::ort::Ort;
pub(crate) use self::rten::Rten;
