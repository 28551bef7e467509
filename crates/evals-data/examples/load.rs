//! Measures how long it takes to read a dataset, and how much memory.
//!
//! ```text
//! cargo run -p evals-data --example load -- beir:scifact
//! ```
//!
//! Documents are read and dropped one by one, as an index does, so that the peak is the reader's own.

#![expect(clippy::print_stdout, reason = "a tool's result belongs on stdout")]

use std::error::Error;
use std::time::Instant;

use evals_data::{Catalog, Collection, Hub, HubSettings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("name a dataset")?;
    let manifest = Catalog::new(["datasets"]).find(&name)?;
    let hub = Hub::new(HubSettings::from_env());

    let start = Instant::now();
    let collection = Collection::resolve(&manifest, &hub, &()).await?;
    let bytes: u64 = collection
        .provenance()
        .files()
        .iter()
        .map(|file| file.size)
        .sum();
    println!("verified   {:>9.1?}  {bytes} bytes", start.elapsed());

    let start = Instant::now();
    let mut documents = collection.documents()?;
    let characters = documents.by_ref().try_fold(0, |sum, document| {
        document.map(|document| sum + document.text.chars().count())
    })?;
    let elapsed = start.elapsed();
    println!(
        "documents  {elapsed:>9.1?}  {characters} characters, {:?}",
        documents.tally().counts()
    );

    let start = Instant::now();
    let counts = collection.questions()?.counts;
    println!("questions  {:>9.1?}  {counts:?}", start.elapsed());
    if let Some(peak) = peak_memory() {
        println!("peak       {peak:>9}");
    }
    Ok(())
}

/// The process's largest resident memory, where the system tells it (Linux).
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
