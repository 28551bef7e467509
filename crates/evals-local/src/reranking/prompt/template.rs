//! Chat templates that make a prompt of a pair.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, context};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::template_source::{TemplateSource, template_error};
use crate::error::LocalError;
use crate::folder::Folder;
use crate::sentence_transformers::{ModuleOutput, TransformerConfig, transformer_file};
use crate::tokenizer::special_tokens;

const TOKENIZER: &str = "tokenizer_config.json";
const SPECIAL_TOKENS: &str = "special_tokens_map.json";

/// The name of the only template.
const NAME: &str = "chat_template";

/// How many steps a template may take. Published templates take a few hundred.
const FUEL: u64 = 1_000_000;

/// The error for a template that takes more.
const ENDLESS: &str = "stopped after a million steps";

/// A chat template that takes query and text as one message each, as sentence-transformers renders it for rerankers.
#[derive(Debug)]
pub(super) struct Template {
    /// The source of the template.
    pub(super) source: String,
    /// Holds the parsed template.
    environment: Environment<'static>,
    /// The variables of the template besides the messages.
    variables: Map<String, Value>,
    /// Becomes the system message.
    instruction: Option<String>,
    /// The most tokens of a prompt, if the folder states them.
    pub(super) max_tokens: Option<usize>,
}

/// The keys of `sentence_bert_config.json` that matter here.
#[derive(Debug, Deserialize)]
struct TemplateConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    modality_config: Map<String, Value>,
    #[serde(default)]
    processing_kwargs: Map<String, Value>,
}

/// How sentence-transformers renders pairs here.
const PERMITTED: [(&str, &[&str]); 2] = [
    ("modality_config.message.format", &["flat"]),
    ("do_lower_case", &["false"]),
];

impl Template {
    /// Reads the template of a folder. `None` if the folder does not render pairs as messages, or if the template is not for pairs.
    pub(super) fn read(
        folder: &Folder,
        instruction: Option<String>,
    ) -> Result<Option<Self>, LocalError> {
        let Some(stated) = transformer_file(folder)? else {
            return Ok(None);
        };
        let config: TemplateConfig = folder.required(stated)?;
        if !config.modality_config.contains_key("message") {
            return Ok(None);
        }
        folder.permit(stated, &PERMITTED)?;
        TransformerConfig::read(folder, ModuleOutput::NextToken)?;
        let given = given(folder, stated, config.processing_kwargs)?;
        let tokenizer: Map<String, Value> = folder.json(TOKENIZER)?.unwrap_or_default();
        // The answer follows the end of the prompt, so the end must not be truncated away.
        folder.permit(TOKENIZER, &[("truncation_side", &["right"])])?;
        let found = TemplateSource::read(folder, tokenizer.get("chat_template"))?;
        let Some(TemplateSource { file, source }) = found else {
            return Ok(None);
        };
        let unusable = |source: Error| template_error(folder, file, source);
        let mut variables = Map::from_iter([("add_generation_prompt".to_owned(), json!(false))]);
        variables.extend(token_variables(folder, &tokenizer)?);
        variables.extend(given);
        let template = Self {
            environment: environment(source.clone()).map_err(unusable)?,
            source,
            variables,
            instruction,
            max_tokens: config.max_seq_length,
        };
        let takes_pairs = template.takes_pairs().map_err(unusable)?;
        Ok(takes_pairs.then_some(template))
    }

    /// The prompt for one pair.
    pub(super) fn render(&self, query: &str, text: &str) -> Result<String, Error> {
        let instruction = self
            .instruction
            .iter()
            .map(|instruction| json!({"role": "system", "content": instruction}));
        let pair = [("query", query), ("document", text)];
        let pair = pair.map(|(role, content)| json!({"role": role, "content": content}));
        let messages: Vec<Value> = instruction.chain(pair).collect();
        let messages = minijinja::Value::from(Serde(messages));
        let variables = minijinja::Value::from(Serde(&self.variables));
        let template = self.environment.get_template(NAME)?;
        let rendered = template.render(context! { messages, ..variables });
        rendered.map_err(|error| match error.kind() {
            ErrorKind::OutOfFuel => Error::new(ErrorKind::OutOfFuel, ENDLESS),
            _ => error,
        })
    }

