//! The style sheet and the script of every page. Nothing builds them: the files under `assets` are what a page contains.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::scene::page_rules;

/// All rules of a page: those of figures, and its own.
pub(super) fn style() -> String {
    page_rules() + STYLE
}

/// The rules of the page. Those of figures come from [`page_rules`](crate::scene::page_rules).
pub(super) const STYLE: &str = include_str!("../../assets/page.css");

macro_rules! joined {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        concat!($(include_str!(concat!("../../assets/", $folder, "/", $file)), "\n"),+)
    };
}

/// Classic scripts, one after the other: the libraries as their packages hold them, then our own, which share one scope.
pub(super) const SCRIPT: &str = concat!(
    joined!("script": "licences.js"),
    joined!("vendor": "preact.umd.js", "hooks.umd.js", "htm.umd.js"),
    "(() => {\n\"use strict\";\n",
    joined!(
        "script": "base.js", "text.js", "diff.js", "blocks.js", "address.js", "columns.js", "filters.js", "search.js", "csv.js",
        "theme.js", "table.js", "toolbar.js", "run.js", "case.js", "page.js",
    ),
    "})();\n"
);

/// The content security policy that every page contains, for servers that send it as a header, too.
pub fn page_policy() -> String {
    policy(SCRIPT, &style())
}

/// Allows this script and this style sheet and nothing else: no network, no handlers in attributes, no HTML made from text.
pub(super) fn policy(script: &str, style: &str) -> String {
    let [script, style] = [script, style].map(|source| STANDARD.encode(Sha256::digest(source)));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn nothing_in_them_ends_their_elements() {
        let (script, style) = (SCRIPT.to_lowercase(), STYLE.to_lowercase());
        for end in ["</script", "<!--", "<script"] {
            assert!(!script.contains(end), "{end}");
        }
        assert!(!style.contains("</style"));
    }

    #[test]
    fn a_page_carries_at_most_110_kilobytes_of_them() {
        let bytes = SCRIPT.len() + STYLE.len() + page_rules().len();
        assert!(bytes <= 110_000, "{bytes} bytes");
    }

    #[test]
    fn a_page_contains_every_script() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/script");
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let is_shipped = path.extension().is_some_and(|it| it == "js");
            assert_eq!(SCRIPT.contains(&text), is_shipped, "{}", path.display());
        }
    }

    #[test]
    fn vendored_files_are_what_their_packages_hold() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/vendor");
        let list = fs::read_to_string(folder.join("VENDOR.toml")).unwrap();
        let listed: BTreeMap<String, String> = list
            .split("[[file]]")
            .skip(1)
            .map(|file| {
                (
                    value(file, "file").to_owned(),
                    value(file, "sha256").to_owned(),
                )
            })
            .collect();
        let found: BTreeMap<String, String> = fs::read_dir(&folder)
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "js"))
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let digest = Sha256::digest(fs::read(&path).unwrap());
                (name, hexadecimal(&digest))
            })
            .collect();
        assert_eq!(listed, found);
    }

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    }

    fn value<'t>(table: &'t str, key: &str) -> &'t str {
        let start = format!("{key} = \"");
        let line = table.lines().find_map(|line| line.strip_prefix(&start));
        line.and_then(|rest| rest.strip_suffix('"'))
            .expect("the key is there")
    }
}
