//! PostgreSQL as a target: a statement in SQL that finds documents.

mod fault;
mod session;
mod values;

use std::num::NonZeroUsize;
use std::str::FromStr as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use evals_messages::secrets;
use evals_models::Failure;
use evals_targets::{
    PostgresAddress, Reply, Request, SettingsProblem, Target, TargetAddress, TargetError,
    TargetIdentity, TargetSettings,
};
use tokio::sync::Semaphore;
use tokio_postgres::Config;

use fault::Fault;
use session::{Plan, Session};

/// The time of one reply, if the settings name none.
const TIMEOUT: f64 = 300.0;

/// A database that answers each question with a statement.
///
/// `$1` of the statement is the question's vector, `$2` its text and `$3` how many documents the measures look at; only those that the
/// statement has are sent. Each question has a read-only transaction. The columns are `id` (or the first one), `score`, `title` and `text`.
///
/// Every question in flight has a connection, which others use later. The time of the statement counts, without that of connecting and of
/// the transaction around it.
#[derive(Debug)]
pub struct PostgresTarget {
    identity: TargetIdentity,
    plan: Plan,
    idle: Mutex<Vec<Session>>,
    turns: Semaphore,
}

/// Why a database cannot be a target.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// A setting cannot be used.
    #[error(transparent)]
    Setting(#[from] SettingsProblem),
    /// The server is not there, or refuses the user or the statement.
    #[error("{0}")]
    Refused(String),
}

