//! What a caller knows about measures by their names.

/// What a caller knows about measures by their names. A function that says whether a written name means a title is enough.
pub trait MeasureNames {
    /// Whether a name that the user wrote means the measure with a title.
    fn means(&self, written: &str, title: &str) -> bool;

    /// Whether every value of the score with a title is from 0 to 1, whatever the data. Default: not known.
    fn is_share(&self, _title: &str) -> bool {
        false
    }
}

impl<F: Fn(&str, &str) -> bool> MeasureNames for F {
    fn means(&self, written: &str, title: &str) -> bool {
        self(written, title)
    }
}
