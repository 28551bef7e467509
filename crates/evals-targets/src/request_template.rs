//! The parts of a request over HTTP that depend on the case.

use serde_json::{Value, json};

use crate::settings::{Body, SettingsProblem, Written};
use crate::template::{JsonTemplate, Template, TemplateError};
use crate::{Inputs, Request};

/// The body of a request: the usual one, or a template of the settings.
#[derive(Clone, Debug, Default)]
pub enum BodyTemplate {
    /// `{"id", "question"}`, or the inputs of a dataset file's case as they are.
    #[default]
    Usual,
    /// A text.
    Text(Template),
    /// JSON whose texts are templates.
    Json(JsonTemplate),
}

/// A body that is filled in.
#[derive(Clone, Debug, PartialEq)]
pub enum FilledBody {
    /// JSON.
    Json(Value),
    /// A text, which is JSON unless a header says otherwise.
    Text(String),
}

/// A parameter of the address.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// The same for every case, with environment variables.
    Fixed(Written),
    /// A template.
    Template(Template),
}

impl BodyTemplate {
    /// The template of the setting `body`.
    ///
    /// # Errors
    ///
    /// A text is no template, or names an environment variable, which the body would send as it is written.
    pub fn of(body: &Body) -> Result<Self, SettingsProblem> {
        let json = |value: Value| {
            refuse_variables(&value, "body")?;
            JsonTemplate::new(value).map_err(|(path, error)| {
                SettingsProblem::new(format!("body.{path}"), error.to_string())
            })
        };
        match body {
            Body::Text(text) => Template::new(text)
                .map(Self::Text)
                .map_err(|error| SettingsProblem::new("body", error.to_string())),
            Body::Mapping(fields) => json(Value::Object(fields.clone())).map(Self::Json),
            Body::List(values) => json(Value::Array(values.clone())).map(Self::Json),
        }
    }

    /// Fills the body in.
    pub fn fill(&self, request: &Request) -> Result<FilledBody, TemplateError> {
        match self {
            Self::Usual => Ok(FilledBody::Json(match &request.inputs {
                Inputs::Question(question) => json!({"id": request.id, "question": question}),
                Inputs::Value(inputs) => inputs.clone(),
            })),
            Self::Text(template) => template.fill(request).map(FilledBody::Text),
            Self::Json(template) => template.fill(request).map(FilledBody::Json),
        }
    }
}

/// Refuses `${NAME}` in the texts of a body.
fn refuse_variables(value: &Value, key: &str) -> Result<(), SettingsProblem> {
    match value {
        Value::String(text) if Written::parse(text).is_ok_and(|it| it.has_variables()) => {
            let message = "environment variables are put into `headers` and `query` only; send the value there";
            Err(SettingsProblem::new(key, message))
        }
        Value::Array(values) => {
            let mut values = values.iter().enumerate();
            values.try_for_each(|(index, value)| refuse_variables(value, &format!("{key}.{index}")))
        }
        Value::Object(fields) => {
            let mut fields = fields.iter();
            fields.try_for_each(|(name, value)| refuse_variables(value, &format!("{key}.{name}")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

impl Parameter {
    /// The parameter that a setting below `query` writes.
    pub fn of(text: &str) -> Result<Self, String> {
        let written = Written::parse(text)?;
        if written.has_variables() {
            return Ok(Self::Fixed(written));
        }
        let template = Template::new(text).map_err(|error| error.to_string())?;
        Ok(Self::Template(template))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_sent_with_its_id_and_inputs_as_they_are() {
        let filled = |request| BodyTemplate::Usual.fill(&request).unwrap();
        assert_eq!(
            filled(Request::question("q1", "why?")),
            FilledBody::Json(json!({"id": "q1", "question": "why?"}))
        );
        let inputs = json!({"text": "x", "n": [1]});
        assert_eq!(
            filled(Request::inputs("c", inputs.clone())),
            FilledBody::Json(inputs)
        );
    }

    #[test]
    fn a_body_with_an_environment_variable_is_refused_and_not_sent_as_it_is() {
        let body: Body = serde_json::from_value(json!({"a": [{"key": "${KEY}"}]})).unwrap();
        let problem = BodyTemplate::of(&body).unwrap_err();
        assert_eq!(problem.key, "body.a.0.key");
        let body: Body = serde_json::from_value(json!({"price": "$5 {x} {{ question }}"})).unwrap();
        assert!(BodyTemplate::of(&body).is_ok());
    }

    #[test]
    fn a_parameter_is_a_template_or_has_variables() {
        assert!(matches!(
            Parameter::of("{{ question }}"),
            Ok(Parameter::Template(_))
        ));
        assert!(matches!(Parameter::of("5"), Ok(Parameter::Template(_))));
        assert!(matches!(Parameter::of("${KEY}"), Ok(Parameter::Fixed(_))));
        assert!(Parameter::of("{{ nobody }}").is_err());
        assert!(Parameter::of("${").is_err());
    }
}
