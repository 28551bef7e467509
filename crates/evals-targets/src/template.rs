//! Templates of requests and prompts: minijinja over the fields of a [`Request`].

use std::error::Error as _;
use std::sync::Arc;

use evals_models::Message;
use minijinja::value::{Kwargs, Rest, Serde};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior, filters};
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::settings::Written;
use crate::{Inputs, Request};

/// How many instructions a template may take: loops over the inputs of a long conversation stay far below, and an endless one ends
/// within a second.
const FUEL: u64 = 5_000_000;

/// The names that a template may use.
const NAMES: [&str; 9] = [
    "conversation",
    "filter",
    "id",
    "inputs",
    "k",
    "messages",
    "question",
    "repeat",
    "vector",
];

/// A minijinja template over `id`, `question`, `messages`, `conversation`, `inputs`, `k`, `repeat`, `vector`, `filter` and the parameters of the
/// target, which come first.
///
/// `filter` is a parameter, which `--filter` sets; without it, the name is undefined.
///
/// A missing value is an error, never an empty text or null. `tojson` writes a value as JSON. `among` fails unless a value is one of several:
/// `{{ mode | among("keyword", "vector") }}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    parameters: Arc<Map<String, Value>>,
}

/// JSON whose texts are templates. A text that is one expression alone keeps the type of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTemplate {
    value: Value,
    parameters: Arc<Map<String, Value>>,
}

/// Why a template cannot be used or filled in.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct TemplateError {
    message: String,
}

/// Marks the error of a value that [`among`] does not know.
#[derive(Debug, Error)]
#[error("unknown value")]
struct UnknownValue;

/// The variables of a template. Fields that the request does not have are undefined.
#[derive(Serialize)]
struct Fields<'r> {
    id: &'r str,
    repeat: u32,
    inputs: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'r str>,
    /// A question that is alone is a conversation with the question's id.
    conversation: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Message>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<Vec<f64>>,
}

/// All names of a template. Of two values with one name the later counts.
#[derive(Serialize)]
struct Names<'r> {
    #[serde(flatten)]
    fields: Fields<'r>,
    #[serde(flatten)]
    parameters: &'r Map<String, Value>,
}

impl Template {
    /// Checks a template without parameters, as [`with`](Self::with).
    pub fn new(text: impl Into<String>) -> Result<Self, TemplateError> {
        Self::with(text, &Arc::default())
    }

    /// Checks a template of a target with these parameters: its syntax, and that it uses only names that exist.
    pub fn with(
        text: impl Into<String>,
        parameters: &Arc<Map<String, Value>>,
    ) -> Result<Self, TemplateError> {
        let text = text.into();
        let environment = environment();
        let template = environment
            .template_from_str(&text)
            .map_err(|error| TemplateError::of(&error))?;
        let used = template.undeclared_variables(false).into_iter();
        known_names(&environment, used.filter(|it| !parameters.contains_key(it)))?;
        Ok(Self {
            text,
            parameters: Arc::clone(parameters),
        })
    }

    /// The template's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the template uses this name.
    pub fn uses(&self, name: &str) -> bool {
        let environment = environment();
        let template = environment.template_from_str(&self.text);
        template.is_ok_and(|template| template.undeclared_variables(false).contains(name))
    }

    /// Fills the template in.
    pub fn fill(&self, request: &Request) -> Result<String, TemplateError> {
        environment()
            .render_str(&self.text, self.names(request))
            .map_err(|error| TemplateError::of(&error))
    }

    fn names<'r>(&'r self, request: &'r Request) -> Serde<Names<'r>> {
        Serde(Names {
            fields: Fields {
                // Few texts of a request use it, and it is long.
                vector: self.vector(request),
                ..Fields::of(request)
            },
            parameters: &self.parameters,
        })
    }

    fn vector(&self, request: &Request) -> Option<Vec<f64>> {
        let vector = request.vector.as_deref()?;
        let is_named = self.text.contains("vector");
        is_named.then(|| vector.iter().map(|it| shortest(*it)).collect())
    }

