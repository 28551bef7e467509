//! Addresses, settings and credentials of object stores that do not fit each other, and what `doctor` says about them.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::object_server::{Fault, KEY, ObjectServer, SECRET, Seen};
use crate::sandbox::{Ended, Sandbox, ended};
use crate::store_scenarios::RUN;

const DB: &str = "s3://bucket/some/db";
/// Names of environment variables with their values.
type Variables<'v> = &'v [(&'v str, &'v str)];

const FAMILIES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// A command without credentials, which asks no service of the machine for any.
fn command(sandbox: &Sandbox, line: &str) -> Command {
    let mut command = sandbox.command(line);
    command.env("AWS_EC2_METADATA_DISABLED", "true");
    command
}

/// A command with the keys of the server for S3.
fn with_keys(sandbox: &Sandbox, server: &ObjectServer, line: &str) -> Command {
    let mut command = command(sandbox, line);
    command
        .env("AWS_ENDPOINT_URL", server.url())
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET);
    command
}

/// The messages of a run on `db` that is refused, with these variables.
fn refused(sandbox: &Sandbox, db: &str, variables: Variables<'_>) -> String {
    let line = format!("{RUN} --profile bm25 --set store.retry_for=0 --db {db}");
    let mut command = command(sandbox, &line);
    let ended = ended(command.envs(variables.iter().copied()));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    ended.stderr
}

#[test]
fn a_hint_fits_the_scheme_of_the_address() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let url = server.url();
    let host = url.strip_prefix("http://").unwrap();
    let aws = [
        ("AWS_ENDPOINT_URL", url.as_str()),
        ("AWS_REGION", "us-east-1"),
    ];
    let azure = [
        ("AZURE_STORAGE_ENDPOINT", url.as_str()),
        ("AZURE_STORAGE_ACCOUNT_NAME", "me"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0"),
    ];
    let machine_of_azure = [
        ("AZURE_STORAGE_ENDPOINT", url.as_str()),
        ("AZURE_STORAGE_ACCOUNT_NAME", "me"),
        ("AZURE_MSI_ENDPOINT", url.as_str()),
    ];
    let machine_of_google = [("GCE_METADATA_HOST", host), ("GCE_METADATA_IP", host)];
    let missing_file = [("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")];
    let none = "there are no credentials";
    let cases: [(&str, Variables<'_>, &str, &str); 6] = [
        ("s3", &aws, none, "set AWS_ACCESS_KEY_ID"),
        ("az", &[], none, "set AZURE_STORAGE_ACCOUNT_NAME"),
        (
            "az",
            &machine_of_azure,
            none,
            "set AZURE_STORAGE_ACCOUNT_NAME",
        ),
        (
            "az",
            &azure,
            "denied access",
            "check the keys in AZURE_STORAGE_ACCOUNT_KEY",
        ),
        (
            "gs",
            &machine_of_google,
            none,
            "set GOOGLE_APPLICATION_CREDENTIALS",
        ),
        (
            "gs",
            &missing_file,
            "cannot open `/nowhere/key.json`: No such file",
            "check the credentials in the file that GOOGLE_APPLICATION_CREDENTIALS",
        ),
    ];
    for (scheme, variables, cause, hint) in cases {
        let db = format!("{scheme}://bucket/db");
        let message = refused(&sandbox, &db, variables);
        for part in [
            format!("cannot use the store `{db}`").as_str(),
            cause,
            &format!("hint: {hint}"),
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
        let own = FAMILIES
            .into_iter()
            .filter(|family| message.contains(family));
        assert_eq!(own.count(), 1, "{message}");
        assert!(
            !message.contains(host),
            "no address of a request: {message}"
        );
    }
}

#[test]
fn settings_of_another_kind_of_store_are_refused_before_a_request() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let settings = format!("store:\n  endpoint: {}\n  account: me\n", server.url());
    sandbox.write("evaluations.yaml", settings);
    let message = refused(&sandbox, DB, &[("AZURE_STORAGE_ACCOUNT_NAME", "other")]);
    assert!(
        message.contains("evaluations.yaml:3: bad value for `store.account`: it is for `az://`, and this index is at `s3://`; leave it out"),
        "{message}"
    );
    let endpoint = format!("store:\n  endpoint: {}/bucket\n", server.url());
    sandbox.write("evaluations.yaml", endpoint);
    let message = refused(&sandbox, DB, &[]);
    let expected = format!(
        "evaluations.yaml:2: bad value for `store.endpoint`: must be the address of the server without the bucket `bucket`, which the \
         address of the index names: `{}`",
        server.url()
    );
    assert!(message.contains(&expected), "{message}");
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn a_note_while_a_store_is_opened_says_how_long_it_goes_on() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let failed = AtomicBool::new(false);
    server.fail(move |_| (!failed.swap(true, Ordering::SeqCst)).then_some(Fault::Status(503)));
    let line = format!("{RUN} --profile bm25 --db {DB}");
    let ended = ended(&mut with_keys(&sandbox, &server, &line));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected =
        "the object store answered 503 Service Unavailable; repeating the request for up to 10 s";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    assert!(!ended.stderr.contains("up to 90 s"), "{}", ended.stderr);
}

#[test]
fn a_note_does_not_blame_the_store_for_the_credentials_of_the_machine() {
    let sandbox = Sandbox::new();
    let nowhere = "127.0.0.1:1";
    let line = format!("{RUN} --profile bm25 --set store.retry_for=1 --db gs://bucket/db");
    let mut command = command(&sandbox, &line);
    command
        .env("GCE_METADATA_HOST", nowhere)
        .env("GCE_METADATA_IP", nowhere);
    let ended = ended(&mut command);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for part in [
        "the object store, or the service that gives this machine its credentials, cannot be reached; repeating the request for up to 1 s",
        "caused by: there are no credentials for the object store\n",
        "hint: set GOOGLE_APPLICATION_CREDENTIALS",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains(nowhere), "{}", ended.stderr);
}

/// Asks `doctor` about a database, and expects an exit code and parts of its lines.
fn assert_examined(mut command: Command, code: i32, parts: &[&str]) -> Ended {
    let examined = ended(&mut command);
    assert_eq!(examined.code, Some(code), "{examined:?}");
    for part in parts {
        assert!(
            examined.stdout.contains(part),
            "{part}: {}",
            examined.stdout
        );
    }
    examined
}

#[test]
fn doctor_examines_a_store_and_leaves_nothing_in_it() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let line = format!("doctor --db {DB}");
    let examined = assert_examined(
        with_keys(&sandbox, &server, &line),
        0,
        &[
            "ok    store address: s3://bucket/some/db\n",
            "ok    store credentials: accepted\n",
            "ok    store: lists what is below the address, within ",
            "ok    store writing: objects can be created and deleted, and the store refuses to replace one\n",
        ],
    );
    assert!(!examined.stdout.contains(SECRET), "{}", examined.stdout);
    assert_eq!(server.keys(), [""; 0]);
    let written = server.requests();
    let written = written.iter().filter(|it| it.starts_with("PUT "));
    assert_eq!(written.count(), 2, "{:?}", server.requests());
}

