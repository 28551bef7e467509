//! Writes one figure of each kind into a folder: `cargo run -p evals-html --example gallery -- FOLDER`.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use evals_html::figure::Width;
use evals_html::scene::SvgUse;

#[path = "../tests/it/samples.rs"]
mod samples;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::args().nth(1).ok_or("name a folder")?);
    fs::create_dir_all(&folder)?;
    for (width, suffix) in [(Width::Page, "page"), (Width::Column, "column")] {
        let full = samples::all(width).into_iter().map(|it| (suffix, it));
        let empty = samples::empty(width).into_iter().map(|it| ("empty", it));
        for (suffix, (name, scene)) in full.chain(empty) {
            let file = folder.join(format!("{name}-{suffix}.svg"));
            fs::write(&file, scene.svg(SvgUse::File))?;
            #[cfg(feature = "png")]
            fs::write(file.with_extension("png"), scene.png()?)?;
        }
    }
    Ok(())
}
