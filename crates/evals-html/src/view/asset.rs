//! The style sheets and scripts that the viewer's pages load.

use crate::scene::page_rules;

/// The media type of scripts.
pub const SCRIPT_TYPE: &str = "text/javascript; charset=utf-8";
/// The media type of style sheets.
pub const STYLE_TYPE: &str = "text/css; charset=utf-8";

/// These files, one after the other.
macro_rules! text {
    ($($file:literal),+) => {
        concat!($(include_str!(concat!("../../assets/", $file))),+).to_owned()
    };
}

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
        let text = match name {
            "view.css" => page_rules() + include_str!("../../assets/view/view.css"),
            "theme.js" => text!("script/theme.js", "view/theme.js"),
            "stream.js" => text!("view/stream.js"),
            "runs.js" => text!("view/runs.js"),
            "live.js" => text!("view/live.js"),
            "element.js" => text!("view/element.js"),
            "labelling.js" => text!(
                "script/text.js",
                "script/diff.js",
                "view/working.js",
                "view/labelling.js"
            ),
            "reviewing.js" => text!("script/text.js", "view/working.js", "view/reviewing.js"),
            _ => return None,
        };
        let is_style = name == "view.css";
        let media_type = if is_style { STYLE_TYPE } else { SCRIPT_TYPE };
        Some(Self { media_type, text })
    }
}
