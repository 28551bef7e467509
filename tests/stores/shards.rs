//! Shards of one benchmark over one index in an object store.

use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::object_server::Fault;
use crate::sandbox::{ended, json, wait_for};
use crate::store_scenarios::Place;
use crate::untimed_report::report;

const LINE: &str = "sample --profile semantic --no-progress --set search.latency_sample=320";
const SHARDS: usize = 4;

/// Runs a command, which must succeed.
fn succeed(place: &Place, line: &str) {
    let ended = ended(&mut place.command(line));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// Four processes share an index. One is killed while it searches, and resumed. The merged runs are those of one machine.
pub(crate) fn shards_over_one_index_merge_to_one_machine(place: &Place) {
    let line = format!("{LINE} --db {}", place.db);
    succeed(place, &format!("{line} --skip-retrieval --skip-qa"));

    // Searches wait until the second shard is killed.
    let is_searching = Arc::new(AtomicBool::new(false));
    let notice = is_searching.clone();
    place.server.fail(move |seen| {
        let is_data = seen.method == "GET" && seen.path.contains("/data/");
        if is_data {
            notice.store(true, Ordering::SeqCst);
        }
        is_data.then_some(Fault::Delay(Duration::from_millis(200)))
    });
    let mut children: Vec<Child> = (1..=SHARDS)
        .map(|shard| {
            let mut command = place.command(&format!("{line} --shard {shard}/{SHARDS}"));
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    wait_for("a search", || is_searching.load(Ordering::SeqCst));
    children[1].kill().unwrap();
    for (number, child) in children.iter_mut().enumerate() {
        let status = child.wait().unwrap();
        assert_eq!(status.success(), number != 1, "shard {}", number + 1);
    }
    place.server.recover();
    let early = place.command("merge").output().unwrap();
    assert!(!early.status.success(), "a shard is not finished");
    succeed(place, &format!("{line} --shard 2/{SHARDS}"));
    let before = place.sandbox.runs();
    succeed(place, "merge");
    let merged = place.sandbox.runs().split_off(before.len());
    assert_eq!(merged.len(), 2, "retrieval and answers");
    let built = before
        .iter()
        .filter(|run| json(&run.join("manifest.json"))["index"]["build"].is_object());
    assert_eq!(built.count(), 0, "the shards found the index");

    succeed(place, &format!("{line} --fresh"));
    let whole = place.sandbox.runs().split_off(before.len() + merged.len());
    assert_eq!(whole.len(), merged.len());
    for (one, merged) in whole.iter().zip(&merged) {
        assert_eq!(report(one), report(merged));
        if one.join("run.trec").exists() {
            for file in ["run.trec", "qrels.trec"] {
                let [one, merged] = [one, merged].map(|run| fs::read(run.join(file)).unwrap());
                assert!(one == merged, "{file} differs");
            }
        }
    }
}
