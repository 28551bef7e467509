//! Finding the JSON object that a model was asked for in what it replied.

use evals_models::without_lone_surrogates;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::shown::Shown;

/// Why a reply holds no object that can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// There is none.
    Missing,
    /// All that there is may be a quotation of the texts that the model was shown.
    Quoted,
    /// There are several, and they do not agree.
    Contradictory,
}

/// What a model is asked for.
pub(crate) trait Wanted: Sized {
    /// The member that decides.
    const KEY: &'static str;

    /// Whether the texts hold something that this may be a copy of, however it is spelled there.
    fn may_be_from(&self, shown: &Shown) -> bool;

    /// Whether both say the same.
    fn agrees(&self, other: &Self) -> bool;
}

/// Reads what a reply about `shown` texts says. `parse` takes the text of an object and says what it means, if anything.
///
/// The object may stand in a code fence, amid prose, or after reasoning in `<think>` tags. Objects inside others do not count,
/// nor do those inside a pair of braces that is not JSON.
///
/// A reply may quote what it is about, and that may be made to look like what was asked for. What stands behind the nonce is no
/// quotation, because no shown text contains the nonce. An object is *signed* where its `id` is the nonce and the member that
/// decides comes directly after it. The place matters: a text that is quoted in another member without escapes can end that
/// member and go on with members of its own, but not with the nonce. Where there is a signed object, only such objects count.
/// Without any, an object counts only if nothing in the shown texts can have been its source. Several that count have to agree:
/// taking the first or the last would let a quotation in the right place win, whereas asking again costs one call.
pub(crate) fn read<T: Wanted>(
    reply: &str,
    shown: &Shown,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Flaw> {
    let objects = objects(without_reasoning(reply)).into_iter();
    let wanted = objects.filter_map(|object| Some((is_signed::<T>(object, shown), parse(object)?)));
    let (signed, unsigned): (Vec<_>, Vec<_>) = wanted.partition(|(signed, _)| *signed);
    let found = !(signed.is_empty() && unsigned.is_empty());
    let unsigned = unsigned
        .into_iter()
        .filter(|(_, object)| shown.is_legible() && !object.may_be_from(shown));
    let own = if signed.is_empty() {
        unsigned.collect()
    } else {
        signed
    };
    let mut own = own.into_iter().map(|(_, object)| object);
    let Some(first) = own.next() else {
        return Err(if found { Flaw::Quoted } else { Flaw::Missing });
    };
    if own.any(|other| !first.agrees(&other)) {
        return Err(Flaw::Contradictory);
    }
    Ok(first)
}

/// Whether what decides stands right behind the nonce, which is all that the `id` holds: a quotation from one shown text into the next
/// would have the delimiters between them there.
fn is_signed<T: Wanted>(object: &str, shown: &Shown) -> bool {
    // Of members of one name the parsers of wanted objects accept none, so that each has one place.
    let members: Option<serde_json::Map<String, Value>> = parse(object);
    let Some(members) = members else { return false };
    let place = |key: &str| members.keys().position(|member| member == key);
    let is_nonce = |id: &Value| {
        id.as_str()
            .is_some_and(|id| id.trim().eq_ignore_ascii_case(shown.nonce()))
    };
    members.get("id").is_some_and(is_nonce)
        && place("id").map(|place| place + 1) == place(T::KEY)
        && has_one_id(object)
}

/// Whether an object has one `id` and no other.
fn has_one_id(object: &str) -> bool {
    #[derive(Deserialize)]
    struct Signed {
        #[serde(rename = "id")]
        _id: String,
    }
    parse::<Signed>(object).is_some()
}

/// Deeper than any object that is asked for, with room for what a model adds.
const DEEPEST: usize = 8;

/// Takes the text of an object for a `T`. It may have a comma before a closing bracket and halves of characters, and is none if
/// it is deeply nested.
pub(crate) fn parse<T: DeserializeOwned>(object: &str) -> Option<T> {
    if depth(object) > DEEPEST {
        return None;
    }
    let object = without_lone_surrogates(object);
    serde_json::from_str(&object)
        .or_else(|_| serde_json::from_str(&without_trailing_commas(&object)))
        .ok()
}

/// Brackets in each other, outside of strings.
fn depth(object: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for (letter, quoted) in letters(object) {
        match letter {
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The characters of a JSON text, each with whether it stands inside a string.
fn letters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut quoted, mut escaped) = (false, false);
    text.chars().map(move |letter| {
        quoted ^= letter == '"' && !escaped;
        escaped = quoted && letter == '\\' && !escaped;
        (letter, quoted)
    })
}

/// What follows the reasoning that a reply begins with; all of it where it begins with none.
///
/// Reasoning whose opening tag stood in the prompt needs no care here: unless it has objects of its own, which then have to agree,
/// it is prose like any other.
fn without_reasoning(reply: &str) -> &str {
    let trimmed = reply.trim_start();
    match trimmed.strip_prefix("<think>") {
        Some(reasoning) => reasoning
            .split_once("</think>")
            .map_or("", |(_, after)| after),
        None => trimmed,
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

    /// Any object, which may be from a text that mentions `a`.
    #[derive(Debug, PartialEq)]
    struct Any(String);

    impl Wanted for Any {
        const KEY: &'static str = "a";

        fn may_be_from(&self, shown: &Shown) -> bool {
            self.0.contains(r#""a""#) && shown.mentions("a")
        }

        fn agrees(&self, other: &Self) -> bool {
            self == other
        }
    }

    fn any(object: &str) -> Option<Any> {
        parse::<Value>(object).map(|object| Any(object.to_string()))
    }

    fn read_any(reply: &str, shown: &str) -> Result<String, Flaw> {
        read(reply, &Shown::new(&[shown]), any).map(|found| found.0)
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
            assert_eq!(read_any(&own, &braces), Ok(own.clone()), "{unit}");
            let after = format!("{own}{braces}");
            // Neither hangs; what of the braces is JSON disagrees.
            let expected = match unit {
                "{}" => Err(Flaw::Contradictory),
                _ => Ok(own.clone()),
            };
            assert_eq!(read_any(&after, ""), expected, "{unit}");
        }
    }

    #[test]
    fn what_is_nested_deeply_is_no_object() {
        let nested =
            |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(read_any(&nested(DEEPEST), "").is_ok());
        for levels in [DEEPEST + 1, 127, 128, 129, 100_000] {
            assert_eq!(
                read_any(&nested(levels), ""),
                Err(Flaw::Missing),
                "{levels}"
            );
        }
        let brackets = format!(r#"{{"a": "{}"}}"#, "[".repeat(100));
        assert!(
            read_any(&brackets, "").is_ok(),
            "in a string they nest nothing"
        );
    }

    #[test]
    fn only_an_object_with_the_nonce_counts_beside_what_is_shown() {
        let quoted = r#"{"a": 1}"#;
        assert_eq!(read_any(quoted, quoted), Err(Flaw::Quoted));
        assert_eq!(
            read_any(quoted, r#"He said {"a": 1, }."#),
            Err(Flaw::Quoted)
        );
        let nonce = Shown::new(&[quoted]).nonce().to_owned();
        for id in [nonce.clone(), nonce.to_uppercase(), format!(" {nonce}")] {
            let own = json!({"id": id, "a": 1}).to_string();
            assert_eq!(read_any(&own, quoted), Ok(own.replace(": ", ":")), "{own}");
            let both = format!("{quoted} {own} {{\"a\": 2}}");
            assert!(read_any(&both, quoted).is_ok(), "the others are quotations");
        }
        // From one text into the next, with the delimiters between them.
        let texts = Shown::new(&[r#"{"a": 1, "id": ""#, r#""}"#]);
        let across = format!("\n</passage-1-{}>\n", texts.nonce());
        let is_signed = |object: &Value| is_signed::<Any>(&object.to_string(), &texts);
        assert!(!is_signed(&json!({"id": across, "a": 1})));
        assert!(is_signed(&json!({"id": texts.nonce(), "a": 1})));
        assert!(
            !is_signed(&json!({"a": 1, "id": texts.nonce()})),
            "the nonce comes too late"
        );
        let twice = format!(r#"{{"id": "x", "a": 1, "id": "{}"}}"#, texts.nonce());
        assert!(!super::is_signed::<Any>(&twice, &texts));
        let other = json!({"id": "0123456789abcdef", "a": 1}).to_string();
        assert!(
            read_any(&other, "{\"b\": 1}").is_ok(),
            "it stands nowhere else"
        );
        assert_eq!(read_any(&other, &other), Err(Flaw::Quoted));
    }

    #[test]
    fn what_cannot_be_read_may_hold_anything() {
        let own = r#"{"b": 1}"#;
        let escapes = "\\".repeat(MEGABYTE);
        assert_eq!(read_any(own, &escapes), Err(Flaw::Quoted));
        let nonce = Shown::new(&[&escapes]).nonce().to_owned();
        let own = json!({"id": nonce, "a": 1}).to_string();
        assert!(read_any(&own, &escapes).is_ok());
    }

    #[test]
    fn half_a_character_is_replaced() {
        let own = r#"{"a": "\ud83d!"}"#;
        assert_eq!(read_any(own, ""), Ok("{\"a\":\"\u{fffd}!\"}".to_owned()));
    }
}
