//! The folder of `--figures`: one SVG file for each figure, and one PNG file beside it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use evals_html::page::PageFigure;
use evals_html::scene::SvgUse;
use evals_messages::quantity;
use evals_runs::atomic_file::write_atomically;

/// A folder for figures.
#[derive(Debug)]
pub struct FigureFolder {
    path: PathBuf,
}

impl FigureFolder {
    /// Makes the folder where it is missing, so that a command fails before it does any work.
    pub fn create(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).with_context(|| {
            format!(
                "cannot create the folder `{}` of `--figures`",
                path.display()
            )
        })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Writes the figures, and returns a note that names them. Equal figures give equal files.
    pub fn write(&self, figures: &[PageFigure]) -> Result<String> {
        if figures.is_empty() {
            return Ok("there is nothing to draw: no figure was written".to_owned());
        }
        let mut names: Vec<String> = Vec::new();
        for figure in figures {
            // Datasets whose names differ in their signs alone have one name here.
            let numbered = (2..).map(|number| format!("{}-{number}", figure.name));
            let mut candidates = std::iter::once(figure.name.clone()).chain(numbered);
            let Some(name) = candidates.find(|name| !names.contains(name)) else {
                continue;
            };
            let svg = self.path.join(format!("{name}.svg"));
            names.push(name);
            write_svg(&svg, figure)?;
            #[cfg(feature = "png")]
            write_png(&svg.with_extension("png"), figure)?;
        }
        Ok(format!(
            "wrote {} to `{}`: {}",
            quantity::of(figures.len(), "figure"),
            self.path.display(),
            names.join(", ")
        ))
    }
}

/// Writes one figure as SVG.
pub(crate) fn write_svg(path: &Path, figure: &PageFigure) -> Result<()> {
    let svg = figure.scene.svg(SvgUse::File);
    write_atomically(path, |file| file.write_all(svg.as_bytes()))
}

#[cfg(feature = "png")]
fn write_png(path: &Path, figure: &PageFigure) -> Result<()> {
    let png = figure.scene.png();
    let png = png.with_context(|| format!("cannot write `{}`", path.display()))?;
    write_atomically(path, |file| file.write_all(&png))
}
