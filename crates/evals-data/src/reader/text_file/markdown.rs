//! Markdown as text: its source without the front matter, and its title.

use serde_json::Value;

use super::TextContent;
use super::front_matter::{self, Fault};

/// The title is the front matter's `title`, else the first heading.
pub(super) fn content(text: &str) -> Result<TextContent, Fault> {
    let (front_matter, body) = front_matter::split(text)?;
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
