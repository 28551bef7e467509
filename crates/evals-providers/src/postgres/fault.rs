//! What went wrong with PostgreSQL, what it means for other questions, and how to mend it.

use evals_messages::{chain, visible};
use evals_models::Failure;
use evals_targets::TargetError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The most characters of a message that are shown.
const MOST: usize = 400;

/// The advice to a user without a permission.
const GRANT: &str = "; grant it to the user of the address: `GRANT SELECT ON … TO …` for a table, `GRANT USAGE ON SCHEMA … TO …` for a schema";

/// A failure of the server or of the statement.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Fault {
    pub(super) failure: Failure,
    message: String,
}

impl Fault {
    pub(super) fn new(failure: Failure, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { failure, message }
    }

    /// The server refused the connection, or is not there.
    pub(super) fn of_connection(server: &str, error: &Error) -> Self {
        let said = said(error);
        let advice = match error.code() {
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                "; set `PGPASSWORD`, or check the user, the password and `sslmode=require` in the address"
            }
            None if said.contains("password missing") => {
                "; it wants a password: set `PGPASSWORD`, or write `${NAME}` after the user in the address"
            }
            _ => "",
        };
        let failure = match error.code() {
            Some(&SqlState::TOO_MANY_CONNECTIONS | &SqlState::CANNOT_CONNECT_NOW) => {
                Failure::Transient
            }
            _ => Failure::Terminal,
        };
        Self::new(
            failure,
            format!("`{server}` cannot be used: {said}{advice}"),
        )
    }

    /// The server refused the statement before its first question.
    pub(super) fn of_statement(error: &Error) -> Self {
        let advice = match error.code() {
            Some(&SqlState::UNDEFINED_OBJECT) if said(error).contains("\"vector\"") => {
                "; pgvector is missing: `CREATE EXTENSION vector`"
            }
            Some(&SqlState::INDETERMINATE_DATATYPE) => "; write the type, as in `$1::vector`",
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => GRANT,
            _ => "",
        };
        let message = format!("the statement cannot be used: {}{advice}", said(error));
        Self::new(Failure::Terminal, message)
    }

    /// The statement failed for a question, which has a vector of this dimension if the statement uses one.
    pub(super) fn of_question(error: &Error, dimension: Option<usize>, timeout: f64) -> Self {
        let said = said(error);
        match error.code() {
            None => Self::new(
                Failure::Transient,
                format!("the connection was lost: {said}"),
            ),
            Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Self::new(
                Failure::Terminal,
                format!("the statement writes, and a target is only read: {said}"),
            ),
            // The server looks at permissions when it runs the statement, which is the same for every question.
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                Self::new(Failure::Terminal, format!("{said}{GRANT}"))
            }
            Some(&SqlState::QUERY_CANCELED) => Self::new(
                Failure::Transient,
                format!("the statement took longer than `timeout` ({timeout} s): {said}"),
            ),
            Some(_) if dimension.is_some() && said.contains("dimensions") => Self::new(
                Failure::Terminal,
                format!(
                    "{said}; the question's vector has {}: set `embeddings.model` to the model that the rows were embedded with",
                    dimension.unwrap_or_default()
                ),
            ),
            Some(code) if is_of_resources(code) => Self::new(Failure::Transient, said),
            Some(_) => Self::new(Failure::Content, said),
        }
    }

    /// The same for a server that has answered before, which may come back.
    pub(super) fn after_a_loss(mut self) -> Self {
        self.failure = Failure::Transient;
        self
    }

    pub(super) fn into_target_error(self) -> TargetError {
        TargetError::of_call(self.failure, self)
    }
}

/// Whether the server lacks something for now, or ended the statement for another one: classes 08, 40, 53, 57 and 58 of PostgreSQL's codes.
fn is_of_resources(code: &SqlState) -> bool {
    let class = code.code().get(..2);
    class.is_some_and(|class| matches!(class, "08" | "40" | "53" | "57" | "58"))
}

/// The message of the server, with its detail and hint, or of the client.
fn said(error: &Error) -> String {
    let text = match error.as_db_error() {
        Some(error) => {
            let parts = [Some(error.message()), error.detail(), error.hint()];
            let parts: Vec<&str> = parts.into_iter().flatten().collect();
            parts.join("; ")
        }
        None => chain(error),
    };
    visible::beginning(&visible::single_line(&text), MOST)
}
