//! The content security policy of a page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::assets;

/// The content security policy that every page contains, for servers that send it as a header, too.
pub fn page_policy() -> String {
    policy(assets::SCRIPT, &assets::style())
}

/// Allows this script and this style sheet and nothing else: no network, no handlers in attributes, no HTML made from text.
pub(super) fn policy(script: &str, style: &str) -> String {
    let [script, style] = [script, style].map(|source| STANDARD.encode(Sha256::digest(source)));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
}
