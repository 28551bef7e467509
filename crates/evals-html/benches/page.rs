//! How long it takes to write a page of 5,000 cases, and how large it becomes.

use std::io;

use divan::Bencher;
use divan::counter::BytesCount;
use evals_html::figure::Width;
use evals_html::page::Page;

#[expect(dead_code, reason = "the tests draw empty figures too")]
#[path = "../tests/it/samples.rs"]
mod samples;
#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use synthetic::Synthetic;

fn main() {
    divan::main();
}

/// Questions with answers and five passages each. The count of bytes is the size of the file.
#[divan::bench(args = [false, true], sample_count = 10)]
fn write_5000_cases(bencher: Bencher<'_, '_>, is_change: bool) {
    let made = Synthetic {
        is_change,
        ..Synthetic::full()
    };
    let (opening, table) = (made.opening(samples::all(Width::Screen)), made.table());
    let cases: Vec<_> = made.cases().collect();
    let page = Page::new(&opening, &table);
    let written = page.write(cases.iter().cloned(), io::sink());
    let bytes = written.expect("a sink takes everything").bytes;
    bencher
        .counter(BytesCount::new(bytes))
        .with_inputs(|| cases.clone())
        .bench_values(|cases| page.write(cases, io::sink()));
}
