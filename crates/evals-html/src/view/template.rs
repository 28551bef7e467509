//! The templates of the viewer's pages.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use thiserror::Error;

use crate::escaping;

/// The templates by name. Most pages extend the first.
const TEMPLATES: [(&str, &str); 9] = [
    (
        "shell",
        include_str!("../../templates/view/shell.html.jinja"),
    ),
    (
        "navigation",
        include_str!("../../templates/navigation.html"),
    ),
    (
        "sparkline",
        include_str!("../../templates/view/sparkline.html.jinja"),
    ),
    ("runs", include_str!("../../templates/view/runs.html.jinja")),
    ("live", include_str!("../../templates/view/live.html.jinja")),
    (
        "trend",
        include_str!("../../templates/view/trend.html.jinja"),
    ),
    (
        "labelling",
        include_str!("../../templates/view/labelling.html.jinja"),
    ),
    (
        "message",
        include_str!("../../templates/view/message.html.jinja"),
    ),
    (
        "forward",
        include_str!("../../templates/view/forward.html.jinja"),
    ),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);

/// A page cannot be rendered, because its template has a fault.
#[derive(Debug, Error)]
#[error("cannot render the page `{page}`")]
pub struct TemplateError {
    page: String,
    source: minijinja::Error,
}

/// Renders the template of a page with a page's texts.
///
/// # Errors
///
/// The template has a fault.
pub fn render(page: &str, texts: &impl Serialize) -> Result<String, TemplateError> {
    let template = ENVIRONMENT.get_template(page);
    let rendered = template.and_then(|template| template.render(Serde(texts)));
    rendered.map_err(|source| TemplateError {
        page: page.to_owned(),
        source,
    })
}

fn environment() -> Environment<'static> {
    let mut environment = escaping::environment();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the usual delimiters differ");
    environment.set_syntax(syntax);
    for (name, source) in TEMPLATES {
        environment
            .add_template(name, source)
            .expect("the tests render every template");
    }
    environment
}