    /// Fails if `among` refuses a parameter. Other errors may be of a request alone.
    pub(crate) fn check_values(&self) -> Result<(), TemplateError> {
        let mut probe = Request::question("id", "question");
        probe.k = Some(1);
        probe.vector = Some([0.5].into());
        let filled = environment().render_str(&self.text, self.names(&probe));
        let refused = filled.err().filter(|error| {
            error
                .source()
                .is_some_and(<dyn std::error::Error>::is::<UnknownValue>)
        });
        refused.map_or(Ok(()), |error| Err(TemplateError::of(&error)))
    }

    /// Fills the template in with the parameters alone. `None` if it uses names of a request.
    pub(crate) fn fill_parameters(&self) -> Option<Result<String, TemplateError>> {
        let of_request = |name: &str| !self.parameters.contains_key(name) && self.uses(name);
        if NAMES.into_iter().any(of_request) {
            return None;
        }
        Some(self.fill(&Request::question("", "")))
    }

    /// Fills the template in. One expression alone keeps the type of its value.
    fn fill_value(&self, request: &Request) -> Result<Value, TemplateError> {
        let environment = environment();
        let Some(expression) = lone_expression(&environment, &self.text) else {
            return self.fill(request).map(Value::String);
        };
        let value = expression
            .eval(self.names(request))
            .map_err(|error| TemplateError::of(&error))?;
        if value.is_undefined() {
            let message = format!("`{}` is undefined", self.text.trim());
            return Err(TemplateError { message });
        }
        serde_json::to_value(&value).map_err(|error| TemplateError {
            message: error.to_string(),
        })
    }
}

impl JsonTemplate {
    /// Checks every text.
    ///
    /// # Errors
    ///
    /// The dotted path of the first text that is no template, or names an environment variable, and what is wrong with it.
    pub fn new(
        value: Value,
        parameters: &Arc<Map<String, Value>>,
    ) -> Result<Self, (String, TemplateError)> {
        check(&value, "", parameters)?;
        Ok(Self {
            value,
            parameters: Arc::clone(parameters),
        })
    }

    /// Fills every text in.
    pub fn fill(&self, request: &Request) -> Result<Value, TemplateError> {
        self.fill_in(&self.value, request)
    }

    fn fill_in(&self, value: &Value, request: &Request) -> Result<Value, TemplateError> {
        match value {
            Value::String(text) => {
                let template = Template {
                    text: text.clone(),
                    parameters: Arc::clone(&self.parameters),
                };
                template.fill_value(request)
            }
            Value::Array(values) => {
                let values = values.iter().map(|value| self.fill_in(value, request));
                values.collect()
            }
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.fill_in(value, request)?)));
                let fields: Result<Map<_, _>, TemplateError> = fields.collect();
                fields.map(Value::Object)
            }
            other => Ok(other.clone()),
        }
    }
}

fn check(
    value: &Value,
    path: &str,
    parameters: &Arc<Map<String, Value>>,
) -> Result<(), (String, TemplateError)> {
    let inside = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::String(text) if Written::parse(text).is_ok_and(|it| it.has_variables()) => {
            let message = "environment variables are put into `headers` and `query` only; send the value there";
            return Err((path.to_owned(), TemplateError::new(message)));
        }
        Value::String(text) => {
            Template::with(text, parameters).map_err(|error| (path.to_owned(), error))?;
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                check(value, &inside(&index.to_string()), parameters)?;
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                check(value, &inside(name), parameters)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

impl<'r> Fields<'r> {
    fn of(request: &'r Request) -> Self {
        let inputs = match &request.inputs {
            Inputs::Question(question) => Value::from(question.as_str()),
            Inputs::Value(inputs) => inputs.clone(),
        };
        let conversation = request.conversation.as_ref();
        Self {
            id: &request.id,
            repeat: request.repeat,
            inputs,
            question: request.question_text(),
            conversation: conversation.map_or(&request.id, |it| &it.id),
            messages: request.messages(),
            k: request.k,
            vector: None,
        }
    }
}

impl TemplateError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message }
    }

    fn of(error: &minijinja::Error) -> Self {
        // Their `Display` ends with the name of a template, which this one does not have.
        let line = error.line().filter(|line| *line > 1);
        let place = line.map(|line| format!(" (line {line})"));
        let detail = error.detail().map(|detail| format!(": {detail}"));
        Self {
            message: format!(
                "{}{}{}",
                error.kind(),
                detail.unwrap_or_default(),
                place.unwrap_or_default()
            ),
        }
    }
}