    /// Whether both parts of a pair appear in the prompt. Templates for conversations omit or refuse messages with these roles.
    fn takes_pairs(&self) -> Result<bool, Error> {
        let parts = ["\u{f8ff}first", "\u{f8ff}second"];
        let prompt = self.render(parts[0], parts[1])?;
        Ok(parts.iter().all(|part| prompt.contains(part)))
    }
}

/// An environment with this template, parsed once for all pairs, as transformers sets it up: values have the Python methods that
/// templates use.
fn environment(source: String) -> Result<Environment<'static>, Error> {
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

/// The arguments that sentence-transformers passes to the template. Arguments that would truncate prompts differently are refused.
fn given(
    folder: &Folder,
    file: &str,
    mut processing: Map<String, Value>,
) -> Result<Map<String, Value>, LocalError> {
    let given = match processing.remove("chat_template") {
        Some(Value::Object(given)) => given,
        _ => Map::new(),
    };
    let cuts = ["max_length", "restore_suffix", "truncation"];
    let cuts = given.keys().filter(|key| cuts.contains(&key.as_str()));
    match processing.keys().chain(cuts).next() {
        Some(key) => Err(folder.unsupported(file, "processing_kwargs", key)),
        None => Ok(given),
    }
}

/// The special tokens, as variables of the template. Those of `special_tokens_map.json` count if `tokenizer_config.json` does not list
/// its tokens, which older versions did not.
fn token_variables(
    folder: &Folder,
    tokenizer: &Map<String, Value>,
) -> Result<Map<String, Value>, LocalError> {
    let mut tokens = special_tokens(folder, TOKENIZER)?;
    if !tokenizer.contains_key("added_tokens_decoder") {
        tokens.extend(special_tokens(folder, SPECIAL_TOKENS)?);
    }
    Ok(tokens
        .into_iter()
        .map(|(key, text)| (key, text.into()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(source: &str, instruction: Option<&str>) -> Template {
        Template {
            environment: environment(source.to_owned()).unwrap(),
            source: source.to_owned(),
            variables: Map::from_iter([("add_generation_prompt".to_owned(), json!(true))]),
            instruction: instruction.map(ToOwned::to_owned),
            max_tokens: None,
        }
    }

    fn rendered(source: &str, instruction: Option<&str>) -> String {
        let template = template(source, instruction);
        template.render("why?", "so\n").unwrap()
    }

    #[test]
    fn parts_are_found_by_their_roles() {
        let source = "<Instruct>: {{ messages | selectattr(\"role\", \"eq\", \"system\") | map(attribute=\"content\") \
                      | first | default(\"Search\") }}\n\
                      <Query>: {{ (messages | selectattr(\"role\", \"eq\", \"query\") | first).content }}\n\
                      <Document>: {{ messages | selectattr(\"role\", \"eq\", \"document\") | map(attribute=\"content\") | first }}";
        assert_eq!(
            rendered(source, None),
            "<Instruct>: Search\n<Query>: why?\n<Document>: so\n"
        );
        assert_eq!(
            rendered(source, Some("Find")),
            "<Instruct>: Find\n<Query>: why?\n<Document>: so\n"
        );
    }

    #[test]
    fn texts_have_the_methods_of_python() {
        let source = "{{ ' a b '.strip() }}|{{ messages[1].get('content').rstrip() }}|{% if messages[0].content.startswith('w') %}\
                      {{ messages[0]['content'].split('y')[1] }}{% endif %}|{{ 'x'.upper() }}";
        assert_eq!(rendered(source, None), "a b|so|?|X");
    }

    #[test]
    fn templates_without_end_are_stopped() {
        let rounds =
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
        let template = template(rounds, None);
        let error = template.render("why?", "so").unwrap_err();
        assert_eq!(
            error.to_string(),
            "engine ran out of fuel: stopped after a million steps"
        );
    }

    #[test]
    fn lines_of_blocks_and_the_last_line_break_are_removed() {
        let source = "{% for message in messages %}\n{{ message.role }}\n  {% endfor %}\n\
                      {% if add_generation_prompt %}\n<think>\n\n{% endif %}\n\n\n";
        assert_eq!(rendered(source, None), "query\ndocument\n<think>\n\n\n");
    }
}
