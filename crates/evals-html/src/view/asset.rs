//! The style sheets and scripts that the viewer's pages load.

use crate::scene::page_rules;

/// The media type of scripts.
pub const SCRIPT_TYPE: &str = "text/javascript; charset=utf-8";
/// The media type of style sheets.
pub const STYLE_TYPE: &str = "text/css; charset=utf-8";

/// A file that pages load from `/assets/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Its media type.
    pub media_type: &'static str,
    /// Its text.
    pub text: String,
}

impl Asset {
    /// The file with that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        let (media_type, text) = match name {
            "view.css" => (
                STYLE_TYPE,
                page_rules() + include_str!("../../assets/view/view.css"),
            ),
            "theme.js" => (
                SCRIPT_TYPE,
                concat!(
                    include_str!("../../assets/script/theme.js"),
                    include_str!("../../assets/view/theme.js"),
                )
                .to_owned(),
            ),
            "stream.js" => (
                SCRIPT_TYPE,
                include_str!("../../assets/view/stream.js").to_owned(),
            ),
            "runs.js" => (
                SCRIPT_TYPE,
                include_str!("../../assets/view/runs.js").to_owned(),
            ),
            "live.js" => (
                SCRIPT_TYPE,
                include_str!("../../assets/view/live.js").to_owned(),
            ),
            "element.js" => (
                SCRIPT_TYPE,
                include_str!("../../assets/view/element.js").to_owned(),
            ),
            "labelling.js" => (
                SCRIPT_TYPE,
                concat!(
                    include_str!("../../assets/script/text.js"),
                    include_str!("../../assets/script/diff.js"),
                    include_str!("../../assets/view/labelling.js"),
                )
                .to_owned(),
            ),
            _ => return None,
        };
        Some(Self { media_type, text })
    }
}
