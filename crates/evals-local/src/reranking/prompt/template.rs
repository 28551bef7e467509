//! Chat templates that make a prompt of a pair.

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, context};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::jinja::{self, NAME};
use super::template_source::TemplateSource;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::sentence_transformers::{Output, TransformerConfig, transformer_file};

const TOKENIZER: &str = "tokenizer_config.json";
const SPECIAL_TOKENS: &str = "special_tokens_map.json";

/// A chat template that takes query and text as one message each, as sentence-transformers renders it for rerankers.
#[derive(Debug)]
pub(super) struct Template {
    source: String,
    /// Holds the parsed template.
    environment: Environment<'static>,
    /// The variables of the template besides the messages.
    variables: Map<String, Value>,
    /// Becomes the system message.
    instruction: Option<String>,
    /// The most tokens of a prompt, if the folder states them.
    max_tokens: Option<usize>,
}

/// The keys of `sentence_bert_config.json` that matter here.
#[derive(Debug, Deserialize)]
struct TemplateConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    modality_config: Modalities,
    #[serde(default)]
    processing_kwargs: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Modalities {
    message: Option<Messages>,
}

#[derive(Debug, Deserialize)]
struct Messages {
    format: Option<String>,
}

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
        let Some(messages) = config.modality_config.message else {
            return Ok(None);
        };
        if let Some(format) = messages.format
            && format != "flat"
        {
            let key = "modality_config.message.format";
            return Err(folder.unsupported(stated, key, format));
        }
        if TransformerConfig::read(folder, Output::NextToken)?.do_lower_case {
            return Err(folder.unsupported(stated, "do_lower_case", "true"));
        }
        let given = given(folder, stated, config.processing_kwargs)?;
        let tokenizer: Map<String, Value> = folder.json(TOKENIZER)?.unwrap_or_default();
        // The answer follows the end of the prompt, so the end must not be truncated away.
        if tokenizer
            .get("truncation_side")
            .is_some_and(|side| side == "left")
        {
            return Err(folder.unsupported(TOKENIZER, "truncation_side", "left"));
        }
        let found = TemplateSource::read(folder, tokenizer.get("chat_template"))?;
        let Some(TemplateSource { file, source }) = found else {
            return Ok(None);
        };
        let unusable = |source: Error| LocalError::Template {
            path: folder.path(file),
            source: Box::new(source),
        };
        let mut variables = Map::from_iter([("add_generation_prompt".to_owned(), json!(false))]);
        variables.extend(special_tokens(folder, tokenizer)?);
        variables.extend(given);
        let template = Self {
            environment: jinja::environment(source.clone()).map_err(unusable)?,
            source,
            variables,
            instruction,
            max_tokens: config.max_seq_length,
        };
        let takes_pairs = template.takes_pairs().map_err(unusable)?;
        Ok(takes_pairs.then_some(template))
    }

    /// The most tokens of a prompt, if the folder states them.
    pub(super) fn max_tokens(&self) -> Option<usize> {
        self.max_tokens
    }

    /// The source of the template.
    pub(super) fn source(&self) -> &str {
        &self.source
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
            ErrorKind::OutOfFuel => Error::new(ErrorKind::OutOfFuel, jinja::ENDLESS),
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

/// The texts of special tokens by name. Those of `special_tokens_map.json` count if `tokenizer_config.json` does not list its tokens,
/// which older versions did not.
fn special_tokens(
    folder: &Folder,
    tokenizer: Map<String, Value>,
) -> Result<Map<String, Value>, LocalError> {
    let mut named = Map::new();
    let is_older = !tokenizer.contains_key("added_tokens_decoder");
    add_tokens(folder, TOKENIZER, tokenizer, &mut named)?;
    if is_older {
        let older: Map<String, Value> = folder.json(SPECIAL_TOKENS)?.unwrap_or_default();
        add_tokens(folder, SPECIAL_TOKENS, older, &mut named)?;
    }
    Ok(named)
}

/// A token is written as text, or as an object that also states how it is matched.
fn add_tokens(
    folder: &Folder,
    file: &str,
    stated: Map<String, Value>,
    named: &mut Map<String, Value>,
) -> Result<(), LocalError> {
    let tokens = stated
        .into_iter()
        .filter(|(key, _)| key.ends_with("_token"));
    for (key, value) in tokens {
        let text = match value {
            Value::String(_) => value,
            Value::Object(mut token) => match token.remove("content") {
                Some(content) if content.is_string() => content,
                _ => return Err(folder.unsupported(file, "content", key)),
            },
            // Switches such as `add_bos_token`, and tokens that are `null`.
            _ => continue,
        };
        named.insert(key, text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(source: &str, instruction: Option<&str>) -> Template {
        Template {
            environment: jinja::environment(source.to_owned()).unwrap(),
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
