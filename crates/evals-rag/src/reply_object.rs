//! Finds the requested JSON object in a model's reply.

use evals_models::without_lone_surrogates;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::shown::Shown;

/// Why a reply holds no trustworthy verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// It holds no verdict.
    #[error("it has no JSON object with {wanted}")]
    Missing {
        /// The members of the verdict, in words.
        wanted: &'static str,
    },
    /// Every verdict may be a quotation of the graded material.
    #[error(
        "its verdict may be copied from the graded material: it needs the `id` that was asked for, right before `{key}`"
    )]
    Quoted {
        /// The deciding member.
        key: &'static str,
    },
    /// It holds several verdicts that disagree.
    #[error("it has verdicts that contradict each other")]
    Contradictory,
    /// It holds the verdict, and the verdict cannot be used.
    #[error("{complaint}")]
    Unusable {
        /// What is wrong with it.
        complaint: String,
    },
}

/// An object that counts.
#[derive(Debug)]
pub(crate) struct Own<T> {
    pub(crate) object: T,
    /// Whether the model signed it with the nonce.
    pub(crate) is_signed: bool,
}

/// An object that a model is asked for.
pub trait Wanted: PartialEq + Sized {
    /// The deciding member.
    const KEY: &'static str;

    /// Whether this may be a copy from the texts, in any spelling. By default, a copy needs a text that contains the word
    /// [`KEY`](Self::KEY). A reason proves nothing: if a judge quotes a text without escapes, the reason may begin with the judge's own
    /// words and end with the text's.
    fn may_be_from(&self, shown: &Shown) -> bool {
        shown.mentions(Self::KEY)
    }

    /// Whether both have the same meaning; by default, whether they are equal.
    fn agrees(&self, other: &Self) -> bool {
        self == other
    }

    /// Why this cannot be used although it has the requested form, such as a number that is missing from a list. `None` by default.
    fn complaint(&self) -> Option<String> {
        None
    }
}

/// Reads the object in a reply about `shown` texts. `parse` turns the text of an object into a `T`, if it is one; `wanted` are its members
/// in words.
///
/// The object may be in a code fence, within prose, or after reasoning in `<think>` tags. Objects inside others do not
/// count, and neither do objects inside a pair of braces that is not JSON.
///
/// A reply may quote the shown texts, and these may imitate the requested object. A member directly after the nonce cannot
/// be a quotation, because no shown text contains the nonce. An object is *signed* if its `id` is the nonce and the deciding
/// member comes directly after it. The place matters: if a text is quoted in another member without escapes, it can end that
/// member and add members of its own, but not the nonce. If there is a signed object, only signed objects count. Otherwise
/// an object counts only if it cannot come from the shown texts. If several objects count, they have to agree: choosing the
/// first or the last would let a well-placed quotation win, and asking again costs only one call.
pub(crate) fn read<T: Wanted>(
    reply: &str,
    shown: &Shown,
    parse: impl Fn(&str) -> Option<T>,
    wanted: &'static str,
) -> Result<Own<T>, Unreadable> {
    let objects = objects(without_reasoning(reply)).into_iter();
    let parsed = objects.filter_map(|object| Some((is_signed::<T>(object, shown), parse(object)?)));
    let (signed, unsigned): (Vec<_>, Vec<_>) = parsed.partition(|(signed, _)| *signed);
    let found = !(signed.is_empty() && unsigned.is_empty());
    let unsigned = unsigned
        .into_iter()
        .filter(|(_, object)| shown.is_legible() && !object.may_be_from(shown));
    let is_signed = !signed.is_empty();
    let own = if is_signed {
        signed
    } else {
        unsigned.collect()
    };
    let mut own = own.into_iter().map(|(_, object)| object);
    let Some(first) = own.next() else {
        return Err(if found {
            Unreadable::Quoted { key: T::KEY }
        } else {
            Unreadable::Missing { wanted }
        });
    };
    if let Some(complaint) = first.complaint() {
        return Err(Unreadable::Unusable { complaint });
    }
    if own.any(|other| !first.agrees(&other)) {
        return Err(Unreadable::Contradictory);
    }
    Ok(Own {
        object: first,
        is_signed,
    })
}

