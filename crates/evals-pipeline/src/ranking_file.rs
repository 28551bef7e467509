//! Files of judgements and rankings, compressed or not, and stdin.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use evals_guard::regular_file;
use flate2::read::MultiGzDecoder;

/// Largest file, in bytes, also after decompression: some fifty million lines.
const LARGEST: u64 = 4_000_000_000;

/// How many times its size a file may grow when it is decompressed. Rankings grow five to twenty times.
const GROWTH: u64 = 200;

/// Up to this size a file may grow in any case.
const SMALL: u64 = 16_000_000;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a path stands for stdin.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Checks that stdin stands for one file at most.
pub fn check_stdin<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    if paths.into_iter().filter(|path| is_stdin(path)).count() > 1 {
        bail!("`-` can stand for one file only; write the others to files");
    }
    Ok(())
}

/// The text of a file, decompressed if its first bytes are those of gzip or zstd.
pub fn read(path: &Path) -> Result<String> {
    let bytes = if is_stdin(path) {
        limited(io::stdin().lock(), LARGEST)
            .context("cannot read stdin")?
            .with_context(|| format!("stdin has more than {} MB", LARGEST / 1_000_000))?
    } else {
        regular_file::read_named_bytes(path, LARGEST)?
    };
    let bytes = decompressed(bytes, path)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let above = String::from_utf8_lossy(&error.as_bytes()[..valid]);
            let line = 1 + above.matches('\n').count();
            bail!(
                "`{}` is not UTF-8 text: line {line} has other bytes; convert it, for example with `iconv -t UTF-8`",
                path.display()
            )
        }
    }
}

fn decompressed(bytes: Vec<u8>, path: &Path) -> Result<Vec<u8>> {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let most = size.saturating_mul(GROWTH).clamp(SMALL, LARGEST);
    let unpacked = if bytes.starts_with(&GZIP) {
        limited(MultiGzDecoder::new(&bytes[..]), most)
    } else if bytes.starts_with(&ZSTD) {
        zstd::Decoder::new(&bytes[..]).and_then(|decoder| limited(decoder, most))
    } else {
        return Ok(bytes);
    };
    unpacked
        .with_context(|| format!("cannot decompress `{}`", path.display()))?
        .with_context(|| {
            format!(
                "`{}` grows to more than {} MB when it is decompressed; decompress it yourself if you trust it",
                path.display(),
                most / 1_000_000
            )
        })
}

/// Everything that can be read, or `None` if it is more than `most` bytes.
fn limited(reader: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|size| size <= most);
    Ok(fits.then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_bytes(bytes: &[u8]) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        std::fs::write(&path, bytes).unwrap();
        read(&path)
    }

    #[test]
    fn compressed_files_are_found_by_their_first_bytes() {
        let text = "q Q0 d 1 1 t\n".repeat(1000);
        let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
        let twice = [gzip(&text.as_bytes()[..130]), gzip(&text.as_bytes()[130..])].concat();
        for bytes in [text.as_bytes(), &gzip(text.as_bytes()), &zstd, &twice] {
            assert_eq!(read_bytes(bytes).unwrap(), text);
        }
    }

    #[test]
    fn a_file_that_grows_without_measure_is_refused() {
        let bomb = zstd::encode_all(&vec![b' '; 40_000_000][..], 3).unwrap();
        assert!(bomb.len() < 40_000);
        let error = read_bytes(&bomb).unwrap_err().to_string();
        assert!(error.contains("grows to more than 16 MB"), "{error}");
    }

    #[test]
    fn a_torn_file_is_an_error() {
        let packed = gzip("q Q0 d 1 1 t\n".repeat(1000).as_bytes());
        let error = read_bytes(&packed[..packed.len() / 2])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("cannot decompress"), "{error}");
        let error = read_bytes(b"a\nb\n\xff\n").unwrap_err().to_string();
        assert!(error.contains("line 3 has other bytes"), "{error}");
    }
}
