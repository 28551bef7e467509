//! Writes a drawing as PNG, for documents that take no SVG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};
use thiserror::Error;

use super::{Scene, SvgUse};

/// Dots per inch.
const RESOLUTION: f32 = 300.0;
/// The same per metre.
const PER_METRE: u32 = 11_811;
/// Where the header of a PNG ends: eight bytes of signature, and a chunk of 25 bytes.
const HEADER: usize = 33;

/// The fonts of every PNG. No other font is used, so that a drawing is the same on every machine.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    let regular: &[u8] = include_bytes!("../../fonts/LiberationSans-Regular.ttf");
    let bold: &[u8] = include_bytes!("../../fonts/LiberationSans-Bold.ttf");
    for font in [regular, bold] {
        fonts.load_font_source(Source::Binary(Arc::new(font)));
    }
    Arc::new(fonts)
});

/// Why a drawing has no PNG.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PngError {
    /// The drawing is not SVG that can be rendered.
    #[error("cannot render the drawing")]
    Unreadable(#[from] resvg::usvg::Error),
    /// The drawing has no area, or too many pixels.
    #[error("cannot draw {width} × {height} pixels")]
    Size {
        /// Columns of pixels.
        width: u32,
        /// Rows of pixels.
        height: u32,
    },
    /// The pixels cannot be written.
    #[error("cannot write the drawing: {0}")]
    Encoding(String),
}

impl Scene {
    /// Writes the drawing as PNG with 300 dots per inch, in the colours of a light page, with its caption. Equal drawings give equal
    /// bytes on every machine.
    ///
    /// The text is set in Liberation Sans, which has the Latin, Greek and Cyrillic letters. Characters that it lacks, such as Chinese ones,
    /// become empty boxes.
    ///
    /// # Errors
    ///
    /// The drawing is too large for memory.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        let options = Options {
            dpi: RESOLUTION,
            font_family: "Liberation Sans".to_owned(),
            fontdb: Arc::clone(&FONTS),
            ..Options::default()
        };
        let tree = Tree::from_str(&self.svg(SvgUse::File), &options)?;
        let size = tree.size().to_int_size();
        let (width, height) = (size.width(), size.height());
        let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
        // The page covers the last row and the last column of pixels only in part.
        pixels.fill(Color::WHITE);
        resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
        let encoded = pixels.encode_png();
        let encoded = encoded.map_err(|error| PngError::Encoding(error.to_string()))?;
        Ok(with_resolution(&encoded))
    }
}

/// Adds the chunk that states the resolution, behind the header.
fn with_resolution(png: &[u8]) -> Vec<u8> {
    const METRES: u8 = 1;
    let mut chunk = b"pHYs".to_vec();
    chunk.extend(PER_METRE.to_be_bytes());
    chunk.extend(PER_METRE.to_be_bytes());
    chunk.push(METRES);
    let (header, rest) = png.split_at(HEADER);
    let mut written = header.to_vec();
    written.extend(9_u32.to_be_bytes());
    written.extend(&chunk);
    written.extend(crc32fast::hash(&chunk).to_be_bytes());
    written.extend(rest);
    written
}