/// Whether the deciding member comes directly after the `id`, and the `id` is exactly the nonce. A quotation that spans two
/// shown texts would have the delimiters between them in its `id`.
fn is_signed<T: Wanted>(object: &str, shown: &Shown) -> bool {
    // The parsers of wanted objects reject repeated members, so each member has one place.
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

/// Whether an object has exactly one `id`.
fn has_one_id(object: &str) -> bool {
    #[derive(Deserialize)]
    struct Signed {
        #[serde(rename = "id")]
        _id: String,
    }
    parse::<Signed>(object).is_some()
}

/// Deeper than any requested object, with a margin for members that a model adds.
const DEEPEST: usize = 8;

/// Parses the text of a JSON object as a `T`. Trailing commas and unpaired surrogates are allowed; deep nesting is not. A type
/// whose deserialisation is derived refuses repeated members, which the trust in a [`Wanted`] object relies on.
pub fn parse<T: DeserializeOwned>(object: &str) -> Option<T> {
    if depth(object) > DEEPEST {
        return None;
    }
    let object = without_lone_surrogates(object);
    serde_json::from_str(&object)
        .or_else(|_| serde_json::from_str(&without_trailing_commas(&object)))
        .ok()
}

/// The nesting depth of brackets outside of strings.
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

/// The characters of a JSON text, each with whether it is inside a string.
fn letters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let (mut quoted, mut escaped) = (false, false);
    text.chars().map(move |letter| {
        quoted ^= letter == '"' && !escaped;
        escaped = quoted && letter == '\\' && !escaped;
        (letter, quoted)
    })
}

/// The reply without leading reasoning.
///
/// Reasoning whose opening tag was in the prompt is not removed. It counts as prose; any objects in it have to agree with
/// the others.
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

/// The object at the start of `text`: the JSON value or, if it is not JSON, the text up to the balancing brace.
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

/// Removes commas before closing brackets, outside of strings.
fn without_trailing_commas(object: &str) -> String {
    let mut kept = String::with_capacity(object.len());
    for ((at, letter), (_, quoted)) in object.char_indices().zip(letters(object)) {
        let closes = || object[at + 1..].trim_start().starts_with(['}', ']']);
        if letter == ',' && !quoted && closes() {
            continue;
        }
        kept.push(letter);
    }
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Any object. It may come from a text that mentions `a`.
    #[derive(Debug, PartialEq)]
    struct Any(String);

    impl Wanted for Any {
        const KEY: &'static str = "a";

        fn may_be_from(&self, shown: &Shown) -> bool {
            self.0.contains(r#""a""#) && shown.mentions("a")
        }
    }

    const QUOTED: Unreadable = Unreadable::Quoted { key: "a" };
    const MISSING: Unreadable = Unreadable::Missing { wanted: "anything" };

    fn any(object: &str) -> Option<Any> {
        parse::<Value>(object).map(|object| Any(object.to_string()))
    }

    fn read_any(reply: &str, shown: &str) -> Result<String, Unreadable> {
        read(reply, &Shown::new(&[shown]), any, "anything").map(|found| found.object.0)
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
            // Neither hangs, and the JSON objects among the braces disagree.
            let expected = match unit {
                "{}" => Err(Unreadable::Contradictory),
                _ => Ok(own.clone()),
            };
            assert_eq!(read_any(&after, ""), expected, "{unit}");
        }
    }

    #[test]
    fn deeply_nested_objects_are_refused() {
        let nested =
            |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(read_any(&nested(DEEPEST), "").is_ok());
        for levels in [DEEPEST + 1, 127, 128, 129, 100_000] {
            assert_eq!(read_any(&nested(levels), ""), Err(MISSING), "{levels}");
        }
        let brackets = format!(r#"{{"a": "{}"}}"#, "[".repeat(100));
        assert!(
            read_any(&brackets, "").is_ok(),
            "in a string they nest nothing"
        );
    }

    #[test]
    fn only_signed_objects_count_beside_possible_quotations() {
        let quoted = r#"{"a": 1}"#;
        assert_eq!(read_any(quoted, quoted), Err(QUOTED));
        assert_eq!(read_any(quoted, r#"He said {"a": 1, }."#), Err(QUOTED));
        let nonce = Shown::new(&[quoted]).nonce().to_owned();
        for id in [nonce.clone(), nonce.to_uppercase(), format!(" {nonce}")] {
            let own = json!({"id": id, "a": 1}).to_string();
            assert_eq!(read_any(&own, quoted), Ok(own.replace(": ", ":")), "{own}");
            let both = format!("{quoted} {own} {{\"a\": 2}}");
            assert!(read_any(&both, quoted).is_ok(), "the others are quotations");
        }
        // A quotation that spans two texts, with the delimiters between them.
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
        assert_eq!(read_any(&other, &other), Err(QUOTED));
    }

    #[test]
    fn unreadable_texts_may_contain_any_object() {
        let own = r#"{"b": 1}"#;
        let escapes = "\\".repeat(MEGABYTE);
        assert_eq!(read_any(own, &escapes), Err(QUOTED));
        let nonce = Shown::new(&[&escapes]).nonce().to_owned();
        let own = json!({"id": nonce, "a": 1}).to_string();
        assert!(read_any(&own, &escapes).is_ok());
    }

    #[test]
    fn an_unpaired_surrogate_is_replaced() {
        let own = r#"{"a": "\ud83d!"}"#;
        assert_eq!(read_any(own, ""), Ok("{\"a\":\"\u{fffd}!\"}".to_owned()));
    }
}
