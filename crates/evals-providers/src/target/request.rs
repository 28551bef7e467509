//! Requests to a system under test, built from its settings.

use std::str::FromStr;

use evals_messages::visible;
use evals_targets::{
    BodyTemplate, Expanded, FilledBody, Parameter, Request, SettingsProblem, TargetSettings,
    Template, TemplateError, Written,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};

/// How each request is built. It holds the values of headers, and shows none of them.
#[derive(Clone, Debug)]
pub(super) struct RequestBuilder {
    url: Url,
    method: Method,
    headers: HeaderMap,
    query: Vec<(String, QueryValue)>,
    body: Option<BodyTemplate>,
}

#[derive(Clone, Debug)]
enum QueryValue {
    Fixed(Expanded),
    Template(Template),
}

/// Why the request of a case cannot be built.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("`{part}` of the target cannot be filled in for this case")]
    Template {
        part: &'static str,
        source: TemplateError,
    },
    #[error(
        "`body` of the target gives no JSON for this case: `{shown}`; write values as `{{{{ question | tojson }}}}`"
    )]
    NotJson {
        shown: String,
        source: serde_json::Error,
    },
}

impl RequestBuilder {
    /// Reads the environment variables of the settings with `variable`. Returns the secrets in them, too.
    pub(super) fn new(
        url: &str,
        settings: &TargetSettings,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<String>), SettingsProblem> {
        let url = Url::parse(url)
            .map_err(|error| SettingsProblem::new("address", format!("is not a URL: {error}")))?;
        let method = settings
            .method
            .as_deref()
            .unwrap_or("POST")
            .to_ascii_uppercase();
        let method = Method::from_str(&method)
            .map_err(|_| SettingsProblem::new("method", "is not a method"))?;
        let mut secrets = Vec::new();
        let headers = headers(settings, &variable, &mut secrets)?;
        let query = query(settings, &variable, &mut secrets)?;
        let body = match &settings.body {
            Some(body) if query.is_empty() => {
                Some(BodyTemplate::of_whole(body, &settings.parameters)?)
            }
            Some(body) => Some(BodyTemplate::of(body, &settings.parameters)?),
            None if method == Method::GET => None,
            None => Some(BodyTemplate::default()),
        };
        let builder = Self {
            url,
            method,
            headers,
            query,
            body,
        };
        builder.check_body()?;
        Ok((builder, secrets))
    }

    /// Fills the body in for a question with quotes and a line break, which a template without `tojson` turns into broken JSON.
    fn check_body(&self) -> Result<(), SettingsProblem> {
        let Some(BodyTemplate::Text(template)) = &self.body else {
            return Ok(());
        };
        if !self.sends_json() || template.uses("inputs") {
            return Ok(());
        }
        let mut request = Request::question("id", "Is \"this\"\nJSON?");
        request.k = Some(10);
        request.vector = Some([0.5].into());
        let Ok(body) = template.fill(&request) else {
            return Ok(());
        };
        match serde_json::from_str::<serde::de::IgnoredAny>(&body) {
            Ok(_) => Ok(()),
            Err(error) => Err(SettingsProblem::new(
                "body",
                format!(
                    "gives no JSON for a question with quotes ({error}); write values as `{{{{ question | tojson }}}}`, or write \
                     the body as a mapping"
                ),
            )),
        }
    }

    /// The request of a case.
    pub(super) fn build(
        &self,
        client: &Client,
        request: &Request,
    ) -> Result<reqwest::RequestBuilder, RequestError> {
        let failed = |part| move |source| RequestError::Template { part, source };
        let mut url = self.url.clone();
        for (name, value) in &self.query {
            match value {
                QueryValue::Fixed(expanded) => {
                    url.query_pairs_mut().append_pair(name, expanded.expose());
                }
                QueryValue::Template(template) => {
                    let value = template.fill(request).map_err(failed("query"))?;
                    url.query_pairs_mut().append_pair(name, &value);
                }
            }
        }
        let mut built = client.request(self.method.clone(), url);
        if let Some(body) = &self.body {
            let text = match body.fill(request).map_err(failed("body"))? {
                FilledBody::Json(value) => value.to_string(),
                FilledBody::Text(text) => text,
            };
            if self.sends_json()
                && let Err(source) = serde_json::from_str::<serde::de::IgnoredAny>(&text)
            {
                let shown = visible::single_line(&text).chars().take(200).collect();
                return Err(RequestError::NotJson { shown, source });
            }
            if !self.headers.contains_key(CONTENT_TYPE) {
                built = built.header(CONTENT_TYPE, "application/json");
            }
            built = built.body(text);
        }
        Ok(built.headers(self.headers.clone()))
    }

    fn sends_json(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE);
        kind.is_none_or(|kind| kind.to_str().is_ok_and(|kind| kind.contains("json")))
    }
}

/// The headers of every request. Adds the credentials in them to `secrets`.
fn headers(
    settings: &TargetSettings,
    variable: impl Fn(&str) -> Option<String>,
    secrets: &mut Vec<String>,
) -> Result<HeaderMap, SettingsProblem> {
    let mut headers = HeaderMap::new();
    if settings.stream.is_some() {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    }
    for (name, value) in &settings.headers {
        let problem = |message: String| SettingsProblem::new(format!("headers.{name}"), message);
        let expanded = Written::parse(value).and_then(|written| written.expand(&variable));
        let expanded = expanded.map_err(problem)?;
        secrets.extend(expanded.secrets(name).map(str::to_owned));
        if Written::shown(name, value) != *value {
            // A credential that stands in the settings itself.
            secrets.push(value.clone());
            secrets.extend(value.split_once(' ').map(|(_, token)| token.to_owned()));
        }
        let name = HeaderName::from_str(name)
            .map_err(|_| problem("is not the name of a header".to_owned()))?;
        let mut value = HeaderValue::from_str(expanded.expose())
            .map_err(|_| problem("has characters that a header cannot carry".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The parameters of every request. Adds the credentials in them to `secrets`.
fn query(
    settings: &TargetSettings,
    variable: impl Fn(&str) -> Option<String>,
    secrets: &mut Vec<String>,
) -> Result<Vec<(String, QueryValue)>, SettingsProblem> {
    let mut query = Vec::new();
    for (name, text) in &settings.query {
        let problem = |message: String| SettingsProblem::new(format!("query.{name}"), message);
        if Written::shown(name, text) != *text {
            secrets.push(text.clone());
        }
        let value = match Parameter::of(text, &settings.parameters).map_err(problem)? {
            Parameter::Fixed(written) => {
                let expanded = written.expand(&variable).map_err(problem)?;
                secrets.extend(expanded.secrets(name).map(str::to_owned));
                QueryValue::Fixed(expanded)
            }
            Parameter::Template(template) => QueryValue::Template(template),
        };
        query.push((name.clone(), value));
    }
    Ok(query)
}
