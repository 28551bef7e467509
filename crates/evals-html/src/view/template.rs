//! The templates of the viewer's pages.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use thiserror::Error;

use crate::escaping;

macro_rules! templates {
    ($($name:literal),+) => {
        [$(($name, include_str!(concat!("../../templates/view/", $name, ".html.jinja")))),+]
    };
}

/// The templates by name. Most pages extend the first.
const TEMPLATES: [(&str, &str); 9] = templates![
    "shell",
    "sparkline",
    "runs",
    "live",
    "trend",
    "labelling",
    "reviewing",
    "message",
    "forward"
];

/// The part that pages of reports have, too.
const NAVIGATION: (&str, &str) = (
    "navigation",
    include_str!("../../templates/navigation.html"),
);

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
    for (name, source) in TEMPLATES.into_iter().chain([NAVIGATION]) {
        environment
            .add_template(name, source)
            .expect("the tests render every template");
    }
    environment
}
