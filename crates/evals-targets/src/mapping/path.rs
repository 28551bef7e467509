//! JSONPath expressions that name the fields of a reply: those of our own format, or those of the settings.

use std::collections::BTreeMap;

use evals_guard::panics;
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::settings::{ResponseSettings, SettingsProblem};

/// The deepest nesting of brackets in a path.
const MOST_LEVELS: usize = 6;

/// The path of a field.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The field in messages: its name, and the path if the settings give one.
    pub(super) place: String,
    expression: JsonPath,
    /// For a path that may match several values: the part before its first wildcard, filter or slice. `None` in front of a search in
    /// all depths, of which nobody can say whether it found nothing or searched in the wrong place.
    before_many: Option<JsonPath>,
    is_many: bool,
}

/// The matches of a path.
pub(super) enum PathValues<'r> {
    /// Nothing is there, or null.
    Missing,
    One(&'r Value),
    Many(Vec<&'r Value>),
}

impl Path {
    /// Reads the path of a setting below `response`.
    pub(super) fn configured(key: &str, text: &str) -> Result<Self, SettingsProblem> {
        let place = format!("`response.{key}` (`{text}`)");
        Self::parse(place, text)
            .map_err(|message| SettingsProblem::new(format!("response.{key}"), message))
    }

    /// The path of a field of our own format.
    pub(super) fn own(place: &str, text: &str) -> Self {
        Self::parse(format!("`{place}`"), text).expect("our own paths are sound")
    }

    pub(super) fn parse(place: String, text: &str) -> Result<Self, String> {
        let path = expression(text)?;
        let text = text.trim();
        let first_many = first_many(text);
        let before_many = first_many.filter(|at| !text[*at..].starts_with(".."));
        let before_many = before_many.map(|at| expression(&text[..at]));
        Ok(Self {
            place,
            expression: path,
            before_many: before_many.transpose()?,
            is_many: first_many.is_some(),
        })
    }

    /// Whether the path leads to `null` and to nothing else.
    pub(super) fn is_null(&self, reply: &Value) -> bool {
        let nodes = self.expression.query(reply).all();
        matches!(nodes.as_slice(), [Value::Null])
    }

    pub(super) fn find<'r>(&self, reply: &'r Value) -> PathValues<'r> {
        let nodes = self.expression.query(reply).all();
        if !self.is_many {
            return match nodes.first() {
                None | Some(Value::Null) => PathValues::Missing,
                Some(value) => PathValues::One(value),
            };
        }
        if nodes.is_empty() {
            // An empty list is an answer; a list that is not there is none.
            let list = self
                .before_many
                .as_ref()
                .and_then(|before| before.query(reply).first());
            return match list {
                Some(Value::Array(_) | Value::Object(_)) => PathValues::Many(Vec::new()),
                _ => PathValues::Missing,
            };
        }
        PathValues::Many(nodes)
    }
}

/// Parses a path. The library panics on one that ends inside an escape sequence, and takes exponentially long for nested filters.
fn expression(text: &str) -> Result<JsonPath, String> {
    let problem = if depth(text) > MOST_LEVELS {
        format!("it nests brackets more than {MOST_LEVELS} levels deep")
    } else {
        match panics::caught(|| JsonPath::parse(text)) {
            Ok(Ok(path)) => return Ok(path),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it ends too early".to_owned(),
        }
    };
    Err(format!(
        "`{text}` is not a JSONPath such as `$.output.text`: {problem}"
    ))
}

/// How deep brackets are nested. Those inside of texts count too, because a text that does not end is not one.
fn depth(path: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for letter in path.chars() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Where the first segment of a path begins that may match several values: a wildcard, a filter, a slice, several selectors, or a search
/// in all depths.
fn first_many(path: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    let (mut start, mut previous) = (0, '$');
    for (at, letter) in path.char_indices().skip(1) {
        match (quote, letter) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '*' | '?' | ':' | ',') => return Some(start),
            (None, '.') if depth == 0 && previous == '.' => return Some(start),
            (None, '.' | '[') if depth == 0 && previous != '.' => {
                start = at;
                depth += usize::from(letter == '[');
            }
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        previous = letter;
    }
    None
}

/// The fields of our own format. `output` is another name of the answer, for files of outputs.
const OWN: [&str; 16] = [
    "id",
    "error",
    "answer",
    "output",
    "documents",
    "citations",
    "refused",
    "usage",
    "model",
    "latency_seconds",
    "latency_ms",
    "version",
    "tool_calls",
    "spans",
    "attributes",
    "metrics",
];

