//! Jinja as transformers sets it up for chat templates.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind};
use minijinja_contrib::pycompat::unknown_method_callback;

/// The name of the only template.
pub(super) const NAME: &str = "chat_template";

/// How many steps a template may take. Published templates take a few hundred.
const FUEL: u64 = 1_000_000;

/// The error for a template that takes more.
pub(super) const ENDLESS: &str = "stopped after a million steps";

/// An environment with this template, parsed once for all pairs. Values have the Python methods that templates use.
pub(super) fn environment(source: String) -> Result<Environment<'static>, Error> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the usual delimiters do not collide");
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_fuel(Some(FUEL));
    environment.set_unknown_method_callback(unknown_method_callback);
    environment.add_function("raise_exception", |message: String| {
        Err::<String, _>(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_template_owned(NAME, source)?;
    Ok(environment)
}
