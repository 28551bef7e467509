//! What the templates of a request use.

use std::sync::Arc;

use evals_messages::nearest;
use serde_json::Value;

use super::{Body, PromptSource, SettingsProblem, TargetSettings};
use crate::template::Template;
use crate::{Request, TargetAddress};

impl TargetSettings {
    /// Whether a request needs the question's vector. A template may use it for some values of its parameters alone.
    pub fn uses_vector(&self) -> bool {
        let mut probe = Request::question("id", "question");
        probe.k = Some(1);
        let is_needed = |it: &Template| it.uses("vector") && it.fill(&probe).is_err();
        !self.parameters.contains_key("vector") && self.templates().iter().any(is_needed)
    }

    /// The same with a filter, for the name `filter` of templates, or of the search of a table.
    ///
    /// # Errors
    ///
    /// No template uses it.
    pub fn with_filter(mut self, filter: &str) -> Result<Self, SettingsProblem> {
        let is_table = matches!(self.address, Some(TargetAddress::LanceDb { .. }));
        if !is_table && !self.templates().iter().any(|it| it.uses("filter")) {
            let message =
                "no template of the target uses `{{ filter }}`, so a filter would be ignored";
            return Err(SettingsProblem::new("", message));
        }
        let parameters = Arc::make_mut(&mut self.parameters);
        parameters.insert("filter".to_owned(), filter.into());
        Ok(self)
    }

    /// Fails if a parameter has no effect, because no template uses it, or has a value that a template refuses.
    pub(super) fn check_parameters(&self, address: &TargetAddress) -> Result<(), SettingsProblem> {
        let texts = [&self.prompt, &self.statement];
        let is_in_a_file = texts
            .iter()
            .any(|it| matches!(it, Some(PromptSource::File(_))));
        let of_address = match address {
            TargetAddress::Http(url) => Template::with(url, &self.parameters).ok(),
            TargetAddress::Chat { .. } | TargetAddress::Postgres(_) => None,
            // Every request has them, or the target has checked them itself.
            _ => return Ok(()),
        };
        if is_in_a_file {
            return Ok(());
        }
        let templates: Vec<Template> = self.templates().into_iter().chain(of_address).collect();
        let is_used = |name: &String| templates.iter().any(|it| it.uses(name));
        let mut set = self.parameters.iter().filter(|(_, value)| !value.is_null());
        let Some((idle, _)) = set.find(|(name, _)| !is_used(name)) else {
            let mut values = templates.iter().map(Template::check_values);
            let values = values.try_for_each(|checked| checked);
            return values.map_err(|error| SettingsProblem::new("parameters", error.to_string()));
        };
        let used = self.parameters.keys().filter(|name| is_used(name));
        let advice = match nearest::of(idle, used.map(String::as_str)) {
            None => "; remove it, or set it to `null`".to_owned(),
            similar => nearest::did_you_mean(similar),
        };
        let message = format!("no template of the target uses `{{{{ {idle} }}}}`{advice}");
        let key = format!("parameters.{idle}");
        Err(SettingsProblem::new(key, message))
    }

    /// The templates of a request. Texts that are none are left out.
    fn templates(&self) -> Vec<Template> {
        let mut texts: Vec<&str> = self.query.values().map(String::as_str).collect();
        match &self.body {
            Some(Body::Text(text)) => texts.push(text),
            Some(Body::Mapping(fields)) => fields.values().for_each(|it| add_texts(it, &mut texts)),
            Some(Body::List(values)) => values.iter().for_each(|it| add_texts(it, &mut texts)),
            None => {}
        }
        for source in [&self.statement, &self.prompt] {
            if let Some(PromptSource::Text(text)) = source {
                texts.push(text);
            }
        }
        let texts = texts.into_iter();
        let templates = texts.filter_map(|text| Template::with(text, &self.parameters).ok());
        templates.collect()
    }

