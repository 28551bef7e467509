//! Texts in HTML: none of them becomes markup or steers the reader's screen.

use evals_messages::visible;
use minijinja::{AutoEscape, Environment, Value, escape_formatter};

/// An environment that escapes HTML in every template, and makes characters visible that would steer the reader's screen.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            escape_formatter(out, state, &Value::from(visible::text(text)))
        }
        _ => escape_formatter(out, state, value),
    });
    environment
}
