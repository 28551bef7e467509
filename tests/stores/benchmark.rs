//! Measures indexes in object stores and in a folder of this machine.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::sandbox::{ended, json};
use crate::servers;
use crate::store_scenarios::Place;

const DOCUMENTS: usize = 5_000;
const QUESTIONS: usize = 100;
/// Processes that search once, to measure the first search.
const PROCESSES: usize = 20;

/// Writes a dataset whose words follow Zipf's law.
fn write_dataset(folder: &Path) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut word = move || {
        // The rank of a word is distributed as one over the rank, up to e^10.
        #[expect(clippy::cast_precision_loss, reason = "a share of a range")]
        let share = (random() >> 11) as f64 / (1_u64 << 53) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank below 22,027"
        )]
        let rank = (share * 10.0).exp() as u32;
        format!("w{rank}")
    };
    let mut words = |count: usize| (0..count).map(|_| word()).collect::<Vec<_>>().join(" ");
    let mut documents = "id,text\n".to_owned();
    for number in 0..DOCUMENTS {
        writeln!(documents, "d{number},{}", words(100)).unwrap();
    }
    let mut questions = "question,relevant\n".to_owned();
    for number in 0..QUESTIONS {
        writeln!(questions, "{},d{number}", words(8)).unwrap();
    }
    fs::write(folder.join("documents.csv"), documents).unwrap();
    fs::write(folder.join("questions.csv"), questions).unwrap();
    let manifest = "name: measured\ndocuments: {source: {path: documents.csv}, uri: id, text: text}\n\
                    questions: {source: {path: questions.csv}, text: question, relevant: relevant}\n";
    fs::write(folder.join("measured.yaml"), manifest).unwrap();
}

/// The times of the searches of the newest run in milliseconds, in their order.
fn searches(place: &Place, profile: &str) -> Vec<f64> {
    let report = json(&place.sandbox.runs().pop().unwrap().join("report.json"));
    let cases = report["cases"].as_array().unwrap();
    let stages = cases
        .iter()
        .flat_map(|case| case["timings"].as_array().unwrap())
        .filter(|timing| timing["stage"] == profile);
    stages
        .map(|timing| timing["seconds"].as_f64().unwrap() * 1_000.0)
        .collect()
}

/// Documents that the newest run indexed in a second.
fn documents_per_second(place: &Place) -> f64 {
    let build = &place.manifest()["index"]["build"];
    let part = |name: &str| build["wall"][name].as_f64().unwrap();
    build["documents"].as_f64().unwrap() / (part("secs") + part("nanos") / 1e9)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a short list"
)]
fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(share * (sorted.len() - 1) as f64).round() as usize]
}

/// Runs the benchmark on `db`, and returns a line of the table for each profile.
#[expect(clippy::cast_precision_loss, reason = "some hundred requests")]
fn measure(name: &str, place: &Place, db: &str) -> Vec<String> {
    let run = |line: &str| {
        let before = place.server.requests().len();
        let line = format!(
            "measured.yaml --skip-qa --no-progress --fresh --concurrency 1 --set search.latency_sample={QUESTIONS} --db {db} {line}"
        );
        let ended = ended(&mut place.command(&line));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        place.server.requests().len() - before
    };
    run("--profile semantic --limit 1");
    let rate = documents_per_second(place);
    let lines = ["bm25", "semantic"].map(|profile| {
        let (mut openings, mut cold) = (Vec::new(), Vec::new());
        for _ in 0..PROCESSES {
            openings.push(run(&format!("--profile {profile} --limit 1")));
            cold.extend(searches(place, profile));
        }
        openings.sort_unstable();
        let opening = openings[PROCESSES / 2];
        let requests = run(&format!("--profile {profile}"));
        let warm = searches(place, profile).split_off(1);
        assert_eq!((cold.len(), warm.len()), (PROCESSES, QUESTIONS - 1));
        let times = [(&cold, 0.5), (&cold, 0.95), (&warm, 0.5), (&warm, 0.95)];
        let times = times.map(|(times, share)| format!("{:.1} ms", percentile(times, share)));
        // Connections differ by a request.
        let further = requests.saturating_sub(opening);
        let of_one = further as f64 / (QUESTIONS - 1) as f64;
        format!(
            "| {name} | {rate:.0} | {profile} | {} | {opening} | {of_one:.1} |",
            times.join(" | ")
        )
    });
    lines.into()
}

#[test]
#[ignore = "needs the servers of `make test-stores`"]
fn stores_beside_a_folder() {
    println!(
        "| store | documents/s | profile | cold p50 | cold p95 | warm p50 | warm p95 | requests, first question | requests, each further question |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, place) in [("S3", servers::s3()), ("Azure", servers::azure())] {
        write_dataset(&place.sandbox.work());
        let folder = measure("folder", &place, "here");
        let store = measure(name, &place, &place.db);
        for line in folder.into_iter().chain(store) {
            println!("{line}");
        }
    }
}
