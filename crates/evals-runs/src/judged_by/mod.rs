//! Who judged the measures of a run. Gates, calibrations, labels and pages compare judges by this one record.

mod record;
mod records;

pub use self::record::{JudgeRecord, PanelMember};
pub use self::records::{JudgeRecords, enter_unsigned};
