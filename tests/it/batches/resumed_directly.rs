//! Runs without `--batch` after runs that left a batch at the server.

use super::{QUICK, looks, records, right, run, start, towers};
use crate::qa_server;
use crate::sandbox::{Sandbox, json, wait_for};
use crate::scripted_server::batches::BatchServer;

/// A judge in this process, so that only answers are asked for.
const OFFLINE_JUDGE: &str = "--judge embedded:overlap";

/// Kills a run while its batch of five answers is at the server. The first answer was sent directly.
fn leave_batch(server: &BatchServer, sandbox: &Sandbox) {
    server.hold(true);
    let line = format!("{OFFLINE_JUDGE} {QUICK}");
    let mut child = start(&mut qa_server::command(sandbox, &line));
    wait_for("a batch", || looks(server) > 1);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((server.sizes(), server.direct()), (vec![5], 1));
}

#[test]
fn a_run_without_batches_collects_the_replies_of_a_batch_that_has_ended() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    leave_batch(&server, &sandbox);
    server.hold(false);
    let finished = run(&sandbox, &format!("{OFFLINE_JUDGE} --out report.json"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let expected = "batch `batch-0` of `openai:answerer`: completed, 5 replies";
    assert!(finished.stderr.contains(expected), "{}", finished.stderr);
    assert_eq!((server.sizes(), server.direct()), (vec![5], 1));
    assert_eq!(records(&sandbox), 0, "every reply is in the cache");
    let report = json(&sandbox.work().join("report.json"));
    assert_eq!(report["cases"].as_array().unwrap().len(), 6);
    // 6 calls of 25 and 7 tokens at the full price, as docs/batch.md says.
    let cost = report["metadata"]["costs"]["total"].as_f64().unwrap();
    assert!((cost - 6.0 * 39e-6).abs() < 1e-12, "{cost}");
}

#[test]
fn a_run_without_batches_stops_while_a_batch_with_its_requests_has_not_ended() {
    let server = BatchServer::start(right());
    let sandbox = towers(&server, 6);
    leave_batch(&server, &sandbox);
    let stopped = run(&sandbox, OFFLINE_JUDGE);
    assert_eq!(stopped.code, Some(2), "{}", stopped.stderr);
    for part in [
        "the batch `batch-0` at `http://",
        "is still `in_progress`",
        "5 replies of it are not on this machine yet",
        "run the same command with `--batch`",
        "`POST /batches/batch-0/cancel`",
    ] {
        assert!(stopped.stderr.contains(part), "{part}: {}", stopped.stderr);
    }
    assert_eq!(server.direct(), 1);
    // Without the cache, the run pays for every request, as the option says.
    let uncached = run(&sandbox, &format!("{OFFLINE_JUDGE} --no-cache --fresh"));
    assert_eq!(uncached.code, Some(0), "{}", uncached.stderr);
    assert_eq!((server.direct(), records(&sandbox)), (1 + 6, 1));
    server.hold(false);
    let finished = run(&sandbox, &format!("{OFFLINE_JUDGE} {QUICK} --fresh"));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!((server.sizes(), server.direct()), (vec![5], 1 + 6));
    assert_eq!(records(&sandbox), 0);
}
