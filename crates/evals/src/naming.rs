//! Telling equal names apart.

/// Returns the name itself if it is free, else the first free one of `name_2`, `name_3` and so on.
pub(crate) fn unique_name(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let mut number = 2_u32;
    loop {
        let candidate = format!("{name}_{number}");
        if !is_taken(&candidate) {
            return candidate;
        }
        number += 1;
    }
}