#[test]
fn doctor_names_what_is_wrong_with_a_store_and_how_to_mend_it() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let examine = |line: &str, variable: (&str, &str), parts: &[&str]| {
        let line = format!("doctor --set store.retry_for=0 {line}");
        let mut command = with_keys(&sandbox, &server, &line);
        command.env(variable.0, variable.1);
        assert_examined(command, 1, parts);
    };
    let unchanged = ("AWS_REGION", "us-east-1");
    examine(
        "--db s3://bucket/db?x=1",
        unchanged,
        &["bad   store address: ", "without `?` and `#`"],
    );
    let account = format!("--db {DB} --set store.account=me");
    examine(
        &account,
        unchanged,
        &[
            "bad   store settings: ",
            "`store.account`: it is for `az://`",
        ],
    );
    let line = format!("--db {DB}");
    examine(
        &line,
        ("AWS_ACCESS_KEY_ID", "somebody-else"),
        &[
            "bad   store credentials: ",
            "denied access",
            "\n      check the keys in AWS_ACCESS_KEY_ID",
        ],
    );
    examine(
        &line,
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
        &[
            "bad   store: ",
            "cannot be reached",
            "\n      check the network and `store.endpoint` or AWS_ENDPOINT_URL, then run the same command again; an unfinished run or index resumes",
        ],
    );
    server.fail(|_| Some(Fault::Status(404)));
    examine(
        &line,
        unchanged,
        &[
            "bad   store: ",
            "did not understand the request; the endpoint or the region may be wrong",
            "\n      check `store.endpoint` and `store.region`, or AWS_ENDPOINT_URL and AWS_REGION",
        ],
    );
    server.fail(|seen| (seen.method == "PUT").then_some(Fault::Status(403)));
    examine(
        &line,
        unchanged,
        &[
            "ok    store credentials: accepted\n",
            "bad   store writing: ",
            "denied access",
        ],
    );
    server.recover();
    let careless = ObjectServer::without_conditions();
    let examined = with_keys(&sandbox, &careless, &format!("doctor --db {DB}"));
    assert_examined(
        examined,
        1,
        &[
            "bad   store writing: ",
            "ignores `If-None-Match`",
            "\n      use a server that supports conditional writes",
        ],
    );
    assert_eq!(careless.keys(), [""; 0]);
}

