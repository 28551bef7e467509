//! Indexes in an object store: a server in memory that speaks S3, and fails as each test sets.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::object_server::{Fault, KEY, ObjectServer, SECRET, Seen};
use crate::sandbox::{Sandbox, ended};
use crate::store_scenarios::{self as scenarios, Place, RUN};

const DB: &str = "s3://bucket/some/db";

fn place_of(server: ObjectServer) -> Place {
    Place {
        sandbox: Sandbox::new(),
        db: DB.to_owned(),
        environment: vec![
            ("AWS_ENDPOINT_URL", server.url()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ],
        server,
        secret: SECRET.to_owned(),
    }
}

fn place() -> Place {
    place_of(ObjectServer::in_memory())
}

#[test]
fn an_index_in_a_store_has_the_results_of_one_in_a_folder() {
    let place = place();
    scenarios::results_are_those_of_a_folder(&place);
    let keys = place.server.keys();
    assert!(
        keys.iter().all(|key| key.starts_with("some/db/")),
        "{keys:?}"
    );
}

#[test]
fn requests_that_fail_for_a_while_are_repeated() {
    scenarios::an_outage_is_survived(&place(), Duration::from_secs(3));
}

#[test]
fn a_lost_answer_makes_no_document_twice() {
    scenarios::lost_answers_make_no_document_twice(&place());
}

#[test]
fn a_build_whose_store_went_away_resumes() {
    scenarios::a_build_whose_store_went_away_resumes(&place());
}

#[test]
fn a_killed_build_leaves_no_lock_and_resumes() {
    scenarios::a_killed_build_leaves_no_lock_and_resumes(&place());
}

#[test]
fn of_two_writers_one_builds_and_one_waits() {
    scenarios::of_two_writers_one_builds_and_one_waits(&place());
}

#[test]
fn a_store_is_described_by_the_settings() {
    let place = place();
    let settings = format!(
        "store:\n  endpoint: {}\n  region: eu-central-1\n  path_style: true\n  access_key_env: STORE_ID\n  secret_key_env: STORE_SECRET\n",
        place.server.url()
    );
    place.sandbox.write("evaluations.yaml", settings);
    let line = format!("{RUN} --profile bm25 --db {DB}");
    let mut command = place.sandbox.command(&line);
    let found = ended(command.env("STORE_ID", KEY).env("STORE_SECRET", SECRET));
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert_eq!(
        place.manifest()["settings"]["store"]["secret_key_env"],
        "STORE_SECRET"
    );
    place.assert_no_secrets(&found.stderr);
    let shown = place.sandbox.succeed("config show");
    assert!(shown.contains("access_key_env: STORE_ID"), "{shown}");
    let message = place.refuse("--profile bm25");
    assert!(
        message.contains("evaluations.yaml:5: bad value for `store.access_key_env`: the environment variable `STORE_ID` is not set"),
        "{message}"
    );
    for (line, expected) in [
        (
            "--set store.endpiont=http://localhost",
            "unknown setting `store.endpiont`; did you mean `store.endpoint`?",
        ),
        (
            "--set store.secret_key_env=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
            "bad value for `store.secret_key_env`: must be the name of an environment variable",
        ),
    ] {
        let message = place.refuse(line);
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("wJalrXUtnFEMI"), "{message}");
    }
}

#[test]
fn a_store_that_ignores_conditions_is_refused_before_anything_is_written() {
    let place = place_of(ObjectServer::without_conditions());
    let message = place.refuse("--profile bm25");
    assert!(
        message.contains(&format!("the store `{DB}` ignores `If-None-Match`")),
        "{message}"
    );
    assert!(
        message.contains("use a server that supports conditional writes"),
        "{message}"
    );
    assert_eq!(place.server.keys(), [""; 0]);
    assert!(place.sandbox.runs().is_empty());
}

