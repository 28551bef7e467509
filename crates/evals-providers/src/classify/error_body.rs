//! The bodies of servers' errors.

use evals_messages::visible;
use serde_json::Value;

/// The length at which messages are cut, in characters.
const LONGEST: usize = 400;

/// The relevant parts of an error's body, in whatever shape the server sent them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// The server's message, on one line. Empty if there is none.
    pub(crate) message: String,
    /// Whether the body is a web page.
    pub(crate) is_page: bool,
    /// The error's code, numbers included: `context_length_exceeded`, `429`.
    pub(crate) code: Option<String>,
    /// The error's type: `insufficient_quota`, `BadRequestError`.
    pub(crate) kind: Option<String>,
    /// The field of the request that the error is about.
    pub(crate) field: Option<String>,
}

impl ErrorBody {
    /// Reads the body of an error: any of the shapes of [`Self::from_json`], a web page, or plain text.
    pub(crate) fn parse(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        if let Ok(json) = serde_json::from_str::<Value>(&text) {
            return Self::from_json(&json);
        }
        let is_page = looks_like_html(&text);
        let message = if is_page {
            page_title(&text)
        } else {
            text.into_owned()
        };
        Self {
            message: visible::folded(&message),
            is_page,
            ..Self::default()
        }
    }

    /// Reads `{"error": {"message": …}}` of `OpenAI` and most others, `{"error": "…"}` of Ollama and TGI, `{"detail": …}` of
    /// `FastAPI`, `{"message": …}` of older vLLM and Mistral, and lists of any of them.
    pub(crate) fn from_json(json: &Value) -> Self {
        let outer = json.get(0).unwrap_or(json);
        let inner = outer
            .get("error")
            .or_else(|| outer.get("detail"))
            .unwrap_or(outer);
        let text = |key: &str| inner.get(key).or_else(|| outer.get(key)).and_then(word);
        Self {
            message: visible::folded(&with_cause(message(inner), inner)),
            is_page: false,
            code: text("code"),
            kind: text("type").or_else(|| text("error_type")),
            field: text("param"),
        }
    }

    /// The same body with its texts passed through `redact`, and its message cut after that.
    pub(crate) fn redacted(self, redact: impl Fn(&str) -> String) -> Self {
        let word = |word: Option<String>| word.map(|word| redact(&word));
        Self {
            message: visible::beginning(&redact(&self.message), LONGEST),
            code: word(self.code),
            kind: word(self.kind),
            field: word(self.field),
            ..self
        }
    }

    /// Whether the code or the kind is one of `words`, in any case.
    pub(crate) fn is_any(&self, words: &[&str]) -> bool {
        [&self.code, &self.kind]
            .into_iter()
            .flatten()
            .any(|found| words.iter().any(|word| found.eq_ignore_ascii_case(word)))
    }

