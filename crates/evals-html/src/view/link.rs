//! The addresses of the viewer's pages.

use std::fmt::Write as _;

/// An address of the viewer, from the folder of its list of runs. A page puts [`up`] before it, so no page holds the folder's own name,
/// which is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link(String);

impl Link {
    /// The list of runs.
    pub fn runs() -> Self {
        Self(String::new())
    }

    /// A run's page. `name` is the name of its folder.
    pub fn run(name: &str) -> Self {
        Self(format!("run/{}", segment(name)))
    }

    /// A page of a run, such as `progress`.
    pub fn of_run(name: &str, page: &str) -> Self {
        Self(format!("run/{}/{page}", segment(name)))
    }

    /// The review of the questions of a test set.
    pub fn review() -> Self {
        Self("review".to_owned())
    }

    /// The comparison of two runs.
    pub fn compare(before: &str, after: &str) -> Self {
        Self("compare".to_owned())
            .with("before", before)
            .with("after", after)
    }

    /// The stream that reports changes of a list that was `seen`.
    pub fn changes(seen: &str) -> Self {
        Self("changes".to_owned()).with("seen", seen)
    }

    /// The trends.
    pub fn trends() -> Self {
        Self("trend".to_owned())
    }

    /// The same address with one parameter more.
    #[must_use]
    pub fn with(mut self, parameter: &str, value: &str) -> Self {
        let mark = if self.0.contains('?') { '&' } else { '?' };
        _ = write!(self.0, "{mark}{parameter}={}", segment(value));
        self
    }

    /// The address as a text.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// The way from the page at `path` up to the folder of the list of runs. `path` starts with a slash, which stands for that folder.
pub fn up(path: &str) -> String {
    match path.matches('/').count() {
        0 | 1 => "./".to_owned(),
        folders => "../".repeat(folders - 1),
    }
}

/// A text as one segment of a path or as the value of a parameter: everything but letters, digits and `-_~.` as `%XX`.
///
/// A segment of dots only would name a folder, so its dots are written as `%2E`. Clients resolve these all the same, so no page may
/// depend on such a name.
pub fn segment(text: &str) -> String {
    let is_dots = text == "." || text == "..";
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) || byte == b'.' && !is_dots {
            segment.push(char::from(byte));
        } else {
            _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_of_an_address() {
        assert_eq!(
            segment("20260501T120000.000Z-a_b"),
            "20260501T120000.000Z-a_b"
        );
        assert_eq!(segment("../a/b?c#d e%"), "..%2Fa%2Fb%3Fc%23d%20e%25");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("é"), "%C3%A9");
    }

    #[test]
    fn the_way_up_has_a_step_for_each_folder() {
        assert_eq!(up("/") + &Link::trends().into_text(), "./trend");
        assert_eq!(up("/compare"), "./");
        assert_eq!(up("/run/a"), "../");
        assert_eq!(up("/run/a/label"), "../../");
    }

    #[test]
    fn parameters_follow_each_other() {
        let link = Link::compare("a b", "c&d");
        assert_eq!(link.into_text(), "compare?before=a%20b&after=c%26d");
    }
}
