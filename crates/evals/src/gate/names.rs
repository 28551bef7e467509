//! What a caller knows about measures by their names.

/// What a caller knows about measures by their names. A function that says whether a written name means a title is enough.
pub trait MeasureNames {
    /// Whether a name that the user wrote means the measure with a title.
    fn means(&self, written: &str, title: &str) -> bool;
}

impl<F: Fn(&str, &str) -> bool> MeasureNames for F {
    fn means(&self, written: &str, title: &str) -> bool {
        self(written, title)
    }
}