/// The number with the fewest digits that reads back as `value`. The usual conversion writes `0.1` as `0.10000000149011612`.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// The expression of a text such as `{{ k }}`, which has nothing beside it.
fn lone_expression<'e>(
    environment: &'e Environment<'_>,
    text: &'e str,
) -> Option<minijinja::Expression<'e, 'e>> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    if inner.contains("{{") || inner.contains("}}") {
        return None;
    }
    let inner = inner.strip_prefix('-').unwrap_or(inner);
    let inner = inner.strip_suffix('-').unwrap_or(inner);
    environment.compile_expression(inner).ok()
}

fn known_names(
    environment: &Environment<'_>,
    used: impl IntoIterator<Item = String>,
) -> Result<(), TemplateError> {
    let globals: Vec<&str> = environment.globals().map(|(name, _)| name).collect();
    let mut unknown: Vec<String> = used
        .into_iter()
        .filter(|name| !NAMES.contains(&name.as_str()) && !globals.contains(&name.as_str()))
        .collect();
    unknown.sort();
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let names = NAMES.map(|name| format!("`{name}`")).join(", ");
    Err(TemplateError {
        message: format!("`{first}` does not exist; the template may use {names}"),
    })
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("tojson", json);
    environment.add_filter("among", among);
    environment
}

/// Writes a value as JSON, which the library's own filter also does for a missing one.
fn json(
    value: &minijinja::Value,
    indent: Option<minijinja::Value>,
    arguments: Kwargs,
) -> Result<minijinja::Value, minijinja::Error> {
    if value.is_undefined() {
        return Err(ErrorKind::UndefinedError.into());
    }
    filters::tojson(value, indent, arguments)
}

