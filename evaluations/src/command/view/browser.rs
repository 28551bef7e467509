//! The user's browser.

use crate::terminal::Printer;

/// Whether to open a browser: a program that reads our output opens the address itself.
pub(super) fn is_wanted(no_open: bool, is_terminal: bool) -> bool {
    !no_open && is_terminal
}

/// Opens an address in the browser. A failure is a note, because the address is printed anyway.
pub(super) fn open(printer: &Printer, url: &str) {
    if let Err(error) = open::that_detached(url) {
        printer.note(&format!(
            "cannot open a browser ({error}); open the address yourself"
        ));
    }
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
