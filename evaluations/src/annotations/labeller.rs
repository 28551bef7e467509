//! Who labels, unless they say it.

use std::env;

/// Where systems keep the user's name.
const NAMES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// The name of the user on this machine, if the system has it in the environment.
pub(crate) fn user_name() -> Option<String> {
    let names = NAMES.into_iter().filter_map(|name| env::var(name).ok());
    let mut names = names.map(|name| name.trim().to_owned());
    names.find(|name| !name.is_empty())
}
