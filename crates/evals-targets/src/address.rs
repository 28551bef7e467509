//! Targets as users name them: `http://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `postgres://…`, `outputs:FILE`, `trec:FILE`,
//! `lancedb:DATABASE#TABLE`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// A target as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetAddress {
    /// A service: `http://…` or `https://…`.
    Http(String),
    /// A command that reads questions as JSON Lines and writes replies: `exec:COMMAND`.
    Exec(String),
    /// A chat model with a prompt: `chat:PROVIDER:NAME`.
    Chat {
        /// The provider, as in the settings.
        provider: String,
        /// The model's name.
        name: String,
    },
    /// A database that is asked in SQL: `postgres://…` or `postgresql://…`.
    Postgres(String),
    /// A file of replies made elsewhere: `outputs:FILE`.
    Outputs(String),
    /// A TREC run made elsewhere: `trec:FILE`.
    Trec(String),
    /// A table of LanceDB: `lancedb:DATABASE#TABLE`.
    LanceDb {
        /// A folder, or the address of an object store.
        database: String,
        /// The table; `None` if the database has only one.
        table: Option<String>,
    },
}

/// A text that names no target.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "`{written}` names no target; write `http://…`, `https://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `postgres://…`, `outputs:FILE`, `trec:FILE` or \
     `lancedb:DATABASE#TABLE`{}",
    self.did_you_mean()
)]
pub struct AddressError {
    written: String,
}

impl AddressError {
    /// The address of a service that was written without its scheme, such as `localhost:8000/ask`.
    fn did_you_mean(&self) -> String {
        let after_host = self.written.split_once(':').map(|(host, rest)| {
            let port = rest.split('/').next().unwrap_or_default();
            (host, port.parse::<u16>().is_ok())
        });
        match after_host {
            Some((host, true)) if !host.is_empty() && !host.contains(['/', ' ']) => {
                format!("; did you mean `http://{}`?", self.written)
            }
            _ => String::new(),
        }
    }
}

impl FromStr for TargetAddress {
    type Err = AddressError;

    fn from_str(written: &str) -> Result<Self, AddressError> {
        let refused = || AddressError {
            written: written.to_owned(),
        };
        let (scheme, rest) = written.split_once(':').ok_or_else(refused)?;
        if rest.trim().is_empty() {
            return Err(refused());
        }
        let rest = rest.to_owned();
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" if rest.starts_with("//") => Ok(Self::Http(written.to_owned())),
            "exec" => Ok(Self::Exec(rest)),
            "chat" => {
                let (provider, name) = rest.split_once(':').ok_or_else(refused)?;
                if provider.is_empty() || name.is_empty() {
                    return Err(refused());
                }
                Ok(Self::Chat {
                    provider: provider.to_owned(),
                    name: name.to_owned(),
                })
            }
            "postgres" | "postgresql" if rest.starts_with("//") => {
                Ok(Self::Postgres(written.to_owned()))
            }
            "outputs" => Ok(Self::Outputs(rest)),
            "trec" => Ok(Self::Trec(rest)),
            "lancedb" => match rest.rsplit_once('#') {
                Some((database, table)) if !database.is_empty() && !table.is_empty() => {
                    Ok(Self::LanceDb {
                        database: database.to_owned(),
                        table: Some(table.to_owned()),
                    })
                }
                Some(_) => Err(refused()),
                None => Ok(Self::LanceDb {
                    database: rest,
                    table: None,
                }),
            },
            _ => Err(refused()),
        }
    }
}

impl TargetAddress {
    /// The part before the first colon: `http` for both `http://…` and `https://…`.
    pub fn scheme(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
            Self::Exec(_) => "exec",
            Self::Chat { .. } => "chat",
            Self::Postgres(_) => "postgres",
            Self::Outputs(_) => "outputs",
            Self::Trec(_) => "trec",
            Self::LanceDb { .. } => "lancedb",
        }
    }
}

impl Serialize for TargetAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TargetAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = String::deserialize(deserializer)?;
        written.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TargetAddress {
    fn schema_name() -> Cow<'static, str> {
        "TargetAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

impl fmt::Display for TargetAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(url) | Self::Postgres(url) => formatter.write_str(url),
            Self::Exec(command) => write!(formatter, "exec:{command}"),
            Self::Chat { provider, name } => write!(formatter, "chat:{provider}:{name}"),
            Self::Outputs(file) => write!(formatter, "outputs:{file}"),
            Self::Trec(file) => write!(formatter, "trec:{file}"),
            Self::LanceDb {
                database,
                table: Some(table),
            } => write!(formatter, "lancedb:{database}#{table}"),
            Self::LanceDb { database, .. } => write!(formatter, "lancedb:{database}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_back_as_it_was_written() {
        for written in [
            "http://localhost:8000/ask",
            "https://example.org",
            "exec:python my_rag.py --k 5",
            "chat:ollama:gpt-oss:20b",
            "postgresql://me:${SECRET}@localhost:5433/news?sslmode=require",
            "outputs:answers.jsonl",
            "trec:run.trec",
            "lancedb:./db#chunks",
            "lancedb:s3://bucket/a#b/db#chunks",
            "lancedb:db",
        ] {
            let target: TargetAddress = written.parse().unwrap();
            assert_eq!(target.to_string(), written);
        }
    }

    #[test]
    fn a_service_without_its_scheme_is_suggested_with_it() {
        let refused = |written: &str| written.parse::<TargetAddress>().unwrap_err().to_string();
        for written in ["localhost:8137/ask", "127.0.0.1:8000", "example.org:80/"] {
            let hint = format!("; did you mean `http://{written}`?");
            assert!(refused(written).ends_with(&hint), "{written}");
        }
        for written in ["python x.py", "ftp://x", "chat:gpt", ":80", "http:x"] {
            assert!(!refused(written).contains("did you mean"), "{written}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for written in [
            "",
            "http:",
            "http:x",
            "exec: ",
            "chat:gpt",
            "chat::x",
            "python x.py",
            "ftp://x",
            "lancedb:#chunks",
            "lancedb:db#",
        ] {
            assert!(written.parse::<TargetAddress>().is_err(), "{written}");
        }
    }
}
