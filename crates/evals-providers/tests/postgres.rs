//! `PostgreSQL` as a target, against a server with pgvector that `scripts/test-engines` starts. `POSTGRES_URL` is its address, with the user
//! `reader`, whose password is in `POSTGRES_PASSWORD`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::env;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evals::FailureClass;
use evals_providers::PostgresTarget;
use evals_targets::{Reply, Request, Target, TargetError, TargetSettings};
use serde_json::{Value, json};

/// Three documents in the place of a table.
const ROWS: &str = "(VALUES ('a', 0.9, '[1,0]'::vector), ('b', 0.5, '[0,1]'), ('c', 0.1, '[-1,0]')) AS t (id, score, vector)";

/// The settings of a target with this statement and further settings.
fn settings(statement: &str, more: Value) -> TargetSettings {
    let mut all = json!({"address": env::var("POSTGRES_URL").unwrap(), "statement": statement});
    let Value::Object(more) = more else {
        panic!("{more}");
    };
    all.as_object_mut().unwrap().extend(more);
    let settings = TargetSettings::from_value(all).unwrap();
    settings.check().unwrap();
    settings
}

async fn open(statement: &str, more: Value) -> Result<PostgresTarget, String> {
    let password = env::var("POSTGRES_PASSWORD").unwrap();
    opened(&settings(statement, more), statement, &password).await
}

async fn opened(
    settings: &TargetSettings,
    statement: &str,
    password: &str,
) -> Result<PostgresTarget, String> {
    let variable = |name: &str| (name == "PGPASSWORD").then(|| password.to_owned());
    let four = NonZeroUsize::new(4).unwrap();
    let target = PostgresTarget::open(settings, statement, four, variable).await;
    target.map_err(|error| error.to_string())
}

fn request() -> Request {
    let mut request = Request::question("q1", "why 'so'?; DROP TABLE x --");
    request.k = Some(2);
    request.vector = Some([0.8, 0.6].into());
    request
}

async fn asked(statement: &str) -> Result<Reply, TargetError> {
    let target = open(statement, json!({})).await.unwrap();
    target.ask(&request()).await
}

/// The class and the message of the failure of a question.
async fn failed(statement: &str, more: Value) -> (FailureClass, String) {
    let target = open(statement, more).await.unwrap();
    let error = target.ask(&request()).await.unwrap_err();
    (error.class(), error.to_string())
}

