//! Prompt templates.

use std::collections::BTreeMap;
use std::error::Error;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A minijinja template for the messages to a model.
///
/// The bundled templates are the files in the folder `prompts`; a caller may use its own text instead. A missing value is an
/// error, never an empty string. Values are not escaped. Lines with only a block tag are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    name: String,
    text: String,
    digest: String,
}

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The text is not a template.
    #[error("prompt `{name}` is not a valid template")]
    Syntax {
        /// The prompt's name.
        name: String,
        /// The error, with its line.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The template could not be filled in.
    #[error("prompt `{name}` cannot be filled in")]
    Render {
        /// The prompt's name.
        name: String,
        /// The error, with its line.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// A prompt of the folder `prompts`, which is part of the program.
macro_rules! bundled {
    ($name:literal) => {
        $crate::Prompt::bundled(
            $name,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../prompts/",
                $name
            )),
        )
    };
}

/// A set of bundled prompts, each in a field of its name. The fields are in alphabetical order of the files' names.
#[macro_export]
macro_rules! prompt_set {
    ($(#[$about:meta])* $set:ident { $($(#[$values:meta])* $name:ident: $file:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $set {
            $($(#[$values])* pub $name: $crate::Prompt,)+
        }

        impl Default for $set {
            /// The prompts that are part of the program.
            fn default() -> Self {
                let bundled = |name, text| {
                    $crate::Prompt::new(name, text).expect("a test fills every bundled prompt in")
                };
                Self {
                    $($name: bundled(
                        $file,
                        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../prompts/", $file)),
                    ),)+
                }
            }
        }

        impl $set {
            /// All prompts, in alphabetical order of their names.
            pub fn all(&self) -> Vec<&$crate::Prompt> {
                vec![$(&self.$name),+]
            }

            /// The same prompts, each replaced by what `replace` returns.
            ///
            /// # Errors
            ///
            /// The first error of `replace`.
            pub fn try_map<E>(
                self,
                mut replace: impl FnMut($crate::Prompt) -> Result<$crate::Prompt, E>,
            ) -> Result<Self, E> {
                Ok(Self { $($name: replace(self.$name)?,)+ })
            }
        }
    };
}

impl Prompt {
    /// Makes a prompt from the text of a template. Messages call it `name`, which is usually a file name.
    ///
    /// # Errors
    ///
    /// The text is not a valid template. Missing values are found only when the template is filled in.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Result<Self, PromptError> {
        let prompt = Self::bundled(name, text);
        match environment().template_from_named_str(&prompt.name, &prompt.text) {
            Ok(_) => Ok(prompt),
            Err(source) => Err(PromptError::Syntax {
                name: prompt.name,
                source: Box::new(source),
            }),
        }
    }

    /// The bundled prompt of [`ChatAnswerer`](crate::answering::ChatAnswerer).
    ///
    /// Values: `question`, `refusal` (the sentence to refuse with), `passages` (each with `number`, `title`, `text`) and
    /// `nonce`, which occurs in neither the question nor a passage.
    pub fn answer() -> Self {
        bundled!("answer.md.jinja")
    }

    /// The bundled prompt of [`AgentAnswerer`](crate::answering::AgentAnswerer).
    ///
    /// Values: `question`, `refusal` (the sentence to refuse with), `steps` (the most messages of the model) and `nonce`, which does not
    /// occur in the question.
    pub fn agent() -> Self {
        bundled!("agent.md.jinja")
    }

    /// The bundled result of the tool that [`AgentAnswerer`](crate::answering::AgentAnswerer) gives its model.
    ///
    /// Values: `passages` (each with `number`, `title`, `text`) and `nonce`, which occurs in no passage.
    pub fn agent_passages() -> Self {
        bundled!("agent-passages.md.jinja")
    }

    /// The bundled prompt of [`ChatJudge`](crate::judging::ChatJudge).
    ///
    /// Values: `question`, `reference`, `answer` and `nonce`, which occurs in none of the others.
    pub fn judge() -> Self {
        bundled!("judge.md.jinja")
    }

    /// The bundled prompt of [`RefusalJudge`](crate::judging::RefusalJudge).
    ///
    /// Values: `question`, `answer` and `nonce`, which occurs in none of the others.
    pub fn refusal() -> Self {
        bundled!("refusal.md.jinja")
    }

    /// The bundled prompt of [`RelevanceJudge`](crate::judging::RelevanceJudge).
    ///
    /// Values: `question`, `passage` and `nonce`, which occurs in neither of the others.
    pub fn grade() -> Self {
        bundled!("judge-grade.md.jinja")
    }

    /// The bundled message that sends an unreadable verdict back. Values: `complaint`, and the prompt's `nonce`.
    pub fn repair() -> Self {
        bundled!("repair.md.jinja")
    }

    /// The bundled message that sends an unreadable verdict of another form back. Values: `complaint`, and `shape`, the required
    /// form.
    pub fn verdict_repair() -> Self {
        bundled!("verdict-repair.md.jinja")
    }

    /// The bundled prompt of [`PointwiseReranker`](crate::reranking::PointwiseReranker).
    ///
    /// Values: `question`, `passage` and `nonce`, which occurs in neither of the others.
    pub fn rerank_pointwise() -> Self {
        bundled!("rerank-pointwise.md.jinja")
    }

    /// The bundled prompt of [`ListwiseReranker`](crate::reranking::ListwiseReranker).
    ///
    /// Values: `question`, `passages` (each with `number` and `text`) and `nonce`, which occurs in none of the others.
    pub fn rerank_listwise() -> Self {
        bundled!("rerank-listwise.md.jinja")
    }

    /// The bundled message that sends an unreadable ranking back. Values: `complaint`, and `shape`, the required form.
    pub fn rerank_repair() -> Self {
        bundled!("rerank-repair.md.jinja")
    }

    /// The bundled prompt of [`Rewriter`](crate::Rewriter).
    ///
    /// Values: `messages` (each with `speaker`, `user` or `assistant`, and `text`), `question` and `nonce`, which occurs in none of the
    /// others.
    pub fn rewrite() -> Self {
        bundled!("rewrite.md.jinja")
    }

    /// The bundled prompt of [`SimulatedUser`](crate::SimulatedUser).
    ///
    /// Values: `goal`, `facts` (texts), `messages` (each with `speaker`, `user` or `assistant`, and `text`) and `nonce`, which occurs in
    /// none of the others. A reply that begins with `done-` ends the conversation.
    pub fn user() -> Self {
        bundled!("user.md.jinja")
    }

    /// The name given to [`new`](Self::new), or the bundled file's.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The template's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the text, in hexadecimal. Equal digests mean equal instructions.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Fills the template in.
    ///
    /// # Errors
    ///
    /// A value is missing, or the template applies an operation that a value does not support.
    pub(crate) fn render(&self, values: Value) -> Result<String, PromptError> {
        environment()
            .render_named_str(&self.name, &self.text, values)
            .map_err(|source| PromptError::Render {
                name: self.name.clone(),
                source: Box::new(source),
            })
    }

    /// Fills the template in with texts by name.
    ///
    /// # Errors
    ///
    /// A value is missing, or the template applies an operation that a text does not support.
    pub fn fill<'v>(
        &self,
        texts: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<String, PromptError> {
        let texts = texts.into_iter();
        let texts: BTreeMap<String, String> = texts
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .collect();
        self.render(texts.into())
    }

    /// Fills the template in with values by name: texts, numbers, and lists or objects of them.
    ///
    /// # Errors
    ///
    /// A value is missing, or the template applies an operation that a value does not support.
    pub fn fill_with(&self, values: &impl Serialize) -> Result<String, PromptError> {
        self.render(Value::from(minijinja::value::Serde(values)))
    }

    pub(crate) fn bundled(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            name: name.into(),
            digest: hex::encode(Sha256::digest(text.as_bytes())),
            text,
        }
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build().expect("the usual delimiters do not clash"));
    environment
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    #[test]
    fn nothing_is_escaped_and_tag_lines_vanish() {
        let prompt = Prompt::new(
            "p.html",
            "{% for word in words %}\n<{{ word }}>\n{% endfor %}\n.",
        );
        let text = prompt.unwrap().render(context! { words => ["a & b", "c"] });
        assert_eq!(text.unwrap(), "<a & b>\n<c>\n.");
    }

    #[test]
    fn texts_are_filled_in_by_name() {
        let prompt = Prompt::new("p", "{% if b is defined %}{{ b }}{% endif %}{{ a }}").unwrap();
        assert_eq!(prompt.fill([("a", "{{ b }}")]).unwrap(), "{{ b }}");
        assert_eq!(prompt.fill([("a", "x"), ("b", "y")]).unwrap(), "yx");
    }

    #[test]
    fn a_missing_value_is_an_error_that_names_the_prompt() {
        let prompt = Prompt::new("mine.jinja", "Question: {{ qestion }}").unwrap();
        let error = prompt.render(context! { question => "why?" }).unwrap_err();
        assert_eq!(error.to_string(), "prompt `mine.jinja` cannot be filled in");
        let source = error.source().unwrap().to_string();
        assert!(source.contains("undefined value"), "{source}");
        assert!(source.contains("mine.jinja:1"), "{source}");
    }

    #[test]
    fn invalid_templates_are_refused() {
        let error = Prompt::new("mine.jinja", "{% if %}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "prompt `mine.jinja` is not a valid template"
        );
    }

    #[test]
    fn the_digest_is_the_sha_256_of_the_text() {
        // `printf abc | sha256sum`
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Prompt::new("p", "abc").unwrap().digest(), abc);
    }

    #[test]
    fn bundled_prompts_are_templates() {
        for prompt in [
            Prompt::answer(),
            Prompt::agent(),
            Prompt::agent_passages(),
            Prompt::judge(),
            Prompt::refusal(),
            Prompt::grade(),
            Prompt::repair(),
            Prompt::verdict_repair(),
            Prompt::rerank_pointwise(),
            Prompt::rerank_listwise(),
            Prompt::rerank_repair(),
            Prompt::rewrite(),
        ] {
            Prompt::new(prompt.name(), prompt.text()).unwrap();
        }
    }
}
