//! A connection with the statement that all questions share.

use std::fmt;
use std::time::{Duration, Instant};

use evals_models::Failure;
use evals_targets::{ReplyDocument, Request};
use futures::{StreamExt as _, pin_mut};
use tokio::task::AbortHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Column, Config, NoTls, Row, Socket, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::fault::Fault;
use super::values::{Cell, SqlVector, is_number, is_text, is_word};

/// The most rows that are read. The measures look at far fewer documents.
const MOST_ROWS: usize = 10_000;

/// How much longer than the server may a reply be awaited.
const GRACE: Duration = Duration::from_secs(5);

/// What every connection has in common.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) config: Config,
    /// The address, without a password.
    pub(super) server: String,
    /// `SET` statements in front of the statement.
    pub(super) preamble: String,
    pub(super) statement: String,
    /// Whether the statement has `$1`, `$2` and `$3`.
    pub(super) uses: [bool; 3],
    pub(super) timeout: Duration,
}

/// An open connection. Dropping it closes it, whatever it is doing.
pub(super) struct Session {
    client: Client,
    statement: Statement,
    columns: Columns,
    connection: AbortHandle,
}

/// Whether a column of this type can be read.
type Fits = fn(&Type) -> bool;

/// The places of the columns that are read.
#[derive(Clone, Copy, Debug)]
struct Columns {
    id: usize,
    score: Option<usize>,
    title: Option<usize>,
    text: Option<usize>,
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Session {
    /// Connects, and has the server check the statement.
    pub(super) async fn open(plan: &Plan) -> Result<Self, Fault> {
        let opened = tokio::time::timeout(plan.timeout, Self::connect(plan)).await;
        opened.unwrap_or_else(|_| {
            let message = format!("`{}` does not answer within `timeout`", plan.server);
            Err(Fault::new(Failure::Terminal, message))
        })
    }

    async fn connect(plan: &Plan) -> Result<Self, Fault> {
        let (client, connection) = match plan.config.get_ssl_mode() {
            SslMode::Require => connected(plan, certificates()?).await?,
            _ => connected(plan, NoTls).await?,
        };
        let refused = |error: &_| Fault::of_statement(error);
        let milliseconds = plan.timeout.as_millis().max(1);
        // The transaction of each question is read-only, too. This covers the preparation. A plan made without the question's own values may
        // pass an index by, because it does not know `LIMIT $3`.
        // The server knows the settings of pgvector once it has read a vector, and takes any value of them before.
        let limits = format!(
            "DO $$ BEGIN PERFORM '[1]'::vector; EXCEPTION WHEN undefined_object THEN NULL; END $$; \
             SET default_transaction_read_only = on; SET statement_timeout = {milliseconds}; SET plan_cache_mode = force_custom_plan; {}",
            plan.preamble
        );
        client
            .batch_execute(&limits)
            .await
            .map_err(|it| refused(&it))?;
        // The vector's type follows from the statement; a parameter that is not used has to have one.
        let [vector, ..] = plan.uses;
        let vector = if vector { Type::UNKNOWN } else { Type::TEXT };
        let mut types = vec![vector, Type::TEXT, Type::INT8];
        let used = plan.uses.iter().rposition(|it| *it).map_or(0, |it| it + 1);
        types.truncate(used);
        let statement = client.prepare_typed(&plan.statement, &types).await;
        let statement = statement.map_err(|it| refused(&it))?;
        check_parameters(&statement, plan.uses[0])?;
        let columns = Columns::of(statement.columns())?;
        Ok(Self {
            client,
            statement,
            columns,
            connection,
        })
    }

    /// Whether the server has ended the connection.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// The documents for a question, and how long the statement took. After a failure, the server may still be at work on it.
    pub(super) async fn search(
        &mut self,
        plan: &Plan,
        request: &Request,
    ) -> Result<(Vec<ReplyDocument>, Duration), Fault> {
        let question = match request.question_text() {
            Some(question) => question,
            None if plan.uses[1] => {
                let message = "the case has no `question`, which `$2` stands for";
                return Err(Fault::new(Failure::Content, message));
            }
            None => "",
        };
        let vector = SqlVector(request.vector.as_deref().unwrap_or_default());
        let k = match request.k {
            Some(k) => i64::try_from(k).unwrap_or(i64::MAX),
            None if plan.uses[2] => {
                let message = "the case has no `k`; write a number in the place of `$3`";
                return Err(Fault::new(Failure::Content, message));
            }
            None => 0,
        };
        let parameters: [&(dyn ToSql + Sync); 3] = [&vector, &question, &k];
        let parameters = &parameters[..self.statement.params().len()];
        let dimension = plan.uses[0].then_some(vector.0.len());
        let seconds = plan.timeout.as_secs_f64();
        let found = tokio::time::timeout(plan.timeout + GRACE, self.rows(parameters)).await;
        let (rows, took) = found
            .map_err(|_| {
                let message = format!("the server gave no reply within {seconds} s");
                Fault::new(Failure::Transient, message)
            })?
            .map_err(|error| match error {
                RowsError::Sql(error) => Fault::of_question(&error, dimension, seconds),
                RowsError::TooMany => Fault::new(
                    Failure::Terminal,
                    format!(
                        "the statement returns more than {MOST_ROWS} rows; end it with `LIMIT $3`"
                    ),
                ),
            })?;
        let documents = rows.iter().enumerate();
        let documents = documents.map(|(index, row)| self.columns.document(index, row));
        Ok((documents.collect::<Result<_, _>>()?, took))
    }

    async fn rows(
        &mut self,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<(Vec<Row>, Duration), RowsError> {
        let transaction = self.client.build_transaction().read_only(true);
        let transaction = transaction.start().await?;
        let started = Instant::now();
        let stream = transaction.query_raw(&self.statement, parameters.iter().copied());
        let stream = stream.await?;
        pin_mut!(stream);
        let mut rows = Vec::new();
        while let Some(row) = stream.next().await {
            if rows.len() == MOST_ROWS {
                return Err(RowsError::TooMany);
            }
            rows.push(row?);
        }
        let took = started.elapsed();
        transaction.rollback().await?;
        Ok((rows, took))
    }
}

enum RowsError {
    Sql(tokio_postgres::Error),
    TooMany,
}

impl From<tokio_postgres::Error> for RowsError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error)
    }
}

