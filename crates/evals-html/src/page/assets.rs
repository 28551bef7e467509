//! The style sheet and the script of every page.

/// The rules of the page. Those of figures come from [`page_rules`](crate::scene::page_rules).
pub(super) const STYLE: &str = include_str!("../../assets/page.css");

/// The script, as classic scripts one after the other.
pub(super) const SCRIPT: &str = concat!(include_str!("../../assets/page.js"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_them_ends_their_elements() {
        let (script, style) = (SCRIPT.to_lowercase(), STYLE.to_lowercase());
        for end in ["</script", "<!--", "<script"] {
            assert!(!script.contains(end), "{end}");
        }
        assert!(!style.contains("</style"));
    }
}
