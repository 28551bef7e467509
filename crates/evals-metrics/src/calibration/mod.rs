//! Pass rates that are corrected for the errors of the judge, by labels of people.

mod corrected_change;
mod corrected_rate;
mod double_sampling;
mod judge_labels;
mod no_correction;
mod prediction_powered;
mod rogan_gladen;

pub use corrected_change::{CorrectedChange, JudgedChange, corrected_change};
pub use corrected_rate::CorrectedRate;
pub use double_sampling::double_sampling;
pub use judge_labels::JudgeLabels;
pub use no_correction::NoCorrection;
pub use prediction_powered::{
    LabelledValue, PredictionPowered, prediction_powered, prediction_powered_rate,
};
pub use rogan_gladen::rogan_gladen;