async fn connected<T>(plan: &Plan, tls: T) -> Result<(Client, AbortHandle), Fault>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let connected = plan.config.connect(tls).await;
    let (client, connection) =
        connected.map_err(|error| Fault::of_connection(&plan.server, &error))?;
    // Its error reaches the client with the next request.
    let connection = tokio::spawn(async move { drop(connection.await) });
    Ok((client, connection.abort_handle()))
}

/// TLS that trusts the certificates of the system.
fn certificates() -> Result<MakeRustlsConnect, Fault> {
    match MakeRustlsConnect::with_native_certs() {
        Ok((tls, _)) => Ok(tls),
        Err(_) => Err(Fault::new(
            Failure::Terminal,
            "the system has no certificates, which `sslmode=require` needs; install them (`ca-certificates`)",
        )),
    }
}

/// Refuses a `$1` that cannot be a vector, and parameters that have no value.
fn check_parameters(statement: &Statement, uses_vector: bool) -> Result<(), Fault> {
    if statement.params().len() > 3 {
        let message = "the statement has `$4`; only `$1` (the vector), `$2` (the question) and `$3` (how many documents) have values";
        return Err(Fault::new(Failure::Terminal, message));
    }
    let kind = statement.params().first().filter(|_| uses_vector);
    match kind {
        Some(kind) if !SqlVector::fits(kind) => Err(Fault::new(
            Failure::Terminal,
            format!(
                "`$1`, the question's vector, is of type `{kind}` in the statement; write `$1::vector`"
            ),
        )),
        _ => Ok(()),
    }
}

impl Columns {
    /// Finds the columns by name. The id may be the first one.
    fn of(columns: &[Column]) -> Result<Self, Fault> {
        let place = |name: &str| columns.iter().position(|column| column.name() == name);
        let others = ["score", "title", "text"].map(place);
        let first = (!columns.is_empty() && !others.contains(&Some(0))).then_some(0);
        let Some(id) = place("id").or(first) else {
            let problem = if columns.is_empty() {
                "the statement returns no rows"
            } else {
                "the statement returns no id"
            };
            let message = format!("{problem}; write `SELECT document_id AS id, … FROM …`");
            return Err(Fault::new(Failure::Terminal, message));
        };
        let [score, title, text] = others;
        let typed: [(Option<usize>, Fits, &str); 4] = [
            (Some(id), is_word, "text"),
            (score, is_number, "float8"),
            (title, is_text, "text"),
            (text, is_text, "text"),
        ];
        for (place, fits, cast) in typed {
            let column = place.map(|place| &columns[place]);
            if let Some(column) = column.filter(|column| !fits(column.type_())) {
                let (name, kind) = (column.name(), column.type_());
                let message = format!(
                    "the column `{name}` of the statement is of type `{kind}`; cast it, as in `{name}::{cast}`"
                );
                return Err(Fault::new(Failure::Terminal, message));
            }
        }
        Ok(Self {
            id,
            score,
            title,
            text,
        })
    }

    /// The document of a row, which is the `index`th from 0.
    fn document(self, index: usize, row: &Row) -> Result<ReplyDocument, Fault> {
        let row_number = index + 1;
        let failed = |what: &str| {
            let message = format!("{what} in row {row_number} of the statement's result");
            Fault::new(Failure::Content, message)
        };
        let cell = |place: usize| {
            let cell = row.try_get::<_, Option<Cell<'_>>>(place);
            cell.map_err(|_| failed("an unreadable cell"))
        };
        let word = |place: Option<usize>| {
            let cell = place.map(cell).transpose()?.flatten();
            let read = |cell: Cell<'_>| cell.word().ok_or_else(|| failed("an unreadable text"));
            cell.map(read).transpose()
        };
        let score = self.score.map(cell).transpose()?.flatten();
        let score = match score.map(|cell| cell.number()) {
            Some(Some(score)) if score.is_finite() => Some(score),
            Some(Some(score)) => return Err(failed(&format!("the score {score}"))),
            Some(None) => return Err(failed("an unreadable score")),
            None => None,
        };
        Ok(ReplyDocument {
            id: Some(word(Some(self.id))?.ok_or_else(|| failed("a null in place of an id"))?),
            score,
            title: word(self.title)?,
            text: word(self.text)?,
        })
    }
}
