use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, context};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::error::LocalError;
use super::super::folder::Folder;
use super::super::pipeline::transformer_file;

const FILE: &str = "chat_template.jinja";
const TOKENIZER: &str = "tokenizer_config.json";

/// A chat template that takes a pair as one message for each of its parts, as sentence-transformers renders it for rerankers.
#[derive(Debug)]
pub(super) struct Template {
    environment: Environment<'static>,
    source: String,
    /// What the template may use besides the messages.
    variables: Map<String, Value>,
    /// Goes in as the message of the system.
    instruction: Option<String>,
    /// Tokens of a prompt at most, where the folder says so beside the template.
    max_tokens: Option<usize>,
}

/// The keys of `sentence_bert_config.json` that matter here.
#[derive(Debug, Deserialize)]
struct TransformerConfig {
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
    /// Reads the template of a folder whose pairs go through one. `None` where pairs are not messages or the template is not
    /// for pairs.
    pub(super) fn read(
        folder: &Folder,
        instruction: Option<String>,
    ) -> Result<Option<Self>, LocalError> {
        let Some(stated) = transformer_file(folder)? else {
            return Ok(None);
        };
        let config: TransformerConfig = folder.required(stated)?;
        let Some(messages) = config.modality_config.message else {
            return Ok(None);
        };
        if let Some(format) = messages.format
            && format != "flat"
        {
            let key = "modality_config.message.format";
            return Err(folder.unsupported(stated, key, format));
        }
        let given = given(folder, stated, config.processing_kwargs)?;
        let tokenizer: Map<String, Value> = folder.json(TOKENIZER)?.unwrap_or_default();
        let Some((file, source)) = source(folder, &tokenizer)? else {
            return Ok(None);
        };
        let special = tokenizer
            .into_iter()
            .filter(|(key, value)| key.ends_with("_token") && value.is_string());
        let mut variables = Map::from_iter([("add_generation_prompt".to_owned(), json!(false))]);
        variables.extend(special);
        variables.extend(given);
        let template = Self {
            environment: environment(),
            source,
            variables,
            instruction,
            max_tokens: config.max_seq_length,
        };
        let takes_pairs = template
            .takes_pairs()
            .map_err(|source| LocalError::Template {
                path: folder.path(file),
                source: Box::new(source),
            })?;
        Ok(takes_pairs.then_some(template))
    }

    /// Tokens of a prompt at most, where the folder says so beside the template.
    pub(super) fn max_tokens(&self) -> Option<usize> {
        self.max_tokens
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
        self.environment
            .render_str(&self.source, context! { messages, ..variables })
    }

    /// Whether both parts of a pair are in the prompt: templates for conversations leave out or refuse what has another role.
    fn takes_pairs(&self) -> Result<bool, Error> {
        let parts = ["\u{f8ff}first", "\u{f8ff}second"];
        let prompt = self.render(parts[0], parts[1])?;
        Ok(parts.iter().all(|part| prompt.contains(part)))
    }
}

/// What sentence-transformers gives to the template. Arguments that would cut prompts another way are refused.
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

/// The file that states the template, and the template.
fn source(
    folder: &Folder,
    tokenizer: &Map<String, Value>,
) -> Result<Option<(&'static str, String)>, LocalError> {
    if let Some(bytes) = folder.bytes(FILE)? {
        let source = String::from_utf8(bytes).map_err(|source| LocalError::Template {
            path: folder.path(FILE),
            source: Box::new(source),
        })?;
        return Ok(Some((FILE, source)));
    }
    let stated = tokenizer.get("chat_template").and_then(Value::as_str);
    Ok(stated.map(|source| (TOKENIZER, source.to_owned())))
}

/// As transformers sets up templates.
fn environment() -> Environment<'static> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the usual delimiters do not collide");
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.add_function("raise_exception", |message: String| {
        Err::<String, _>(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str, instruction: Option<&str>) -> String {
        let template = Template {
            environment: environment(),
            source: source.to_owned(),
            variables: Map::from_iter([("add_generation_prompt".to_owned(), json!(true))]),
            instruction: instruction.map(ToOwned::to_owned),
            max_tokens: None,
        };
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
    fn lines_of_blocks_and_the_last_line_break_leave_nothing_behind() {
        let source = "{% for message in messages %}\n{{ message.role }}\n  {% endfor %}\n\
                      {% if add_generation_prompt %}\n<think>\n\n{% endif %}\n\n\n";
        assert_eq!(rendered(source, None), "query\ndocument\n<think>\n\n\n");
    }
}
