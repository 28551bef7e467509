//! Checks the settings of a target before anything is asked.

use evals_messages::credential::is_credential;

use super::{
    ColumnSettings, PostgresAddress, PromptSource, ResponseSettings, SettingsProblem,
    TargetSettings, Written,
};
use crate::TargetAddress;
use crate::mapping::{Mapping, StreamReader};
use crate::request_template::{BodyTemplate, Parameter};
use crate::template::Template;

/// A day, in seconds.
const LONGEST: f64 = 86_400.0;

/// The methods that requests with a question can have.
const METHODS: [&str; 4] = ["GET", "POST", "PUT", "PATCH"];

impl TargetSettings {
    /// Checks values that have the right type: every template, path and header, and that each setting applies to the target.
    ///
    /// Nothing is asked and no environment variable is read.
    pub fn check(&self) -> Result<(), SettingsProblem> {
        let Some(address) = &self.address else {
            return Err(SettingsProblem::new(
                "address",
                "is missing; name the target here or with `--target`",
            ));
        };
        self.check_kind(address)?;
        if let TargetAddress::Http(url) = address {
            check_url(&self.url(url)?)?;
        }
        if let TargetAddress::Postgres(url) = address {
            self.check_database(url)?;
        }
        if let TargetAddress::Exec(line) = address {
            self.command_line(line)?;
        }
        if let Some(method) = &self.method
            && !METHODS.contains(&method.to_ascii_uppercase().as_str())
        {
            let known = METHODS.map(|method| format!("`{method}`")).join(", ");
            return Err(SettingsProblem::new(
                "method",
                format!("`{method}` is not one of {known}"),
            ));
        }
        for (name, value) in &self.headers {
            let key = format!("headers.{name}");
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(SettingsProblem::new(key, "is not the name of a header"));
            }
            Written::parse(value).map_err(|message| SettingsProblem::new(key, message))?;
        }
        let parameters = &self.parameters;
        for (name, value) in &self.query {
            let key = format!("query.{name}");
            Parameter::of(value, parameters)
                .map_err(|message| SettingsProblem::new(key, message))?;
        }
        if let Some(body) = &self.body {
            BodyTemplate::of(body, parameters)?;
        }
        if let Some(PromptSource::Text(prompt)) = &self.prompt {
            let problem = |message: String| SettingsProblem::new("prompt", message);
            let template = Template::with(prompt, parameters);
            let template = template.map_err(|error| problem(error.to_string()))?;
            if template.uses("vector") && !parameters.contains_key("vector") {
                return Err(problem(
                    "a prompt cannot use `vector`; only requests to services can".to_owned(),
                ));
            }
        }
        self.check_parameters(address)?;
        Mapping::new(&self.response)?;
        if let Some(stream) = &self.stream {
            StreamReader::new(stream)?;
        }
        self.check_process()
    }

    /// Checks how long a reply may take, and how many processes give them.
    fn check_process(&self) -> Result<(), SettingsProblem> {
        if self.session && self.processes.is_some_and(|processes| processes.get() > 1) {
            return Err(SettingsProblem::new(
                "processes",
                "must be 1 with `session`: a second process would not know what was said to the first",
            ));
        }
        if self
            .timeout
            .is_some_and(|timeout| !(timeout > 0.0 && timeout <= LONGEST))
        {
            return Err(SettingsProblem::new(
                "timeout",
                "must be more than 0 seconds and at most a day",
            ));
        }
        Ok(())
    }

    /// Checks the address and the statement of a database.
    fn check_database(&self, url: &str) -> Result<(), SettingsProblem> {
        PostgresAddress::parse(url).map_err(|message| SettingsProblem::new("address", message))?;
        match &self.statement {
            Some(PromptSource::Text(text)) => self.with_parameters("statement", text).map(drop),
            Some(PromptSource::File(_)) => Ok(()),
            None => Err(SettingsProblem::new(
                "statement",
                "is missing; write it in SQL, such as `SELECT id FROM chunks ORDER BY vector <=> $1 LIMIT $3`",
            )),
        }
    }

    /// Refuses settings that have no meaning for the target, because they would be ignored.
    fn check_kind(&self, address: &TargetAddress) -> Result<(), SettingsProblem> {
        // Whether settings of services, `prompt`, `response` and `processes` have no meaning.
        let (services, prompt, response, processes) = match address {
            TargetAddress::Http(_) => (false, true, false, true),
            TargetAddress::Exec(_) => (true, true, false, false),
            TargetAddress::Chat { .. } => (true, false, true, true),
            TargetAddress::Outputs(_) => (true, true, false, true),
            TargetAddress::Postgres(_) | TargetAddress::Trec(_) | TargetAddress::LanceDb { .. } => {
                (true, true, true, true)
            }
        };
        let is_database = matches!(address, TargetAddress::Postgres(_));
        let is_table = matches!(address, TargetAddress::LanceDb { .. });
        let has_columns = self.columns != ColumnSettings::default();
        let is_file = matches!(address, TargetAddress::Outputs(_) | TargetAddress::Trec(_));
        // A chat model is sent the whole conversation, and files answer nobody.
        let remembers_nothing = is_file || matches!(address, TargetAddress::Chat { .. });
        let has_response = self.response != ResponseSettings::default();
        let foreign = [
            ("method", services && self.method.is_some()),
            ("headers", services && !self.headers.is_empty()),
            ("query", services && !self.query.is_empty()),
            ("body", services && self.body.is_some()),
            ("stream", services && self.stream.is_some()),
            ("max_attempts", services && self.max_attempts.is_some()),
            (
                "requests_per_minute",
                services && self.requests_per_minute.is_some(),
            ),
            ("prompt", prompt && self.prompt.is_some()),
            ("response", response && has_response),
            ("processes", processes && self.processes.is_some()),
            ("statement", !is_database && self.statement.is_some()),
            ("columns", !is_table && has_columns),
            ("timeout", is_table && self.timeout.is_some()),
            (
                "max_concurrency",
                is_table && self.max_concurrency.is_some(),
            ),
            ("parameters", is_file && !self.parameters.is_empty()),
            ("session", remembers_nothing && self.session),
        ];
        match foreign.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(SettingsProblem::new(
                key,
                format!("has no meaning for a target `{}:`", address.scheme()),
            )),
            None => Ok(()),
        }
    }
}

