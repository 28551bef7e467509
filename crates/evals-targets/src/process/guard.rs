//! The random words in the ids of requests, by which no text that a process prints can pass for a reply.

use serde_json::Value;

/// Hexadecimal digits of the part that all words of a process share, and of the part that each word has alone: 64 bits.
const DIGITS: usize = 16;

/// Makes the ids of one process's requests, and takes the words out of what the process writes.
///
/// All words begin alike, so that one is recognised in any text without a list of them.
#[derive(Debug)]
pub(super) struct Guard {
    mark: String,
}

impl Guard {
    pub(super) fn new() -> Self {
        Self {
            mark: format!("~{}", random()),
        }
    }

    /// The id with a new word behind it.
    pub(super) fn id(&self, id: &str) -> String {
        format!("{id}{}{}", self.mark, random())
    }

    /// A text without the words.
    pub(super) fn without_words(&self, text: &str) -> String {
        let mut parts = text.split(&self.mark);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |shown, part| {
            let digits = part.bytes().take(DIGITS);
            shown + &part[digits.take_while(u8::is_ascii_hexdigit).count()..]
        })
    }

    /// A value whose texts and keys have no words.
    pub(super) fn clean(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text.contains(&self.mark) => self.without_words(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.clean(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let clean =
                    fields.map(|(key, value)| (self.without_words(&key), self.clean(value)));
                Value::Object(clean.collect())
            }
            other => other,
        }
    }
}

fn random() -> String {
    let number = getrandom::u64().expect("the system gives random numbers to every process");
    format!("{number:0DIGITS$x}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_id_has_a_word_of_its_own_that_no_report_shows() {
        let guard = Guard::new();
        let (one, other) = (guard.id("a"), guard.id("a"));
        assert_ne!(one, other);
        let said = format!(
            "after {one}, {other}dead and the first half of {}",
            &one[..20]
        );
        assert_eq!(
            guard.without_words(&said),
            "after a, adead and the first half of a"
        );
        let reply = json!({"id": one, other: [format!("{}f", guard.id("b"))]});
        assert_eq!(guard.clean(reply), json!({"id": "a", "a": ["bf"]}));
    }
}
