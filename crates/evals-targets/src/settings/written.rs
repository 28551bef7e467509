//! Texts with environment variables in them, which are stored as they were written.

use std::fmt;

use evals_messages::credential::{REDACTED, is_credential};

/// A text in which `${NAME}` stands for an environment variable.
///
/// Only [`expand`](Self::expand) reads the variables, and what it returns has no `Display`: a value is sent, never stored or shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    parts: Vec<WrittenPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum WrittenPart {
    Text(String),
    Variable(String),
}

/// The value of a [`Written`] text.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    value: String,
    /// The name and the value of each variable.
    variables: Vec<(String, String)>,
}

impl Written {
    /// Reads a text.
    ///
    /// # Errors
    ///
    /// A `${` is not followed by the name of a variable and `}`. The message does not repeat the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, variable) = (&rest[..at], &rest[at + 2..]);
            let name = variable.split_once('}').filter(|(name, _)| is_name(name));
            let (name, after) = name
                .ok_or("`${` has to be followed by the name of an environment variable and `}`")?;
            if !before.is_empty() {
                parts.push(WrittenPart::Text(before.to_owned()));
            }
            parts.push(WrittenPart::Variable(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(WrittenPart::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The name of the variable, if the text is one and nothing else.
    pub fn lone_variable(&self) -> Option<String> {
        match self.parts.as_slice() {
            [WrittenPart::Variable(name)] => Some(name.clone()),
            _ => None,
        }
    }

    /// Puts the values of the variables in.
    ///
    /// # Errors
    ///
    /// A variable is not set, or is empty.
    pub fn expand(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Expanded, String> {
        let mut expanded = Expanded {
            value: String::new(),
            variables: Vec::new(),
        };
        for part in &self.parts {
            match part {
                WrittenPart::Text(text) => expanded.value += text,
                WrittenPart::Variable(name) => {
                    let value = variable(name)
                        .map(|value| value.trim().to_owned())
                        .filter(|value| !value.is_empty())
                        .ok_or_else(|| format!("the environment variable `{name}` is not set"))?;
                    expanded.value += &value;
                    expanded.variables.push((name.clone(), value));
                }
            }
        }
        Ok(expanded)
    }

    /// Whether the text names a variable.
    pub fn has_variables(&self) -> bool {
        self.variables().next().is_some()
    }

    /// The names of the variables in the text.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            WrittenPart::Variable(name) => Some(name.as_str()),
            WrittenPart::Text(_) => None,
        })
    }

    /// The text as it may be stored and shown, of a header or parameter of this name: as it was written, unless it is a credential
    /// itself.
    pub fn shown(name: &str, text: &str) -> String {
        let written = Self::parse(text);
        if is_credential(name) && !written.is_ok_and(|written| written.has_variables()) {
            REDACTED.to_owned()
        } else {
            text.to_owned()
        }
    }
}

impl Expanded {
    /// The value, to be sent.
    pub fn expose(&self) -> &str {
        &self.value
    }

    /// The credentials in it, as the value of a header or parameter of this name: the values of its variables, if the name or the
    /// variable's own name is one of a credential. They have to be removed from everything that a server sends. Other values, such as
    /// that of a tenant, may be part of the ids of documents.
    pub fn secrets(&self, name: &str) -> impl Iterator<Item = &str> {
        let is_secret = is_credential(name);
        let variables = self.variables.iter();
        variables
            .filter(move |(variable, _)| is_secret || is_credential(variable))
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for Expanded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(REDACTED)
    }
}

/// Whether a text can be the name of an environment variable.
fn is_name(name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.starts_with(|first: char| is_part(first) && !first.is_ascii_digit())
        && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some("sk-secret\n".to_owned()),
            "EMPTY" => Some(" ".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_put_in_and_only_they_are_secret() {
        let written = Written::parse("Bearer ${TOKEN}, $5 {x}").unwrap();
        let expanded = written.expand(environment).unwrap();
        assert_eq!(expanded.expose(), "Bearer sk-secret, $5 {x}");
        let secrets: Vec<&str> = expanded.secrets("Authorization").collect();
        assert_eq!(secrets, ["sk-secret"]);
        assert!(!format!("{expanded:?}").contains("sk-secret"));
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let message = |text| {
            Written::parse(text)
                .unwrap()
                .expand(environment)
                .unwrap_err()
        };
        assert_eq!(
            message("${NOBODY}"),
            "the environment variable `NOBODY` is not set"
        );
        assert_eq!(
            message("a${EMPTY}"),
            "the environment variable `EMPTY` is not set"
        );
    }

    #[test]
    fn a_reference_that_is_not_closed_is_refused() {
        for text in ["${", "${A", "${}", "${A B}", "${1A}", "x ${A} ${-}"] {
            assert!(Written::parse(text).is_err(), "{text}");
        }
        assert!(!Written::parse("$A $$ {A}").unwrap().has_variables());
    }

    #[test]
    fn only_a_credential_that_stands_there_itself_is_hidden() {
        assert_eq!(
            Written::shown("Authorization", "Bearer ${TOKEN}"),
            "Bearer ${TOKEN}"
        );
        assert_eq!(Written::shown("Authorization", "Bearer sk-1"), REDACTED);
        assert_eq!(Written::shown("Accept-Language", "de"), "de");
    }
}
