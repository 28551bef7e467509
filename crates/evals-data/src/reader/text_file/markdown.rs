//! Markdown as text: its source without the front matter, and its title.

use evals_yaml::Tree;
use serde_json::{Map, Value};

use super::TextContent;

/// The title is the front matter's `title`, else the first heading.
pub(super) fn content(text: &str) -> Result<TextContent, Fault> {
    let (front_matter, body) = split(text)?;
    let named = match front_matter.get("title") {
        Some(Value::String(title)) => Some(title.trim().to_owned()),
        Some(number @ Value::Number(_)) => Some(number.to_string()),
        _ => None,
    };
    let title = named.filter(|title| !title.is_empty());
    Ok(TextContent {
        title: title.or_else(|| first_heading(body)),
        text: body.trim().to_owned(),
        front_matter,
    })
}

/// The text of the first heading, of any level: `# Title`, or a line above `===` or `---`. Lines of fenced code are none.
fn first_heading(body: &str) -> Option<String> {
    let mut fence: Option<&str> = None;
    let mut above = "";
    for line in body.lines() {
        let trimmed = line.trim();
        if let Some(open) = fence {
            if trimmed.starts_with(open) && trimmed.trim_start_matches(open).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(open) = ["```", "~~~"]
            .into_iter()
            .find(|open| trimmed.starts_with(open))
        {
            fence = Some(open);
            above = "";
            continue;
        }
        // Four blanks begin a block of code.
        if !line.starts_with("    ")
            && let Some(heading) = atx(trimmed)
        {
            return Some(heading);
        }
        if !above.is_empty() && is_underline(trimmed) {
            return Some(above.to_owned());
        }
        above = if starts_a_block(trimmed) { "" } else { trimmed };
    }
    None
}

/// The text of a heading such as `## Title ##`; `None` if the line is not a heading or has no text.
fn atx(line: &str) -> Option<String> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let text = rest.trim();
    let closed = text.trim_end_matches('#');
    let text = if closed.ends_with([' ', '\t']) || closed.is_empty() {
        closed.trim()
    } else {
        text
    };
    (!text.is_empty()).then(|| text.to_owned())
}

fn is_underline(line: &str) -> bool {
    ['=', '-']
        .into_iter()
        .any(|mark| line.len() > 1 && line.chars().all(|character| character == mark))
}

/// Whether a line is no paragraph, so that dashes below it are a rule.
fn starts_a_block(line: &str) -> bool {
    line.starts_with(['>', '|', '<']) || line.starts_with("- ") || line.starts_with("* ")
}

/// The line and the message of a front matter that is not valid YAML.
pub(super) type Fault = (u64, String);

/// The fields of the front matter, and the text behind it. A text without one stays as it is, and so does a text between two rules,
/// which is no mapping.
pub(super) fn split(text: &str) -> Result<(Map<String, Value>, &str), Fault> {
    let none = || Ok((Map::new(), text));
    let Some((first, rest)) = text.split_once('\n') else {
        return none();
    };
    if first.trim_end() != "---" {
        return none();
    }
    let Some((yaml, body)) = closed(rest) else {
        return none();
    };
    // The front matter starts on the second line.
    let tree = Tree::parse(yaml).map_err(|error| (error.line + 1, error.message.clone()))?;
    match tree.to_value() {
        Value::Object(fields) => Ok((fields, body)),
        Value::Null => Ok((Map::new(), body)),
        _ => none(),
    }
}

/// The text before the closing line and the text behind it.
fn closed(rest: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        let end = start + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&rest[..start], &rest[end..]));
        }
        start = end;
    }
    None
}
