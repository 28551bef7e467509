//! The user's browser.

use anyhow::{Context as _, Result};
use evals_messages::chain;

use super::forwarder::Forwarder;
use crate::terminal::Printer;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_opens_only_for_a_user_at_a_terminal() {
        assert!(is_wanted(false, true));
        assert!(!is_wanted(true, true));
        assert!(!is_wanted(false, false));
    }
}