    /// `text`, which is the setting `key`, with the parameters in it.
    ///
    /// # Errors
    ///
    /// It is no template, or uses names that only a request has.
    pub fn with_parameters(&self, key: &str, text: &str) -> Result<String, SettingsProblem> {
        let problem = |message: String| SettingsProblem::new(key, message);
        let template = Template::with(text, &self.parameters);
        let template = template.map_err(|error| problem(error.to_string()))?;
        match template.fill_parameters() {
            Some(filled) => filled.map_err(|error| problem(error.to_string())),
            None => Err(problem(
                "may use names of `parameters` only, because it is the same for every question"
                    .to_owned(),
            )),
        }
    }

    /// The line of a command with the parameters in it. Without parameters it stays as it is, because braces may mean something else to a
    /// shell.
    ///
    /// # Errors
    ///
    /// As for [`with_parameters`](Self::with_parameters).
    pub fn command_line(&self, line: &str) -> Result<String, SettingsProblem> {
        if self.parameters.is_empty() {
            return Ok(line.to_owned());
        }
        self.with_parameters("address", line)
    }

    /// The address of a service with the parameters in it.
    ///
    /// # Errors
    ///
    /// As for [`with_parameters`](Self::with_parameters).
    pub fn url(&self, url: &str) -> Result<String, SettingsProblem> {
        if !url.contains("{{") && !url.contains("{%") {
            return Ok(url.to_owned());
        }
        self.with_parameters("address", url)
    }

    /// Whether requests have this value, such as `messages` or `conversation`. Templates may leave it out.
    pub fn sends(&self, value: &str) -> bool {
        let names = |text: &str| text.contains(value);
        let of_query = self.query.values().any(|text| names(text));
        let is_get = self
            .method
            .as_ref()
            .is_some_and(|it| it.eq_ignore_ascii_case("GET"));
        let of_body = match &self.body {
            None => !is_get,
            Some(body) => {
                let text = serde_json::to_string(body).unwrap_or_default();
                let is_added = matches!(body, Body::Mapping(_))
                    && self.query.is_empty()
                    && !text.contains("{{");
                is_added || names(&text)
            }
        };
        of_query || of_body
    }
}

/// Adds the texts in a value.
fn add_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|it| add_texts(it, texts)),
        Value::Object(fields) => fields.values().for_each(|it| add_texts(it, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_body(body: &Value) -> TargetSettings {
        let settings = json!({"address": "http://h/{{ index }}", "body": body, "parameters": {"index": "news"}});
        TargetSettings::from_value(settings).unwrap()
    }

    #[test]
    fn templates_say_whether_they_use_the_vector_and_the_filter() {
        for (body, vector, filter) in [
            (json!("{{ question }}"), false, false),
            (
                json!(
                    "{% if filter is defined %}{{ k }}{% else %}{{ vector | tojson }}{% endif %}"
                ),
                true,
                true,
            ),
            (
                json!("{% if index == \"words\" %}{{ vector }}{% else %}{{ question }}{% endif %}"),
                false,
                false,
            ),
            (
                json!({"a": [{"v": "{{ vector }}"}, {"f": "x"}]}),
                true,
                false,
            ),
            (json!([{"f": "{{ filter }}"}]), false, true),
        ] {
            let settings = with_body(&body);
            assert_eq!(settings.uses_vector(), vector, "{body}");
            assert_eq!(settings.with_filter("x").is_ok(), filter, "{body}");
        }
        let filtered = with_body(&json!("{{ filter }}")).with_filter("year > 2020");
        let parameters = filtered.unwrap().parameters();
        assert_eq!(parameters["parameters"]["filter"], "year > 2020");
        let mut own = with_body(&json!("{{ vector }}"));
        Arc::make_mut(&mut own.parameters).insert("vector".to_owned(), json!([1]));
        assert!(!own.uses_vector());
    }

    #[test]
    fn an_address_may_have_parameters_and_nothing_else() {
        let settings = with_body(&json!({}));
        let url = |url: &str| settings.url(url).map_err(|problem| problem.to_string());
        assert_eq!(url("http://h/{{ index }}"), Ok("http://h/news".to_owned()));
        let refused = "`target.address`: may use names of `parameters` only";
        assert!(
            url("http://h/{{ question }}")
                .unwrap_err()
                .starts_with(refused)
        );
        assert!(url("http://h/{{ nobody }}").is_err());
        assert_eq!(url("http://h/{x}"), Ok("http://h/{x}".to_owned()));
    }
}
