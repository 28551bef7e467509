//! Links that a terminal opens, written as OSC 8 escape sequences.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Text that links to a file.
pub(crate) fn to_file(text: &str, path: &Path) -> String {
    let is_remote = is_remote(|name| env::var_os(name));
    let host = is_remote.then(host_name).flatten();
    linked(text, path, &host.unwrap_or_default())
}

/// Text that links to a file of a host, or with an empty name, of the machine that the terminal is on.
fn linked(text: &str, path: &Path, host: &str) -> String {
    let Some(address) = address(path, host) else {
        return text.to_owned();
    };
    // A string terminator ends each sequence; some terminals do not take a bell instead.
    format!("\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\")
}

/// Whether the terminal is on another machine, where a path of this one leads to another file or to none. Programs that set
/// `TERM_PROGRAM` in a session over SSH, such as VS Code, open files of this machine.
fn is_remote(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    variable("SSH_CONNECTION").is_some() && variable("TERM_PROGRAM").is_none()
}

/// The name of this machine; `None` where the program cannot ask for it.
fn host_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (!name.is_empty() && name.bytes().all(is_plain)).then(|| name.to_owned())
}

/// The `file://` address of a path; `None` if the path has no absolute form.
fn address(path: &Path, host: &str) -> Option<String> {
    let absolute = std::path::absolute(path).ok()?;
    let mut address = format!("file://{host}");
    if cfg!(windows) {
        address.push('/');
    }
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b':' if cfg!(windows) => address.push(':'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(*byte));
            }
            _ => write!(address, "%{byte:02X}").expect("a string takes any text"),
        }
    }
    Some(address)
}

/// Whether the terminal that these environment variables describe opens links. A terminal that does not know the sequence may print it,
/// so only terminals that are known to support it get one.
///
/// `FORCE_HYPERLINK` overrides the other variables: `0` turns links off, any other value turns them on.
pub(crate) fn supported(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_one_of = |name: &str, known: &[&str]| {
        variable(name).is_some_and(|value| known.iter().any(|known| value == OsStr::new(known)))
    };
    let is_at_least = |name: &str, least: u32| {
        let value = variable(name).and_then(|value| value.to_str()?.parse::<u32>().ok());
        value.is_some_and(|value| value >= least)
    };
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return forced != "0";
    }
    if is_one_of("TERM", &["dumb"]) || is_set("CI") {
        return false;
    }
    if is_remote(&variable) && host_name().is_none() {
        return false;
    }
    is_one_of("TERM", TERMS)
        || is_one_of("TERM_PROGRAM", PROGRAMS)
        || is_one_of("COLORTERM", &["xfce4-terminal"])
        // GNOME Terminal and others on VTE; earlier versions crash on some links.
        || is_at_least("VTE_VERSION", 5000)
        || ["DOMTERM", "KONSOLE_VERSION", "WT_SESSION"].into_iter().any(is_set)
}

/// Values of `TERM` of terminals that open links.
const TERMS: &[&str] = &[
    "alacritty",
    "alacritty-direct",
    "foot",
    "foot-extra",
    "xterm-ghostty",
    "xterm-kitty",
];

/// Values of `TERM_PROGRAM` of terminals that open links.
const PROGRAMS: &[&str] = &[
    "Hyper",
    "WezTerm",
    "ghostty",
    "iTerm.app",
    "rio",
    "terminology",
    "vscode",
    "zed",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> bool {
        supported(|name| {
            let mut variables = variables.iter();
            let found = variables.find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn terminals_that_are_known_to_open_links_get_them() {
        for known in [
            [("TERM", "xterm-kitty"), ("SHELL", "")],
            [("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")],
            [("TERM", "xterm-256color"), ("VTE_VERSION", "6800")],
            [("TERM", "xterm-256color"), ("KONSOLE_VERSION", "220401")],
            [("TERM", "xterm-256color"), ("COLORTERM", "xfce4-terminal")],
            [("SHELL", ""), ("WT_SESSION", "8ea3dc74-bf5e")],
        ] {
            assert!(with(&known), "{known:?}");
        }
    }

    #[test]
    fn other_terminals_get_no_links() {
        for other in [
            [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
            [
                ("TERM", "xterm-256color"),
                ("TERM_PROGRAM", "Apple_Terminal"),
            ],
            [("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux")],
            [("TERM", "xterm-256color"), ("VTE_VERSION", "4800")],
            [("TERM", "dumb"), ("VTE_VERSION", "6800")],
            [("TERM", "linux"), ("KONSOLE_VERSION", "")],
            [("CI", "true"), ("TERM_PROGRAM", "vscode")],
        ] {
            assert!(!with(&other), "{other:?}");
        }
        assert!(!with(&[]));
    }

    #[test]
    fn a_variable_forces_links_on_or_off() {
        assert!(with(&[("FORCE_HYPERLINK", "1"), ("TERM", "screen")]));
        assert!(!with(&[("FORCE_HYPERLINK", "0"), ("TERM", "xterm-kitty")]));
    }

    #[cfg(unix)]
    #[test]
    fn every_byte_that_an_address_cannot_hold_is_encoded() {
        let link = linked("here", Path::new("/runs/a b/日;\x1b]8;;/report.html"), "");
        assert_eq!(
            link,
            "\x1b]8;;file:///runs/a%20b/%E6%97%A5%3B%1B%5D8%3B%3B/report.html\x1b\\here\x1b]8;;\x1b\\"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_terminal_of_another_machine_gets_the_host() {
        let with =
            |variables: &[&str]| is_remote(|name| variables.contains(&name).then(|| "x".into()));
        assert!(with(&["SSH_CONNECTION", "TERM"]));
        assert!(!with(&["SSH_CONNECTION", "TERM_PROGRAM"]) && !with(&["TERM"]));
        let link = linked("here", Path::new("/runs/report.html"), "mars");
        assert!(
            link.contains(";file://mars/runs/report.html\x1b"),
            "{link:?}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_relative_path_is_made_absolute() {
        let link = linked("here", Path::new("report.html"), "");
        assert!(link.starts_with("\x1b]8;;file:///"), "{link:?}");
    }
}
