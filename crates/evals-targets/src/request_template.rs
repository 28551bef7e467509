//! The parts of a request over HTTP that depend on the case.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::settings::{Body, SettingsProblem, Written};
use crate::template::{JsonTemplate, Template, TemplateError};
use crate::{Inputs, Request};

/// The body of a request: the usual one, or a template of the settings.
#[derive(Clone, Debug, Default)]
pub enum BodyTemplate {
    /// `{"id", "question"}`, with `conversation` and `messages` for a question of one, or the inputs of a dataset file's case as they are.
    #[default]
    Usual,
    /// The usual one with further members, which are the same for every case.
    UsualWith(Map<String, Value>),
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
    pub fn of(body: &Body, parameters: &Arc<Map<String, Value>>) -> Result<Self, SettingsProblem> {
        let json = |value: Value| {
            JsonTemplate::new(value, parameters).map_err(|(path, error)| {
                SettingsProblem::new(format!("body.{path}"), error.to_string())
            })
        };
        match body {
            Body::Text(text) => Template::with(text, parameters)
                .map(Self::Text)
                .map_err(|error| SettingsProblem::new("body", error.to_string())),
            Body::Mapping(fields) => json(Value::Object(fields.clone())).map(Self::Json),
            Body::List(values) => json(Value::Array(values.clone())).map(Self::Json),
        }
    }

    /// The template of the setting `body` of a request that holds nothing else of the case. A mapping without a template would ask every
    /// question with the same words, so its members are added to the usual ones: `{"top_k": 5}` sets a parameter.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    pub fn of_whole(
        body: &Body,
        parameters: &Arc<Map<String, Value>>,
    ) -> Result<Self, SettingsProblem> {
        let template = Self::of(body, parameters)?;
        let Body::Mapping(fields) = body else {
            return Ok(template);
        };
        let text = Value::Object(fields.clone()).to_string();
        if text.contains("{{") || text.contains("{%") {
            return Ok(template);
        }
        Ok(Self::UsualWith(fields.clone()))
    }

    /// Fills the body in.
    pub fn fill(&self, request: &Request) -> Result<FilledBody, TemplateError> {
        let usual = || match &request.inputs {
            Inputs::Question(question) => {
                let mut usual = json!({"id": request.id, "question": question});
                let members = usual.as_object_mut();
                members.expect("an object").extend(request.spoken());
                usual
            }
            Inputs::Value(inputs) => inputs.clone(),
        };
        match self {
            Self::Usual => Ok(FilledBody::Json(usual())),
            Self::UsualWith(fields) => {
                let Value::Object(mut members) = usual() else {
                    return Err(TemplateError::new(
                        "`body` has no template, so its members are added to the inputs of the case, and these inputs are not an object; \
                         write a template such as {\"question\": \"{{ inputs }}\"}",
                    ));
                };
                members.extend(fields.clone());
                Ok(FilledBody::Json(members.into()))
            }
            Self::Text(template) => template.fill(request).map(FilledBody::Text),
            Self::Json(template) => template.fill(request).map(FilledBody::Json),
        }
    }
}

impl Parameter {
    /// The parameter that a setting below `query` writes.
    pub fn of(text: &str, parameters: &Arc<Map<String, Value>>) -> Result<Self, String> {
        let written = Written::parse(text)?;
        if written.has_variables() {
            return Ok(Self::Fixed(written));
        }
        let template = Template::with(text, parameters).map_err(|error| error.to_string())?;
        Ok(Self::Template(template))
    }
}

#[cfg(test)]
mod tests {
    use evals_models::Message;

    use super::*;
    use crate::Conversation;

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
    fn a_question_of_a_conversation_is_sent_with_it() {
        let history = vec![Message::user("First?"), Message::assistant("one")];
        let request = |is_session| Request {
            conversation: Some(Conversation {
                id: "a".to_owned(),
                history: history.clone(),
                is_session,
                process: None,
            }),
            ..Request::question("a-2", "Second?")
        };
        let usual = BodyTemplate::Usual;
        let FilledBody::Json(body) = usual.fill(&request(false)).unwrap() else {
            panic!("JSON");
        };
        let messages = json!([
            {"role": "user", "content": "First?"},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": "Second?"},
        ]);
        let id = json!({"id": "a-2", "question": "Second?", "conversation": "a"});
        assert_eq!(body["messages"], messages);
        let remembered = usual.fill(&request(true)).unwrap();
        assert_eq!(remembered, FilledBody::Json(id));

        let body = json!({"messages": "{{ messages }}", "thread": "{{ conversation }}"});
        let body: Body = serde_json::from_value(body).unwrap();
        let template = BodyTemplate::of(&body, &Arc::default()).unwrap();
        let filled = |request| template.fill(&request).unwrap();
        let expected = json!({"messages": messages, "thread": "a"});
        assert_eq!(filled(request(false)), FilledBody::Json(expected));
        let alone = json!({"messages": [{"role": "user", "content": "Why?"}], "thread": "q1"});
        assert_eq!(
            filled(Request::question("q1", "Why?")),
            FilledBody::Json(alone)
        );
    }

    #[test]
    fn members_without_a_template_are_added_to_the_usual_ones() {
        let filled = |body: Value| {
            let body: Body = serde_json::from_value(body).unwrap();
            let template = BodyTemplate::of_whole(&body, &Arc::default()).unwrap();
            template.fill(&Request::question("q1", "why?")).unwrap()
        };
        assert_eq!(
            filled(json!({"top_k": 5})),
            FilledBody::Json(json!({"id": "q1", "question": "why?", "top_k": 5}))
        );
        let text = Request::inputs("q1", json!("why?"));
        let body: Body = serde_json::from_value(json!({"top_k": 5})).unwrap();
        let refused = BodyTemplate::of_whole(&body, &Arc::default())
            .unwrap()
            .fill(&text);
        assert!(
            refused
                .unwrap_err()
                .to_string()
                .contains("are not an object")
        );
        let own = json!({"query": "{{ question }}", "top_k": 5});
        assert_eq!(
            filled(own),
            FilledBody::Json(json!({"query": "why?", "top_k": 5}))
        );
    }

    #[test]
    fn a_body_with_an_environment_variable_is_refused_and_not_sent_as_it_is() {
        let body: Body = serde_json::from_value(json!({"a": [{"key": "${KEY}"}]})).unwrap();
        let problem = BodyTemplate::of(&body, &Arc::default()).unwrap_err();
        assert_eq!(problem.key, "body.a.0.key");
        let body: Body = serde_json::from_value(json!({"price": "$5 {x} {{ question }}"})).unwrap();
        assert!(BodyTemplate::of(&body, &Arc::default()).is_ok());
    }

    #[test]
    fn a_parameter_is_a_template_or_has_variables() {
        assert!(matches!(
            Parameter::of("{{ question }}", &Arc::default()),
            Ok(Parameter::Template(_))
        ));
        assert!(matches!(
            Parameter::of("5", &Arc::default()),
            Ok(Parameter::Template(_))
        ));
        assert!(matches!(
            Parameter::of("${KEY}", &Arc::default()),
            Ok(Parameter::Fixed(_))
        ));
        assert!(Parameter::of("{{ nobody }}", &Arc::default()).is_err());
        assert!(Parameter::of("${", &Arc::default()).is_err());
    }
}