/// The value, if it is one of `known`.
fn among(value: &str, known: Rest<String>) -> Result<String, minijinja::Error> {
    if known.iter().any(|it| it == value) {
        return Ok(value.to_owned());
    }
    let known: Vec<String> = known.0.into_iter().map(|it| format!("`{it}`")).collect();
    let detail = format!("`{value}` is none of {}", known.join(", "));
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, detail).with_source(UnknownValue))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_of_the_target_come_before_fields_of_the_request() {
        let parameters = json!({"k": 3, "rank_profile": "fast"});
        let parameters = Arc::new(parameters.as_object().unwrap().clone());
        let mut request = Request::question("q1", "why?");
        request.k = Some(10);
        let template = Template::with("{{ rank_profile }} {{ k }} {{ question }}", &parameters);
        assert_eq!(template.unwrap().fill(&request).unwrap(), "fast 3 why?");
        let json = JsonTemplate::new(json!({"hits": "{{ k }}"}), &parameters).unwrap();
        assert_eq!(json.fill(&request).unwrap(), json!({"hits": 3}));
        assert!(Template::with("{{ rank_profle }}", &parameters).is_err());
    }

    #[test]
    fn a_vector_is_a_json_array_of_its_shortest_numbers() {
        let mut request = Request::question("q1", "why?");
        request.vector = Some([0.1, -1.0, 1.5e-9].into());
        let text = r#"{"vector": {{ vector }}, "n": {{ vector | length }}}"#;
        let filled: Value = serde_json::from_str(&filled(text, &request).unwrap()).unwrap();
        assert_eq!(filled, json!({"vector": [0.1, -1.0, 1.5e-9], "n": 3}));
        let back = filled["vector"].as_array().unwrap().iter();
        #[expect(clippy::cast_possible_truncation, reason = "an engine does so, too")]
        let back = back.map(|it| it.as_f64().unwrap() as f32);
        assert_eq!(back.collect::<Vec<_>>(), [0.1, -1.0, 1.5e-9]);
        let body = JsonTemplate::new(json!({"q": ["{{ vector }}"]}), &Arc::default()).unwrap();
        assert_eq!(
            body.fill(&request).unwrap(),
            json!({"q": [[0.1, -1.0, 1.5e-9]]})
        );
        request.vector = None;
        assert!(body.fill(&request).is_err());
        let written = Template::new("{{ vector | tojson }}").unwrap();
        assert!(written.fill(&request).is_err());
    }

    fn filled(text: &str, request: &Request) -> Result<String, String> {
        let template = Template::new(text).map_err(|error| error.to_string())?;
        template.fill(request).map_err(|error| error.to_string())
    }

    #[test]
    fn an_endless_loop_ends() {
        let endless =
            "{% for x in range(90000) %}{% for y in range(90000) %}{% endfor %}{% endfor %}";
        let error = filled(endless, &Request::question("q1", "why?")).unwrap_err();
        assert!(error.contains("fuel"), "{error}");
    }

    #[test]
    fn a_long_conversation_fits() {
        let messages: Vec<Value> = (0..10_000)
            .map(|it| json!({"role": "user", "n": it}))
            .collect();
        let request = Request::inputs("c", json!(messages));
        let text = "{% for it in inputs %}{{ it.role }}: {{ it.n }}\n{% endfor %}";
        assert_eq!(filled(text, &request).unwrap().lines().count(), 10_000);
    }

    #[test]
    fn every_field_of_a_request_can_be_used() {
        let mut request = Request::question("q1", "why \"so\"?");
        request.k = Some(5);
        request.repeat = 2;
        assert_eq!(
            filled(
                "{{ id }} {{ question | tojson }} {{ k }} {{ repeat }} {{ inputs }}",
                &request
            ),
            Ok(r#"q1 "why \"so\"?" 5 2 why "so"?"#.to_owned())
        );
        let request = Request::inputs("c", json!({"question": "why?", "lang": "en"}));
        assert_eq!(
            filled("{{ question }} {{ inputs.lang }}", &request),
            Ok("why? en".to_owned())
        );
    }

    #[test]
    fn a_value_that_is_missing_is_an_error() {
        let request = Request::inputs("c", json!({"text": "x"}));
        for template in ["{{ question }}", "{{ inputs.txt }}", "{{ k }}"] {
            let message = filled(template, &request).unwrap_err();
            assert!(message.starts_with("undefined value"), "{message}");
        }
    }

    #[test]
    fn a_name_that_does_not_exist_is_found_before_the_run() {
        assert_eq!(
            Template::new("{{ qestion }}").unwrap_err().to_string(),
            "`qestion` does not exist; the template may use `conversation`, `filter`, `id`, `inputs`, `k`, `messages`, `question`, `repeat`, `vector`"
        );
        assert!(Template::new("{% for i in range(3) %}{{ i }}{% endfor %}").is_ok());
        assert!(Template::new("{{ question").is_err());
    }

    #[test]
    fn texts_in_json_are_filled_in_and_a_lone_expression_keeps_its_type() {
        let template = JsonTemplate::new(json!({
            "q": "Q: {{ question }}", "k": "{{ k }}", "deep": [{"all": "{{ inputs }}"}], "n": 1, "on": true,
        }), &Arc::default())
        .unwrap();
        let mut request = Request::inputs("c", json!({"question": "a \"b\"", "x": [1]}));
        request.k = Some(3);
        assert_eq!(
            template.fill(&request).unwrap(),
            json!({
                "q": "Q: a \"b\"", "k": 3, "deep": [{"all": {"question": "a \"b\"", "x": [1]}}], "n": 1, "on": true,
            })
        );
        request.k = None;
        assert!(template.fill(&request).is_err());
        let (path, _) =
            JsonTemplate::new(json!({"a": [{"b": "{{ nobody }}"}]}), &Arc::default()).unwrap_err();
        assert_eq!(path, "a.0.b");
    }
}