/// Refuses credentials in an address, because addresses are stored and shown. Messages do not repeat it.
fn check_url(url: &str) -> Result<(), SettingsProblem> {
    let problem = |message: &str| SettingsProblem::new("address", message);
    let (_, rest) = url.split_once("//").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(problem(
            "may not have a user name or a password; send them with `headers`, such as `Authorization: Basic ${TOKEN}`",
        ));
    }
    if authority.is_empty() || url.contains(char::is_whitespace) {
        return Err(problem("is not a URL"));
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let names = query
        .split(['&', ';'])
        .map(|pair| pair.split('=').next().unwrap_or(pair));
    match names.into_iter().find(|name| is_credential(name)) {
        Some(name) => Err(SettingsProblem::new(
            "address",
            format!(
                "may not hold a credential; send it with `query`, such as `{name}: ${{TOKEN}}`"
            ),
        )),
        None => Ok(()),
    }
}

/// Whether a byte may be part of the name of a header.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn problem(value: Value) -> String {
        let settings = TargetSettings::from_value(value).unwrap();
        settings.check().unwrap_err().to_string()
    }

    #[test]
    fn what_only_some_requests_lack_is_no_mistake_of_the_settings() {
        let body = "{{ m | among(\"a\", \"b\") }}{{ messages[9].content }}";
        let settings = json!({"address": "http://h", "body": body, "parameters": {"m": "b"}});
        let settings = TargetSettings::from_value(settings).unwrap();
        assert_eq!(settings.check(), Ok(()));
    }

    #[test]
    fn values_that_cannot_be_used_are_found_before_the_run() {
        for (value, start) in [
            (json!({}), "`target.address`: is missing"),
            (
                json!("http://me:pw@host"),
                "`target.address`: may not have a user name or a password",
            ),
            (
                json!("http://host/x?api_key=abc"),
                "`target.address`: may not hold a credential; send it with `query`, such as `api_key: ${TOKEN}`",
            ),
            (
                json!({"address": "http://h", "method": "FETCH"}),
                "`target.method`: `FETCH` is not one of",
            ),
            (
                json!({"address": "http://h", "headers": {"a b": "x"}}),
                "`target.headers.a b`: is not the name of a header",
            ),
            (
                json!({"address": "http://h", "headers": {"a": "${"}}),
                "`target.headers.a`: `${` has to be followed",
            ),
            (
                json!({"address": "http://h", "query": {"q": "{{ qestion }}"}}),
                "`target.query.q`: `qestion` does not exist",
            ),
            (
                json!({"address": "http://h", "body": {"a": ["{{ x }}"]}}),
                "`target.body.a.0`: `x` does not exist",
            ),
            (
                json!({"address": "http://h", "response": {"answer": "answer"}}),
                "`target.response.answer`: `answer` is not a JSONPath",
            ),
            (
                json!({"address": "http://h", "stream": {"text": "$["}}),
                "`target.stream.text`: `$[` is not a JSONPath",
            ),
            (
                json!({"address": "http://h", "prompt": "x"}),
                "`target.prompt`: has no meaning for a target `http:`",
            ),
            (
                json!({"address": "exec:x", "headers": {"a": "b"}}),
                "`target.headers`: has no meaning for a target `exec:`",
            ),
            (
                json!({"address": "postgres://me:secret@h/news", "statement": "SELECT 1"}),
                "`target.address`: may not hold a password",
            ),
            (
                json!("postgres://h/news"),
                "`target.statement`: is missing; write it in SQL",
            ),
            (
                json!({"address": "postgres://h", "statement": "SELECT '{{ question }}'"}),
                "`target.statement`: may use names of `parameters` only",
            ),
            (
                json!({"address": "http://h", "body": "{{ ef }}", "parameters": {"ef": 1, "eff": 2}}),
                "`target.parameters.eff`: no template of the target uses `{{ eff }}`; did you mean `ef`?",
            ),
            (
                json!({"address": "postgres://h", "statement": "SELECT 1", "parameters": {"ef": null, "mode": "hybrid"}}),
                "`target.parameters.mode`: no template of the target uses `{{ mode }}`; remove it, or set it to `null`",
            ),
            (
                json!({"address": "postgres://h", "statement": "SELECT {{ m | among(\"a\", \"b\") }}", "parameters": {"m": "c"}}),
                "`target.statement`: invalid operation: `c` is none of `a`, `b`",
            ),
            (
                json!({"address": "http://h", "body": "{{ m | among(\"a\", \"b\") }}{{ messages[9] }}", "parameters": {"m": "c"}}),
                "`target.parameters`: invalid operation: `c` is none of `a`, `b`",
            ),
            (
                json!({"address": "exec:x {{ modle }}", "parameters": {"model": "c"}}),
                "`target.address`: `modle` does not exist",
            ),
            (
                json!({"address": "http://h", "statement": "SELECT 1"}),
                "`target.statement`: has no meaning for a target `http:`",
            ),
            (
                json!({"address": "postgres://h", "statement": "SELECT 1", "headers": {"a": "b"}}),
                "`target.headers`: has no meaning for a target `postgres:`",
            ),
            (
                json!({"address": "chat:ollama:x", "session": true}),
                "`target.session`: has no meaning for a target `chat:`",
            ),
            (
                json!({"address": "exec:x", "session": true, "processes": 2}),
                "`target.processes`: must be 1 with `session`",
            ),
            (
                json!({"address": "http://h", "timeout": 0}),
                "`target.timeout`: must be more than 0 seconds",
            ),
        ] {
            let message = problem(value);
            assert!(message.starts_with(start), "{message}");
        }
    }
}
