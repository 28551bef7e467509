/// Whether what is stored is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshPolicy {
    /// What is stored is used where it is there.
    #[default]
    Reuse,
    /// The model is always asked, and what it says takes the place of what is stored.
    Refresh,
}
