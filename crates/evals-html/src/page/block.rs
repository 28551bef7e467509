//! A part of the data: JSON, compressed, as Base64 in an element of its own.

use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

use super::PageError;

/// Fixed, because it decides about the bytes of the file.
const LEVEL: u32 = 6;

/// Writes a value into an element with this id. Base64 has no `<`, so no text can end the element.
pub(super) fn write(
    id: &str,
    value: &impl Serialize,
    out: &mut impl Write,
) -> Result<(), PageError> {
    write!(out, r#"<script type="text/plain" id="{id}">"#)?;
    let json = serde_json::to_vec(value)?;
    let encoder = EncoderWriter::new(&mut *out, &STANDARD);
    let mut deflate = DeflateEncoder::new(encoder, Compression::new(LEVEL));
    deflate.write_all(&json)?;
    finish(deflate)?;
    out.write_all(b"</script>\n")?;
    Ok(())
}

fn finish<W: Write>(
    deflate: DeflateEncoder<EncoderWriter<'_, base64::engine::GeneralPurpose, W>>,
) -> io::Result<()> {
    let mut encoder = deflate.finish()?;
    encoder.finish()?;
    Ok(())
}