/// The message of a database that cannot be opened.
async fn refused(statement: &str) -> String {
    open(statement, json!({})).await.unwrap_err()
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn documents_come_in_the_order_of_the_rows_with_what_the_columns_say() {
    for cast in ["", "::vector", "::float4[]::vector", "::text::vector"] {
        let statement = format!(
            "SELECT id, 1 - (vector <=> $1{cast}) AS score, $2 AS text FROM {ROWS} ORDER BY vector <=> $1{cast} LIMIT $3"
        );
        let reply = asked(&statement).await.unwrap();
        let documents = reply.documents.unwrap();
        let ids: Vec<_> = documents
            .iter()
            .map(|it| it.id.as_deref().unwrap())
            .collect();
        assert_eq!(ids, ["a", "b"], "{cast}");
        let score = documents[0].score.unwrap();
        assert!((score - 0.8).abs() < 1e-6, "{score}");
        // The question is a value, and nothing of it is SQL.
        assert_eq!(
            documents[0].text.as_deref(),
            Some("why 'so'?; DROP TABLE x --")
        );
        assert_eq!(reply.timings[0].stage, Reply::STAGE);
    }
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn ids_and_scores_of_every_usual_type_are_read() {
    for (id, expected) in [
        ("7", "7"),
        ("7::bigint", "7"),
        ("'x'::varchar", "x"),
        ("'x'::char(1)", "x"),
        (
            "'5c56c793-69f3-4fbf-87e6-c4bf54c28c26'::uuid",
            "5c56c793-69f3-4fbf-87e6-c4bf54c28c26",
        ),
    ] {
        // The first column is the id, whatever its name.
        let statement = format!("SELECT {id} AS doc, 1.5 AS score");
        let documents = asked(&statement).await.unwrap().documents.unwrap();
        assert_eq!(documents[0].id.as_deref(), Some(expected), "{id}");
    }
    for (score, expected) in [
        ("0.1::float4", Some(f64::from(0.1_f32))),
        ("0.1::float8", Some(0.1)),
        ("3", Some(3.0)),
        ("1.0 / 61 + 1.0 / 62", Some(1.0 / 61.0 + 1.0 / 62.0)),
        ("-12345.678::numeric", Some(-12_345.678)),
        ("NULL::float8", None),
    ] {
        let statement = format!("SELECT 'a' AS id, {score} AS score");
        let documents = asked(&statement).await.unwrap().documents.unwrap();
        match (documents[0].score, expected) {
            (Some(read), Some(expected)) => assert!((read - expected).abs() < 1e-15, "{score}"),
            (read, expected) => assert_eq!(read, expected, "{score}"),
        }
    }
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn only_the_parameters_of_the_statement_are_sent() {
    let target = open("SELECT $2 AS id WHERE $3 = 2", json!({}))
        .await
        .unwrap();
    assert!(!target.uses_vector());
    let reply = target.ask(&request()).await.unwrap();
    assert_eq!(reply.documents.unwrap().len(), 1);
    let mut unlimited = request();
    unlimited.k = None;
    let error = target.ask(&unlimited).await.unwrap_err();
    assert!(error.to_string().contains("`$3`"), "{error}");
    let target = open("SELECT 'x' AS id WHERE false", json!({}))
        .await
        .unwrap();
    let reply = target.ask(&request()).await.unwrap();
    assert_eq!(reply.documents, Some(Vec::new()));
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn parameters_and_settings_of_the_session_reach_the_server() {
    let statement = "SET hnsw.ef_search = {{ ef }}; SELECT current_setting('hnsw.ef_search') AS id";
    let target = open(statement, json!({"parameters": {"ef": 77}}))
        .await
        .unwrap();
    for _ in 0..2 {
        let reply = target.ask(&request()).await.unwrap();
        assert_eq!(reply.documents.unwrap()[0].id.as_deref(), Some("77"));
    }
    // A comparison names the parameter that differs, and not the whole statement.
    let recorded = &target.identity().parameters;
    assert_eq!(recorded["statement"], statement);
    assert_eq!(recorded["parameters"], json!({"ef": 77}));
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn a_statement_that_cannot_be_used_is_refused_before_the_first_question() {
    for (statement, expected) in [
        (
            "SET hnsw.ef_search = 5000; SELECT 'a' AS id",
            "5000 is outside the valid range for parameter \"hnsw.ef_search\"",
        ),
        (
            "SELECT id FROM nowhere",
            "relation \"nowhere\" does not exist",
        ),
        (
            "SELECT nothing FROM pg_class",
            "column \"nothing\" does not exist",
        ),
        ("SELEC 1", "syntax error"),
        ("DELETE FROM pg_class", "the statement returns no rows"),
        ("SELECT 0.5 AS score", "the statement returns no id"),
        (
            "SELECT '{}'::json AS id",
            "the column `id` of the statement is of type `json`; cast it, as in `id::text`",
        ),
        (
            "SELECT 'a' AS id, 'x' AS score",
            "cast it, as in `score::float8`",
        ),
        (
            "SELECT 'a' AS id LIMIT $1",
            "`$1`, the question's vector, is of type `int8`",
        ),
    ] {
        let message = refused(statement).await;
        assert!(message.contains(expected), "{statement}: {message}");
    }
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn another_dimension_names_both_numbers_and_the_setting() {
    let statement =
        "SELECT id FROM (VALUES ('a', '[1,0,0]'::vector)) AS t (id, vector) ORDER BY vector <=> $1";
    let (class, message) = failed(statement, json!({})).await;
    assert_eq!(class, FailureClass::Terminal, "{message}");
    assert!(
        message.contains("different vector dimensions 3 and 2"),
        "{message}"
    );
    assert!(message.contains("`embeddings.model`"), "{message}");
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn a_missing_permission_ends_the_run_and_says_what_to_grant() {
    // A table that the superuser alone may read.
    let (class, message) = failed("SELECT rolname AS id FROM pg_authid", json!({})).await;
    assert_eq!(class, FailureClass::Terminal, "{message}");
    let expected =
        "permission denied for table pg_authid; grant it to the user of the address: `GRANT SELECT";
    assert!(message.starts_with(expected), "{message}");
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn a_statement_that_writes_is_refused_by_the_server() {
    for statement in [
        "WITH made AS (INSERT INTO writable VALUES ('x') RETURNING id) SELECT id FROM made",
        "SET default_transaction_read_only = off; INSERT INTO writable VALUES ('x') RETURNING id",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DELETE FROM writable RETURNING id",
    ] {
        let (class, message) = failed(statement, json!({})).await;
        assert_eq!(class, FailureClass::Terminal, "{message}");
        assert!(message.starts_with("the statement writes"), "{message}");
    }
    let rows = asked("SELECT id FROM writable").await.unwrap();
    assert_eq!(rows.documents.unwrap().len(), 1, "something was written");
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn rows_that_are_no_documents_fail_their_question() {
    for (statement, expected) in [
        (
            "SELECT NULL::text AS id",
            "a null in place of an id in row 1",
        ),
        (
            "SELECT 'a' AS id, 'NaN'::float8 AS score",
            "the score NaN in row 1",
        ),
        (
            "SELECT 'a' AS id, 'infinity'::numeric AS score",
            "the score inf in row 1",
        ),
        (
            "SELECT 'a' AS id, 1 / (length($2) - length($2)) AS score",
            "division by zero",
        ),
    ] {
        let (class, message) = failed(statement, json!({})).await;
        assert_eq!(class, FailureClass::Content, "{message}");
        assert!(message.contains(expected), "{statement}: {message}");
    }
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn ten_million_rows_are_not_read() {
    let started = Instant::now();
    let (class, message) = failed("SELECT generate_series(1, 10000000) AS id", json!({})).await;
    assert_eq!(class, FailureClass::Terminal);
    assert!(
        message.contains("more than 10000 rows; end it with `LIMIT $3`"),
        "{message}"
    );
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn a_statement_that_takes_for_ever_ends_and_the_next_question_has_another_connection() {
    let target = open(
        "SELECT 'a' AS id, pg_sleep(CASE WHEN $3 = 2 THEN 60 ELSE 0 END)::text AS title",
        json!({"timeout": 0.3}),
    );
    let target = target.await.unwrap();
    let started = Instant::now();
    let error = target.ask(&request()).await.unwrap_err();
    assert_eq!(error.class(), FailureClass::Transient, "{error}");
    assert!(
        error.to_string().contains("longer than `timeout` (0.3 s)"),
        "{error}"
    );
    assert!(started.elapsed() < Duration::from_secs(3));
    let mut quick = request();
    quick.k = Some(1);
    assert!(target.ask(&quick).await.is_ok());
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn a_connection_that_the_server_ended_is_opened_again() {
    let target = open("SELECT pg_backend_pid() AS id", json!({}))
        .await
        .unwrap();
    let first = target.ask(&request()).await.unwrap().documents.unwrap();
    let process = first[0].id.clone().unwrap();
    let end = format!("SELECT pg_terminate_backend({process})::text AS id");
    assert_eq!(
        asked(&end).await.unwrap().documents.unwrap()[0]
            .id
            .as_deref(),
        Some("true")
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    let second = target.ask(&request()).await.unwrap().documents.unwrap();
    assert_ne!(second[0].id, first[0].id);
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn questions_at_the_same_time_have_a_connection_each_and_no_more_than_the_limit() {
    let statement = "SELECT 'a' AS id, pg_sleep(0.3)::text AS title";
    let more = json!({"max_concurrency": 2});
    let target = Arc::new(open(statement, more).await.unwrap());
    let started = Instant::now();
    let asking = (0..4).map(|_| {
        let target = Arc::clone(&target);
        tokio::spawn(async move { target.ask(&request()).await })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap().unwrap();
    }
    let took = started.elapsed();
    let (least, most) = (Duration::from_millis(590), Duration::from_millis(1190));
    assert!(took > least && took < most, "{took:?}");
}

#[tokio::test]
#[ignore = "needs a server, which scripts/test-engines starts"]
async fn a_server_that_is_down_or_refuses_the_user_says_what_to_mend() {
    // As the program does when it starts.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let statement = "SELECT 'a' AS id";
    let usual = settings(statement, json!({}));
    let password = env::var("POSTGRES_PASSWORD").unwrap();
    let at = |address: &str| {
        let all = json!({"address": address, "statement": statement, "timeout": 5});
        TargetSettings::from_value(all).unwrap()
    };
    let url = env::var("POSTGRES_URL").unwrap();
    let (server, database) = url.rsplit_once('/').unwrap();
    for (settings, password, expected) in [
        (
            &at("postgres://reader@127.0.0.1:9/x"),
            password.as_str(),
            "error connecting to server",
        ),
        (&usual, "", "it wants a password: set `PGPASSWORD`"),
        (
            &usual,
            "wrong-password-1",
            "password authentication failed for user \"reader\"; set `PGPASSWORD`",
        ),
        (
            &at(&format!("{server}/nowhere")),
            password.as_str(),
            "database \"nowhere\" does not exist",
        ),
        (
            &at(&format!("{server}/{database}?sslmode=require")),
            password.as_str(),
            "server does not support TLS",
        ),
    ] {
        let message = opened(settings, statement, password).await.unwrap_err();
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("wrong-password-1"), "{message}");
    }
}
