//! The difference of configurations, in words.

use std::collections::BTreeSet;

use super::{Configuration, UNANSWERABLE, is_of_data};

/// Most differences listed in a row.
const LISTED: usize = 3;

/// Most characters of a value shown in a row.
const SHOWN: usize = 24;

impl Configuration {
    /// Describes how this configuration differs from `others`; empty if it does not. A difference in digests is described by the
    /// time `seen`.
    pub(crate) fn distinction<'c>(
        &self,
        others: impl Iterator<Item = &'c Self>,
        seen: &str,
    ) -> String {
        let mut paths = BTreeSet::new();
        for other in others {
            paths.extend(self.differing(other));
        }
        let paths = significant(&paths);
        let (contents, settings): (Vec<&str>, Vec<&str>) =
            paths.iter().partition(|path| self.is_content(path));
        let mut named: Vec<String> = settings
            .iter()
            .take(LISTED)
            .map(|path| format!("{}={}", shown(path), self.value(path)))
            .collect();
        if settings.len() > LISTED {
            named.push(format!("{} more", settings.len() - LISTED));
        }
        let contents: BTreeSet<&str> = contents.into_iter().map(content).collect();
        if !contents.is_empty() {
            let contents: Vec<&str> = contents.into_iter().collect();
            named.push(format!("{} as of {seen}", contents.join(" and ")));
        }
        named.join(", ")
    }

    /// Whether a value is a digest of files, which is meaningless to people.
    fn is_content(&self, path: &str) -> bool {
        is_of_data(path) || self.0.get(path).is_some_and(|value| is_digest(value))
    }

    fn value(&self, path: &str) -> String {
        let absent = match path {
            UNANSWERABLE => "none left out",
            _ => "none",
        };
        short(self.0.get(path).map_or(absent, String::as_str))
    }
}

/// The differences of two configurations as `path: old -> new`.
pub(crate) fn differences(old: &Configuration, new: &Configuration) -> Vec<String> {
    let paths = old.differing(new).collect();
    let mut lines: Vec<String> = Vec::new();
    for path in significant(&paths) {
        let values = [old, new].map(|side| side.value(path));
        let line = if old.is_content(path) && new.is_content(path) {
            format!("{}: other content", content(path))
        } else {
            format!("{}: {} -> {}", shown(path), values[0], values[1])
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Names the content whose digest is at a path.
fn content(path: &str) -> &str {
    if is_of_data(path) {
        return "dataset files";
    }
    let path = path.strip_suffix(".digest").unwrap_or(path);
    let path = path.strip_prefix("prompts.").unwrap_or(path);
    shown(path)
}

/// Whether a value is a hash in hexadecimal.
fn is_digest(value: &str) -> bool {
    let digits = value.strip_prefix("sha256:").unwrap_or(value);
    digits.len() >= 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The paths without redundant ones. The index's embedder and the reranker's settings appear under `models` too, and a digest adds
/// nothing if the name or a setting of its model differs.
fn significant<'p>(paths: &BTreeSet<&'p str>) -> Vec<&'p str> {
    let any = |start: &str| paths.iter().any(|path| path.starts_with(start));
    let is_significant = |path: &&&str| {
        let settings = match **path {
            "models.embedder.digest" => "settings.embeddings.model.",
            "models.reranker.digest" => "settings.reranking.model.",
            _ => "",
        };
        let stated = !settings.is_empty() && any(settings);
        let named = path
            .strip_suffix(".digest")
            .is_some_and(|model| paths.contains(&*format!("{model}.name")));
        let twice = path.starts_with("index.identity.embedder.model")
            || matches!(
                **path,
                "settings.reranking.model.name" | "settings.reranking.model.provider"
            );
        !stated && !named && !twice
    };
    paths.iter().filter(is_significant).copied().collect()
}

fn shown(path: &str) -> &str {
    match path {
        UNANSWERABLE => "unanswerable questions",
        "k" => "search.limit",
        path => path.strip_prefix("settings.").unwrap_or(path),
    }
}

fn short(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
