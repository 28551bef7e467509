//! The file that takes the user's browser to the server.
//!
//! Other users of the machine see the command line that a browser is started with. The address with its token therefore stands in a
//! file that only this user can read, and the browser is started with the path of the file.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use evals_html::view::ForwardPage;
use tempfile::{Builder, NamedTempFile};

/// A page in the folder of temporary files that goes on to an address. The file ends with the value.
#[derive(Debug)]
pub(super) struct Forwarder(NamedTempFile);

impl Forwarder {
    pub(super) fn to(url: &str) -> Result<Self> {
        let page = ForwardPage {
            address: url.to_owned(),
        };
        // The file is made for this user alone.
        let mut file = Builder::new()
            .prefix("evaluations-view-")
            .suffix(".html")
            .tempfile()
            .context("cannot make a temporary file")?;
        file.write_all(page.html()?.as_bytes())
            .with_context(|| format!("cannot write `{}`", file.path().display()))?;
        Ok(Self(file))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_names_the_address_and_ends_with_the_value() {
        let forwarder = Forwarder::to("http://127.0.0.1:8123/0123/").unwrap();
        let path = forwarder.path().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace("&#x2f;", "/");
        assert!(text.contains("8123/0123/"), "{text}");
        drop(forwarder);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn only_this_user_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let forwarder = Forwarder::to("http://127.0.0.1:8123/").unwrap();
        let mode = fs::metadata(forwarder.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
