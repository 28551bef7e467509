//! The user's browser, and the file that takes it to the server.
//!
//! Other users of the machine see the command line that a browser is started with. The address with its token therefore stands in a
//! file that only this user can read, and the browser is started with the path of the file.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use evals_html::view::ForwardPage;
use evals_messages::chain;
use evals_terminal::Printer;
use tempfile::{Builder, NamedTempFile};

/// Whether to open a browser: a program that reads our output opens the address itself.
pub(super) fn is_wanted(no_open: bool, is_terminal: bool) -> bool {
    !no_open && is_terminal
}

/// Opens an address in the browser, which needs the returned file until the server ends. A failure is a note, because the address is
/// printed anyway.
pub(super) fn open(printer: &Printer, url: &str) -> Option<Forwarder> {
    let opened = try_open(url);
    if let Err(error) = &opened {
        printer.note(&format!(
            "cannot open a browser ({}); open the address yourself",
            chain(error.as_ref())
        ));
    }
    opened.ok()
}

fn try_open(url: &str) -> Result<Forwarder> {
    let forwarder = Forwarder::to(url)?;
    open::that_detached(forwarder.path()).context("no program opens pages")?;
    Ok(forwarder)
}

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

    #[test]
    fn a_browser_opens_only_for_a_user_at_a_terminal() {
        assert!(is_wanted(false, true));
        assert!(!is_wanted(true, true));
        assert!(!is_wanted(false, false));
    }
}
