//! Writes a page of made-up cases: `cargo run -p evals-html --example page -- FILE [CASES] [--change] [--without-texts] [--long-word]`.
//!
//! The cases hold texts that are hard to show. `--long-word` adds a word of a megabyte.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use evals_html::figure::Width;
use evals_html::page::{Page, Sides, Texts};

#[expect(dead_code, reason = "the tests draw empty figures too")]
#[path = "../tests/it/samples.rs"]
mod samples;
#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use synthetic::Synthetic;

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, values): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|it| it.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|it| it == flag);
    let file = PathBuf::from(values.first().ok_or("name a file")?);
    let mut made = Synthetic {
        is_change: has("--change"),
        long_word: if has("--long-word") { 1_000_000 } else { 0 },
        ..Synthetic::full()
    };
    if let Some(cases) = values.get(1) {
        made.cases = cases.parse()?;
    }
    let opening = made.opening(samples::all(Width::Screen));
    let table = made.table();
    let page = Page {
        texts: if has("--without-texts") {
            Texts::Omitted
        } else {
            Texts::Kept
        },
        sides: made.is_change.then(|| Sides {
            before: "20261121T120000Z-synthetic".to_owned(),
            after: "20261122T120000Z-synthetic".to_owned(),
        }),
        ..Page::new(&opening, &table)
    };
    let cases: Vec<_> = made.cases().collect();
    let start = Instant::now();
    let written = page.write(cases, BufWriter::new(File::create(&file)?))?;
    writeln!(
        io::stderr(),
        "{}: {} bytes in {:.2} s",
        file.display(),
        written.bytes,
        start.elapsed().as_secs_f64()
    )?;
    Ok(())
}