impl PostgresTarget {
    /// Connects to the database of these settings, and has it check `statement`, the text of the setting `statement`. At most `concurrency`
    /// questions are asked at the same time. `variable` gives the value of an environment variable.
    ///
    /// # Errors
    ///
    /// A setting cannot be used, the server is not there or refuses the user, or it does not know what the statement names.
    ///
    /// # Panics
    ///
    /// The address says `sslmode=require`, and the process has no default provider of cryptography for rustls.
    pub async fn open(
        settings: &TargetSettings,
        statement: &str,
        concurrency: NonZeroUsize,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, PostgresError> {
        let Some(TargetAddress::Postgres(url)) = &settings.address else {
            let message = "is not the address of a database";
            return Err(SettingsProblem::new("address", message).into());
        };
        let (config, server) =
            config(url, variable).map_err(|message| SettingsProblem::new("address", message))?;
        let mut parameters = settings.parameters();
        parameters.insert("statement".to_owned(), statement.trim().into());
        let statement = settings.with_parameters("statement", statement)?;
        let (preamble, statement) = split(&statement);
        let plan = Plan {
            config,
            server: server.clone(),
            preamble: preamble.to_owned(),
            statement: statement.to_owned(),
            uses: [1, 2, 3].map(|number| uses(statement, number)),
            timeout: Duration::from_secs_f64(settings.timeout.unwrap_or(TIMEOUT)),
        };
        let first = Session::open(&plan).await;
        let first = first.map_err(|fault| PostgresError::Refused(fault.to_string()))?;
        let most = settings.max_concurrency.unwrap_or(concurrency);
        Ok(Self {
            identity: TargetIdentity {
                version: settings.version.clone(),
                parameters,
                ..TargetIdentity::new("postgres", server)
            },
            plan,
            idle: Mutex::new(vec![first]),
            turns: Semaphore::new(most.min(concurrency).get()),
        })
    }

    /// Whether the statement uses the question's vector.
    pub fn uses_vector(&self) -> bool {
        self.plan.uses[0]
    }

    async fn search(&self, request: &Request) -> Result<Reply, Fault> {
        let idle = self.idle().pop();
        let was_idle = idle.is_some();
        let mut session = match idle {
            Some(session) => session,
            None => self.reopened().await?,
        };
        let mut found = session.search(&self.plan, request).await;
        if was_idle && session.is_closed() {
            // The server may have ended it since the last question, as after a restart.
            session = self.reopened().await?;
            found = session.search(&self.plan, request).await;
        }
        // A connection whose statement failed is dropped.
        let (documents, took) = found?;
        self.idle().push(session);
        Ok(Reply {
            documents: Some(documents),
            timings: vec![Reply::timing(Reply::STAGE, took)],
            ..Reply::default()
        })
    }

    /// A further connection to a server that has answered before.
    async fn reopened(&self) -> Result<Session, Fault> {
        Session::open(&self.plan).await.map_err(Fault::after_a_loss)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        // Nothing panics while the lock is held.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Target for PostgresTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let turn = self.turns.acquire().await;
        let _turn = turn.map_err(|error| TargetError::of_call(Failure::Terminal, error))?;
        self.search(request).await.map_err(Fault::into_target_error)
    }

    async fn close(&self) {
        self.idle().clear();
    }
}

/// How to connect, and the address without a password.
fn config(
    url: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(Config, String), String> {
    let PostgresAddress { shown, password } = PostgresAddress::parse(url)?;
    // The certificate of the server is checked in any case.
    let read = shown.replace("sslmode=verify-full", "sslmode=require");
    let read = read.replace("sslmode=verify-ca", "sslmode=require");
    let mut config = Config::from_str(&read).map_err(|error| {
        format!(
            "is not an address of PostgreSQL: {}",
            evals_messages::chain(&error)
        )
    })?;
    let (name, is_required) = password;
    match variable(&name).filter(|value| !value.is_empty()) {
        Some(value) => {
            secrets::hide(&value);
            config.password(value);
        }
        None if is_required => {
            return Err(format!("the environment variable `{name}` is not set"));
        }
        None => {}
    }
    config.application_name("evaluations");
    config.connect_timeout(Duration::from_secs(10));
    Ok((config, shown))
}

/// The `SET` statements at the beginning, such as `SET hnsw.ef_search = 100;`, and the statement after them.
fn split(statement: &str) -> (&str, &str) {
    let mut at = 0;
    loop {
        let rest = &statement[at..];
        let start = rest.trim_start();
        let is_comment = start.starts_with("--");
        let word = start.split(char::is_whitespace).next().unwrap_or_default();
        let end = match word {
            _ if is_comment => rest
                .find("--")
                .and_then(|it| Some(it + rest[it..].find('\n')?)),
            word if word.eq_ignore_ascii_case("set") => rest.find(';'),
            _ => None,
        };
        let Some(end) = end else {
            let (before, after) = statement.split_at(at);
            return (before, after.trim().trim_end_matches(';').trim_end());
        };
        at += end + 1;
    }
}

/// Whether a statement has this parameter.
fn uses(statement: &str, number: u8) -> bool {
    let mut places = statement.match_indices('$');
    let name = format!("${number}");
    places.any(|(at, _)| {
        let after = statement[at..].strip_prefix(&name);
        after.is_some_and(|after| !after.starts_with(|it: char| it.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_session_stand_before_the_statement() {
        let (before, statement) = split(
            "-- A note; of two lines\nSET hnsw.ef_search = 100;\nset enable_seqscan = off ;\n SELECT id FROM t WHERE a = ';' LIMIT $3;\n",
        );
        assert_eq!(
            before,
            "-- A note; of two lines\nSET hnsw.ef_search = 100;\nset enable_seqscan = off ;"
        );
        assert_eq!(statement, "SELECT id FROM t WHERE a = ';' LIMIT $3");
        assert_eq!(
            split("SELECT settings FROM t"),
            ("", "SELECT settings FROM t")
        );
    }

    #[test]
    fn parameters_are_found_by_their_whole_number() {
        let statement = "SELECT id FROM t ORDER BY v <=> $1 LIMIT $3 + $20";
        assert_eq!([1, 2, 3].map(|it| uses(statement, it)), [true, false, true]);
    }

    #[test]
    fn a_password_comes_from_the_environment_and_is_not_shown() {
        let variable = |name: &str| (name == "DB_SECRET").then(|| "s3cr@t/pass".to_owned());
        let (config, shown) = config(
            "postgres://me:${DB_SECRET}@h/news?sslmode=verify-full",
            variable,
        )
        .unwrap();
        assert_eq!(config.get_password(), Some("s3cr@t/pass".as_bytes()));
        assert_eq!(
            config.get_ssl_mode(),
            tokio_postgres::config::SslMode::Require
        );
        assert_eq!(shown, "postgres://me@h/news?sslmode=verify-full");
        let missing = super::config("postgres://me:${DB_SECRET}@h/news", |_| None);
        let missing = missing.unwrap_err();
        assert_eq!(missing, "the environment variable `DB_SECRET` is not set");
        let none = super::config("postgres://me@h/news", |_| None).unwrap();
        assert_eq!(none.0.get_password(), None);
    }
}
