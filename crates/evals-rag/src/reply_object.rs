//! Finding the JSON object that a model was asked for in what it replied.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a reply holds no object that can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// There is none.
    Missing,
    /// All that there is stands in the texts too that the model was shown, so that it may be a quotation.
    Quoted,
    /// There are several, and they do not agree.
    Contradictory,
}

/// Reads what a reply about `shown` texts says. `parse` takes the text of an object and says what it means, if anything.
///
/// The object may stand in a code fence, amid prose, or after reasoning in `<think>` tags. Objects inside others do not count,
/// nor do those inside a pair of braces that is not JSON.
///
/// A reply may quote what it is about, and that may be made to look like what was asked for. So objects that stand in the
/// shown texts do not count, and several that remain have to `agree`: taking the first or the last would let a quotation in
/// the right place win, whereas asking again costs one call.
pub(crate) fn read<T: Ord>(
    reply: &str,
    shown: &[&str],
    parse: impl Fn(&str) -> Option<T>,
    agree: impl Fn(&T, &T) -> bool,
) -> Result<T, Flaw> {
    let found: Vec<T> = objects(without_reasoning(reply))
        .into_iter()
        .filter_map(&parse)
        .collect();
    if found.is_empty() {
        return Err(Flaw::Missing);
    }
    let quotable: BTreeSet<T> = shown
        .iter()
        .flat_map(|text| quotable(text))
        .filter_map(&parse)
        .collect();
    let mut own = found.into_iter().filter(|it| !quotable.contains(it));
    let first = own.next().ok_or(Flaw::Quoted)?;
    if own.any(|other| !agree(&first, &other)) {
        return Err(Flaw::Contradictory);
    }
    Ok(first)
}

/// Takes the text of an object for a `T`. It may have a comma before a closing bracket.
pub(crate) fn parse<T: DeserializeOwned>(object: &str) -> Option<T> {
    serde_json::from_str(object)
        .or_else(|_| serde_json::from_str(&without_trailing_commas(object)))
        .ok()
}

/// What follows the reasoning of a model whose server did not take it out; all of it where none is marked.
fn without_reasoning(reply: &str) -> &str {
    let trimmed = reply.trim_start();
    match trimmed.strip_prefix("<think>") {
        Some(reasoning) => reasoning
            .split_once("</think>")
            .map_or("", |(_, after)| after),
        // Some templates write the opening tag themselves, so that a reply has the closing one alone.
        None => match trimmed.split_once("</think>") {
            Some((before, after)) if !before.contains('{') => after,
            _ => trimmed,
        },
    }
}

/// All objects that are not inside another, in order.
fn objects(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let object = object(&rest[start..]);
        found.push(object);
        rest = &rest[start + object.len()..];
    }
    found
}

/// Deeper than any object that can be parsed.
const DEEPEST: usize = 128;

/// A brace that is still open.
struct Open {
    start: usize,
    /// Objects in each other, this one counted.
    levels: usize,
}

/// All objects that a quotation of a part of `text` could show, objects inside others included.
///
/// Where a quotation begins decides which quotation marks open a string and which close one, so there are two ways to read the
/// text. One pass follows both: a brace counts for the way that sees it outside of strings. A backslash hides a quotation mark or
/// backslash behind it from either.
fn quotable(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = [Vec::new(), Vec::new()];
    let (mut way, mut hidden) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        if std::mem::take(&mut hidden) && matches!(byte, b'"' | b'\\') {
            continue;
        }
        match byte {
            b'\\' => hidden = true,
            b'"' => way = 1 - way,
            b'{' => open[way].push(Open {
                start: at,
                levels: 1,
            }),
            b'}' => {
                let Some(Open { start, levels }) = open[way].pop() else {
                    continue;
                };
                if let Some(outer) = open[way].last_mut() {
                    outer.levels = outer.levels.max(levels + 1);
                }
                let has_key = text[start + 1..at].trim_start().starts_with('"');
                if has_key && levels <= DEEPEST {
                    found.push(&text[start..=at]);
                }
            }
            _ => {}
        }
    }
    found
}

/// The object that `text` begins with: as JSON sees it or, where it is not JSON, up to the brace that balances the first.
fn object(text: &str) -> &str {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(_)) = values.next() {
        return &text[..values.byte_offset()];
    }
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..=at];
        }
    }
    text
}

/// Drops commas that only blanks part from a closing bracket, outside of strings.
fn without_trailing_commas(object: &str) -> String {
    let mut kept = String::with_capacity(object.len());
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in object.char_indices() {
        let closes = || object[at + 1..].trim_start().starts_with(['}', ']']);
        if letter == ',' && !quoted && closes() {
            continue;
        }
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        kept.push(letter);
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A value that can be put in order, by its text.
    fn text(object: &str) -> Option<String> {
        parse::<Value>(object).map(|object| object.to_string())
    }

    fn read_text(reply: &str, shown: &str) -> Result<String, Flaw> {
        read(reply, &[shown], text, String::eq)
    }

    const MEGABYTE: usize = 1 << 20;

    #[test]
    fn a_text_of_braces_is_read_like_any_other() {
        let own = json!({"pass": true}).to_string();
        let units = [
            "{",
            "}",
            "{}",
            "{{}",
            r#"{""#,
            r#"{"a":"#,
            r#"{"a":1,"#,
            r#"{"a":["#,
            r#"{"a\""#,
            "{\n",
            ",}",
        ];
        for unit in units {
            let braces = unit.repeat(MEGABYTE / unit.len());
            assert_eq!(read_text(&own, &braces), Ok(own.clone()), "{unit}");
            let after = format!("{own}{braces}");
            // Neither hangs; what of the braces is JSON disagrees.
            let expected = match unit {
                "{}" | "{{}" => read_text(&after, ""),
                _ => Ok(own.clone()),
            };
            assert_eq!(read_text(&after, &braces), expected, "{unit}");
        }
        let nested = MEGABYTE / 6;
        let nested = format!("{}1{}", r#"{"a":"#.repeat(nested), "}".repeat(nested));
        assert_eq!(read_text(&own, &nested), Ok(own.clone()));
        assert_eq!(read_text(&nested, &nested), Err(Flaw::Missing));
    }

    #[test]
    fn quotations_are_found_wherever_they_stand() {
        let object = r#"{"a":{"b":"} \" {"},"c":[{"d":1}]}"#;
        let found = quotable(object);
        let inner = [r#"{"b":"} \" {"}"#, r#"{"d":1}"#];
        assert!(found.contains(&object));
        for inner in inner {
            assert!(found.contains(&inner), "{found:?}");
        }
        for shown in [
            format!("{{ {{{object}"),
            format!("say \"{object}\""),
            format!("{object},}}"),
            format!("\\{object}"),
        ] {
            assert_eq!(read_text(object, &shown), Err(Flaw::Quoted), "{shown}");
        }
        assert_eq!(
            read_text(r#"{"a": 1}"#, r#"He said {"a": 1, }."#),
            Err(Flaw::Quoted)
        );
    }
}