#[test]
fn an_error_names_the_store_the_cause_and_the_remedy() {
    let place = place();
    let refused = |uri: &str, change: &dyn Fn(&mut Command)| {
        let line = format!("{RUN} --profile bm25 --db {uri} --set store.retry_for=1");
        let mut command = place.command(&line);
        change(&mut command);
        let started = Instant::now();
        let ended = ended(&mut command);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(started.elapsed() < Duration::from_secs(30), "{ended:?}");
        assert!(!ended.stderr.contains("127.0.0.1:1/"), "{}", ended.stderr);
        ended.stderr
    };
    let unchanged = |_: &mut Command| {};
    let message = refused("s3://nowhere/db", &unchanged);
    for part in [
        "cannot use the store `s3://nowhere/db`",
        "no such bucket or container",
        "create the bucket",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let message = refused(DB, &|command| {
        command.env("AWS_ACCESS_KEY_ID", "somebody-else");
    });
    for part in ["denied access", "InvalidAccessKeyId", "check the keys"] {
        assert!(message.contains(part), "{message}");
    }
    let message = refused(DB, &|command| {
        command.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    });
    for part in ["cannot be reached", "check the network"] {
        assert!(message.contains(part), "{message}");
    }
    place.server.fail(|_| Some(Fault::Status(503)));
    let message = refused(DB, &unchanged);
    for part in [
        "answered 503",
        "SlowDown",
        "repeating the request for up to 1 s",
    ] {
        assert!(message.contains(part), "{message}");
    }
    place.server.fail(|_| Some(Fault::Drop));
    let message = refused(DB, &unchanged);
    assert!(message.contains("broke the connection off"), "{message}");
    for (uri, problem) in [
        ("s3://", "with the name of a bucket"),
        ("s3://bucket/db?engine=x", "without `?` and `#`"),
        (
            "s3://id:hunter2@bucket/db",
            "without a user name or password",
        ),
        ("s3://bucket/../db", "without `.` and `..`"),
    ] {
        let message = refused(uri, &unchanged);
        assert!(message.contains(problem), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert!(place.sandbox.runs().is_empty());
}

#[test]
fn searches_of_an_index_that_is_dropped_fail_by_name() {
    let place = Arc::new(place());
    place.succeed("--profile semantic");
    let line = "--profile semantic --fresh --set search.latency_sample=20";
    let is_data = |request: &String| request.starts_with("GET ") && request.contains("/data/");
    let before = place.server.requests().len();
    place.succeed(line);
    let reads = place.server.requests().split_off(before);
    let reads = reads.iter().filter(|request| is_data(request)).count();
    assert!(reads >= 20, "each search reads the vectors: {reads}");
    // The server deletes the table after half of the searches.
    let seen_reads = AtomicUsize::new(0);
    let dropping = Arc::downgrade(&place);
    place.server.fail(move |seen| {
        let is_data = seen.method == "GET" && seen.path.contains("/data/");
        if is_data && seen_reads.fetch_add(1, Ordering::SeqCst) == reads / 2 {
            dropping.upgrade()?.server.delete(".lance/");
        }
        None
    });
    let ended = place.run(line);
    let is_left = place
        .server
        .keys()
        .iter()
        .any(|key| key.contains(".lance/"));
    assert!(!is_left, "the table was not deleted");
    // A search that failed is a result of its question, as in a folder.
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("× task failed"), "{ended:?}");
    let report = place.sandbox.runs().pop().unwrap().join("report.json");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains(&format!("of `{DB}`")), "{report}");
    place.server.recover();
    place.succeed("--profile semantic --fresh");
}

#[test]
fn a_deleted_index_that_the_store_still_lists_is_no_index() {
    let place = place();
    place.succeed("--profile bm25");
    // SeaweedFS lists the folder of a deleted table for two minutes; here an object that is no part of a table keeps it.
    place.server.delete("_versions/");
    let message = place.refuse("--profile bm25 --fresh --skip-db");
    assert!(message.contains("the store is empty"), "{message}");
    place.succeed("--profile bm25 --fresh");
}

#[test]
fn a_missing_file_of_an_index_is_named_with_the_remedy() {
    let place = place();
    for (profile, folder) in [("semantic", "/data/"), ("bm25", "/_indices/")] {
        place.succeed(&format!("--profile {profile}"));
        place.server.delete(folder);
        let message = place.refuse(&format!("--profile {profile} --fresh --skip-db"));
        for part in [folder, "delete `s3://bucket/some/db/index-"] {
            assert!(message.contains(part), "{part}: {message}");
        }
        place.server.delete(".lance/");
        place.succeed(&format!("--profile {profile} --fresh"));
    }
}

#[test]
fn a_store_that_lists_nothing_is_refused_at_once() {
    let place = place();
    let is_list = |seen: &Seen| seen.method == "GET" && seen.path.contains("list-type=");
    let none = move |seen: &Seen| is_list(seen).then_some(Fault::EmptyList);
    place.server.fail(none);
    let lock = format!("{DB}/evaluations-lock/{:020}.json", 1);
    let expected = format!(
        "the store `{DB}` lists its objects wrongly: it has `{lock}`, and does not list it"
    );
    let message = place.refuse("--profile bm25");
    assert!(message.contains(&expected), "{message}");
    assert_eq!(place.server.keys(), [""; 0]);
    let doctor = ended(&mut place.command(&format!("doctor --db {DB}")));
    let expected_by_doctor =
        "lists its objects wrongly: it has `s3://bucket/some/db/evaluations-trial-";
    assert!(doctor.stdout.contains(expected_by_doctor), "{doctor:?}");

    // The lock of an earlier build exists, and nobody sees it.
    place.server.recover();
    place.succeed("--profile bm25");
    place.server.fail(none);
    let before = place.server.requests().len();
    let message = place.refuse("--profile bm25 --fresh");
    assert!(message.contains(&expected), "{message}");
    assert!(place.server.requests().len() < before + 20, "it tries once");
}

#[test]
fn a_list_without_an_end_is_an_error_that_names_the_store() {
    let place = place();
    let is_list = |seen: &Seen| seen.method == "GET" && seen.path.contains("list-type=");
    place
        .server
        .fail(move |seen| is_list(seen).then_some(Fault::EndlessList));
    let message = place.refuse("--profile bm25 --set store.retry_for=0 --set store.timeout=1");
    let expected = format!(
        "the store `{DB}` lists its objects wrongly: after 16 s, a list has still more pages"
    );
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn a_lock_that_the_store_lists_and_does_not_have_is_an_error() {
    let place = place();
    place.succeed("--profile bm25");
    place.server.fail(|seen| {
        let is_read = seen.method == "GET" && seen.path.contains("/evaluations-lock/");
        is_read.then_some(Fault::Status(404))
    });
    let line = "--profile semantic --set store.retry_for=0 --set store.timeout=1";
    let message = place.refuse(line);
    let expected = format!(
        "the store `{DB}` lists its objects wrongly: it has not had `{DB}/evaluations-lock/{:020}.json` for 16 s, and still lists it",
        1
    );
    assert!(message.contains(&expected), "{message}");
}