/// The fields of a document. Those that the settings do not name have the names of our own format.
const OF_DOCUMENT: [&str; 4] = ["id", "score", "title", "text"];

/// The path of each field that is read, by its key below `response`.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    fields: BTreeMap<String, Path>,
    /// Whether a document may be an id alone. It may not if the settings say where its id is.
    pub(super) document_may_be_an_id: bool,
}

impl Paths {
    /// The paths of our own format.
    pub(super) fn own() -> Self {
        let of_reply = OWN.map(|name| (name.to_owned(), own(name)));
        let of_document = OF_DOCUMENT.map(|name| (format!("document_{name}"), own(name)));
        Self {
            fields: of_reply.into_iter().chain(of_document).collect(),
            document_may_be_an_id: true,
        }
    }

    pub(super) fn configured(settings: &ResponseSettings) -> Result<Self, SettingsProblem> {
        let mut paths = Self::own();
        paths.fields.retain(|key, _| key.starts_with("document_"));
        let written = serde_json::to_value(settings).expect("settings are plain data");
        paths.add("", &written)?;
        paths.document_may_be_an_id = settings.document_id.is_none();
        Ok(paths)
    }

    /// Adds the paths of some settings, whose keys begin so.
    fn add(&mut self, beginning: &str, settings: &Value) -> Result<(), SettingsProblem> {
        for (name, setting) in settings.as_object().into_iter().flatten() {
            let key = format!("{beginning}{name}");
            match setting {
                Value::String(text) => {
                    let path = Path::configured(&key, text)?;
                    self.fields.insert(key, path);
                }
                inner => self.add(&format!("{key}."), inner)?,
            }
        }
        Ok(())
    }

    /// The path of a field, if it is read.
    pub(super) fn get(&self, key: &str) -> Option<&Path> {
        self.fields.get(key)
    }
}

fn own(name: &str) -> Path {
    Path::own(name, &format!("$.{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str, reply: &Value) -> String {
        match Path::own("x", path).find(reply) {
            PathValues::Missing => "missing".to_owned(),
            PathValues::One(value) => value.to_string(),
            PathValues::Many(values) => format!("{values:?}")
                .replace("Number(", "")
                .replace(')', ""),
        }
    }

    #[test]
    fn the_first_segment_with_several_values_is_found() {
        for many in [
            "[*]",
            ".*",
            "..a",
            "[?@.x == ']']",
            "[0:2]",
            "[0,1]",
            "['a','b']",
        ] {
            let before = "$.a['b.c'][0]";
            let first = first_many(&format!("{before}{many}.c"));
            assert_eq!(first, Some(before.len()), "{many}");
        }
        for one in ["", ".a", "[0]", "[-1]", "['a,b']", "[\"*\"]"] {
            assert_eq!(first_many(&format!("${one}")), None, "{one}");
        }
    }

    #[test]
    fn a_path_that_ends_too_early_is_refused() {
        for text in [r"$['\u", "$['a", "$["] {
            let problem = Path::parse("x".to_owned(), text).unwrap_err();
            let start = format!("`{text}` is not a JSONPath such as `$.output.text`: ");
            assert!(problem.starts_with(&start), "{problem}");
        }
    }

    #[test]
    fn filters_inside_filters_are_refused_before_they_take_forever() {
        let nested = |levels: usize| format!("$.a{}{}", "[?$.a".repeat(levels), "]".repeat(levels));
        Path::parse("x".to_owned(), &nested(MOST_LEVELS)).unwrap();
        for text in [nested(30), "$.a[?$.a".repeat(30), "$[?(".repeat(30)] {
            let problem = Path::parse("x".to_owned(), &text).unwrap_err();
            assert!(
                problem.ends_with("it nests brackets more than 6 levels deep"),
                "{problem}"
            );
        }
    }

    #[test]
    fn an_empty_list_is_not_a_missing_one() {
        let reply = json!({"hits": [], "none": null, "two": [1, 2]});
        for (path, expected) in [
            ("$.hits[*]", "[]"),
            ("$.hits", "[]"),
            ("$.hist[*]", "missing"),
            ("$.none[*]", "missing"),
            ("$.none", "missing"),
            ("$.two[*]", "[1, 2]"),
            ("$.two[?@ > 5]", "[]"),
            ("$..nobody", "missing"),
            ("$.two[1]", "2"),
            ("$.two[7]", "missing"),
        ] {
            assert_eq!(found(path, &reply), expected, "{path}");
        }
    }
}