/// The requests with which the program deletes an object.
fn deletes(seen: &Seen) -> bool {
    seen.method == "DELETE" || seen.path.contains("?delete")
}

#[test]
fn doctor_names_the_object_that_it_could_not_delete() {
    type Script = fn(&Seen) -> Option<Fault>;
    let refuses: Script = |seen| deletes(seen).then_some(Fault::Status(403));
    // The answer to the creation gets lost, and then the store does not answer.
    let breaks: Script = |seen| match seen.method.as_str() {
        "PUT" => Some(Fault::Lose),
        _ => deletes(seen).then_some(Fault::Drop),
    };
    let unconditional = "\n      use a server that supports conditional writes";
    for (server, script, cause) in [
        (ObjectServer::in_memory(), refuses, "denied access"),
        (
            ObjectServer::in_memory(),
            breaks,
            "broke the connection off",
        ),
        (ObjectServer::without_conditions(), refuses, unconditional),
    ] {
        let sandbox = Sandbox::new();
        server.fail(script);
        let line = format!("doctor --db {DB} --set store.retry_for=0");
        let examined = assert_examined(
            with_keys(&sandbox, &server, &line),
            1,
            &["bad   store writing: ", cause],
        );
        let [left] = &server.keys()[..] else {
            panic!("{:?}", server.keys());
        };
        let expected = format!("the object `s3://bucket/{left}`, with which this program");
        assert!(examined.stdout.contains(&expected), "{}", examined.stdout);
    }
}

#[test]
fn doctor_takes_an_outage_for_a_failure_although_there_is_an_index() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let line = format!("{RUN} --profile bm25 --db {DB}");
    let built = ended(&mut with_keys(&sandbox, &server, &line));
    assert_eq!(built.code, Some(0), "{built:?}");
    server.fail(|seen| (seen.method == "PUT").then_some(Fault::Status(503)));
    let line = format!("doctor --db {DB} --set store.retry_for=0");
    assert_examined(
        with_keys(&sandbox, &server, &line),
        1,
        &["bad   store writing: ", "answered 503"],
    );
}

#[test]
fn doctor_notes_that_an_index_can_only_be_read() {
    let (sandbox, server) = (Sandbox::new(), ObjectServer::in_memory());
    let built = ended(&mut with_keys(
        &sandbox,
        &server,
        &format!("{RUN} --profile bm25 --db {DB}"),
    ));
    assert_eq!(built.code, Some(0), "{built:?}");
    server
        .fail(|seen| (seen.method != "GET" && seen.method != "HEAD").then_some(Fault::Status(403)));
    assert_examined(
        with_keys(&sandbox, &server, &format!("doctor --db {DB}")),
        0,
        &[
            "note  store writing: ",
            "denied access",
            "a run can search the finished indexes there, but cannot build one",
        ],
    );
}

#[test]
fn doctor_examines_a_database_in_a_folder_and_says_what_it_leaves_out() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("db");
    let expected = format!("ok    database: {}\n", folder.display());
    assert_examined(command(&sandbox, "doctor --db db"), 0, &[&expected]);
    assert!(!folder.exists());
    sandbox.write("a-file", "");
    assert_examined(
        command(&sandbox, "doctor --db a-file/db"),
        1,
        &[
            "bad   database: cannot write to ",
            "\n      name a folder that you can write to with `--db`",
        ],
    );
    assert_examined(
        command(&sandbox, "doctor --set store.region=eu-1"),
        0,
        &["note  store: not checked; `--db` with the address of a database checks it\n"],
    );
}