    /// Whether the message contains one of `phrases`, which are in lower case.
    pub(crate) fn says_any(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// Whether the error is about the field of that name.
    pub(crate) fn is_about(&self, field: &str) -> bool {
        let named = self.field.as_deref().unwrap_or_default();
        named.split('.').next() == Some(field) || has_word(&self.message, field)
    }

    /// Whether the error names a field as a field: apart, in quotes, as a place, or as the subject of the sentence. A word of prose
    /// does not count.
    pub(crate) fn names(&self, field: &str) -> bool {
        let named = self.field.as_deref().unwrap_or_default();
        let place = |(at, _): (usize, &str)| {
            let (before, after) = (&self.message[..at], &self.message[at + field.len()..]);
            let quoted = before.ends_with(['\'', '"', '`']) && after.starts_with(['\'', '"', '`']);
            let leading = [
                "",
                "body.",
                "parameter ",
                "parameter: ",
                "argument ",
                "supplied: ",
                "field ",
                "field: ",
            ];
            let leads = leading.iter().any(|lead| match *lead {
                "" => before.is_empty(),
                lead => before.ends_with(lead),
            });
            quoted
                || (leads
                    && !after.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
        };
        named.split('.').next() == Some(field) || self.message.match_indices(field).any(place)
    }
}

/// Whether a text is a web page.
pub(crate) fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}

/// A text on one line, cut if it is too long.
pub(crate) fn one_line(text: &str) -> String {
    visible::beginning(&visible::folded(text), LONGEST)
}

fn message(error: &Value) -> String {
    match error {
        Value::String(text) => text.clone(),
        Value::Array(problems) => {
            let problems: Vec<String> = problems.iter().map(problem).collect();
            problems.join("; ")
        }
        Value::Object(fields) => ["message", "detail", "msg", "error"]
            .iter()
            .find_map(|key| fields.get(*key))
            .map_or_else(|| error.to_string(), message),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// One of `FastAPI`'s validation problems: `body.max_tokens: value is not a valid integer`.
fn problem(error: &Value) -> String {
    let place = error.get("loc").and_then(Value::as_array);
    let place: Vec<String> = place.into_iter().flatten().filter_map(word).collect();
    if place.is_empty() {
        message(error)
    } else {
        format!("{}: {}", place.join("."), message(error))
    }
}

/// The message with its cause. `OpenRouter` only says that a provider failed, and adds the provider's message beside it.
fn with_cause(message: String, error: &Value) -> String {
    match error.pointer("/metadata/raw").and_then(Value::as_str) {
        Some(cause) => format!("{message}: {cause}"),
        None => message,
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(word).any(|(at, _)| {
        let after = &text[at + word.len()..];
        !text[..at].ends_with(inside) && !after.starts_with(inside)
    })
}

fn page_title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = ["title", "h1"].iter().find_map(|tag| {
        let start = lower.find(&format!("<{tag}>"))? + tag.len() + 2;
        let end = start + lower[start..].find(&format!("</{tag}>"))?;
        Some(page[start..end].trim().to_owned())
    });
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page titled `{title}`"),
        None => "a web page".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(message: &str, code: Option<&str>, kind: Option<&str>) -> ErrorBody {
        ErrorBody {
            message: message.to_owned(),
            code: code.map(str::to_owned),
            kind: kind.map(str::to_owned),
            ..ErrorBody::default()
        }
    }

    fn page(message: &str) -> ErrorBody {
        ErrorBody {
            is_page: true,
            ..body(message, None, None)
        }
    }

    #[test]
    fn reads_every_servers_shape() {
        let cases = [
            // OpenAI.
            (
                r#"{"error":{"message":"no quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
                body(
                    "no quota",
                    Some("insufficient_quota"),
                    Some("insufficient_quota"),
                ),
            ),
            // vLLM, now and before.
            (
                r#"{"error":{"message":"too long","type":"BadRequestError","param":null,"code":400}}"#,
                body("too long", Some("400"), Some("BadRequestError")),
            ),
            (
                r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
                body("too long", Some("400"), Some("BadRequestError")),
            ),
            // Ollama and TGI.
            (
                r#"{"error":"model 'qwen3' not found"}"#,
                body("model 'qwen3' not found", None, None),
            ),
            (
                r#"{"error":"Input validation error","error_type":"validation"}"#,
                body("Input validation error", None, Some("validation")),
            ),
            // FastAPI.
            (r#"{"detail":"Not Found"}"#, body("Not Found", None, None)),
            (
                r#"{"detail":[{"loc":["body","max_tokens"],"msg":"not an integer","type":"int_parsing"}]}"#,
                body("body.max_tokens: not an integer", None, None),
            ),
            // OpenRouter.
            (
                r#"{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"slow down","provider_name":"X"}}}"#,
                body("Provider returned error: slow down", Some("429"), None),
            ),
            // Gemini answers its OpenAI endpoint with a list.
            (
                r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
                body("API key not valid.", Some("400"), None),
            ),
            // Proxies.
            (
                "<!DOCTYPE html>\n<html><head><title>502 Bad\nGateway</title></head></html>",
                page("a web page titled `502 Bad Gateway`"),
            ),
            ("<html><body>oops</body></html>", page("a web page")),
            (
                "upstream   timed\nout",
                body("upstream timed out", None, None),
            ),
            ("", body("", None, None)),
        ];
        for (text, expected) in cases {
            assert_eq!(ErrorBody::parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn survives_bytes_that_are_no_text() {
        assert_eq!(
            ErrorBody::parse(b"\xff\xfe no").message,
            "\u{fffd}\u{fffd} no"
        );
    }

    #[test]
    fn finds_the_field_that_is_meant() {
        let quoted = body("Unsupported parameter: 'max_tokens'", None, None);
        assert!(quoted.is_about("max_tokens"));
        assert!(!quoted.is_about("tokens"));
        assert!(!body("use max_completion_tokens", None, None).is_about("max_tokens"));
        assert!(quoted.names("max_tokens"));
        assert!(body("temperature is not supported", None, None).names("temperature"));
        assert!(body("body.seed: Extra inputs are not permitted", None, None).names("seed"));
        assert!(!body("the seed of the tree is not supported", None, None).names("seed"));
        let field = ErrorBody {
            field: Some("response_format.json_schema".to_owned()),
            ..ErrorBody::default()
        };
        assert!(field.is_about("response_format"));
    }

    #[test]
    fn long_messages_are_cut() {
        let body = ErrorBody::parse("ä".repeat(1_000).as_bytes());
        assert_eq!(body.message.chars().count(), 1_000);
        let shown = body.redacted(str::to_owned).message;
        assert_eq!(shown.chars().count(), LONGEST + 1);
    }

    #[test]
    fn nothing_secret_survives_at_the_cut() {
        let body = ErrorBody::parse(format!("{}sk-secret", "x".repeat(396)).as_bytes());
        let shown = body.redacted(|text| text.replace("sk-secret", "[redacted]"));
        assert!(shown.message.ends_with("x[red…"), "{}", shown.message);
    }
}
