//! Fuzz tests of damaged journals and reports: reading gives written cases or an error.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use evals::render::{self, Console};
use evals::{CaseId, CaseReport, FileJournal, Journal as _, JournalTail, Report};
use evals_fuzz::Target;
use evals_metrics::Bootstrap;
use serde_json::{Value, json};

use crate::fakes::{Words, failed, finished, report, score, timing, undefined};
use crate::scratch::Scratch;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

fn as_json(case: &CaseReport<Words>) -> Value {
    serde_json::to_value(case).unwrap()
}

#[test]
fn a_damaged_journal_returns_only_written_cases() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let identity = json!({"seed": 7});
    let written: Vec<_> = ["a", "b", "c"]
        .map(|id| finished(id, vec![score("RR@5", 0.5)]))
        .into();
    let (journal, _) = FileJournal::open::<Words>(&path, &identity).unwrap();
    for case in &written {
        futures::executor::block_on(journal.append(case)).unwrap();
    }
    drop(journal);
    let whole = fs::read(&path).unwrap();
    let written: Vec<_> = written.iter().map(as_json).collect();
    Target::new("journal", CORPUS)
        .seed(whole)
        .dictionary([
            "\n",
            "\r\n",
            "\0",
            "{\"crc32\":\"",
            "\"version\":2",
            "{\"crc32\":\"00000000\"}\n",
        ])
        .run(|input| {
            fs::write(&path, input).unwrap();
            let Ok((journal, cases)) = FileJournal::open::<Words>(&path, &identity) else {
                return;
            };
            for case in &cases {
                assert!(written.contains(&as_json(case)), "{case:?}");
            }
            assert!(journal.elapsed() < Duration::from_mins(1));
            let ids = cases.iter().map(|case| (case.id.clone(), case.repeat));
            let ids: BTreeSet<_> = ids.collect();
            fs::write(&path, input).unwrap();
            assert_eq!(tailed(&mut JournalTail::new(&path)), ids);

            let mut tail = JournalTail::new(&path);
            fs::write(&path, &input[..input.len() / 2]).unwrap();
            let _ = tail.read::<Words>();
            fs::write(&path, input).unwrap();
            for new in tail.read::<Words>().into_iter().flat_map(|read| read.cases) {
                assert!(written.contains(&as_json(&new.case)), "{new:?}");
            }
        });
}

fn tailed(tail: &mut JournalTail) -> BTreeSet<(CaseId, u32)> {
    let cases = tail.read::<Words>().unwrap().cases.into_iter();
    cases.map(|it| (it.case.id, it.case.repeat)).collect()
}

#[test]
fn any_bytes_are_refused_or_rendered_as_a_report() {
    let mut first = finished(
        "a",
        vec![
            score("RR@5", 0.5),
            undefined("R@5", "no relevant documents"),
        ],
    );
    first.timings = vec![timing("embed", 1_600, false)];
    let stored = report(vec![first, failed("b", "connection refused")]);
    let few = Bootstrap {
        resamples: std::num::NonZeroU32::MIN,
        ..Bootstrap::default()
    };
    Target::new("report", CORPUS)
        .seed(serde_json::to_vec(&stored).unwrap())
        .dictionary([
            "null",
            "1e999",
            "-0.0",
            "[",
            "{\"a\":",
            "\"\\ud800\"",
            "99999999999999999999",
            "\\u001b[31m",
            "1e308",
        ])
        .run(|input| {
            let Ok(report) = serde_json::from_slice::<Report<Words>>(input) else {
                return;
            };
            let summary = report.summary(&few);
            let mut json = Vec::new();
            render::json::report(&mut json, &report, &summary).unwrap();
            let read: Report<Words> = serde_json::from_slice(&json).unwrap();
            assert_eq!(
                serde_json::to_value(read).unwrap(),
                serde_json::to_value(&report).unwrap()
            );
            let mut page = Vec::new();
            Console::default()
                .report(&mut page, &report, &summary)
                .unwrap();
            assert!(
                !page.contains(&0x1b),
                "an escape sequence reaches the terminal"
            );
        });
}
