//! Tensors read one at a time from safetensors files, so that no more than one is in memory besides what the model keeps.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use half::f16;
use serde::Deserialize;

use super::error::{LocalError, WeightsError};
use super::folder::Folder;

/// Longest header that is believed; the largest of known models have some hundred kilobytes.
const MAX_HEADER: u64 = 100_000_000;

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

#[derive(Debug, Deserialize)]
struct ShardIndex {
    weight_map: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Shard {
    path: PathBuf,
    file: Mutex<File>,
    data_start: u64,
    entries: BTreeMap<String, Entry>,
}

/// The named tensors of one model, in one file or in several shards.
#[derive(Debug)]
pub(super) struct Weights {
    shards: Vec<Shard>,
    prefix: &'static str,
}

impl Weights {
    /// Reads the headers of the folder's weights, and no tensor yet.
    pub(super) fn open(folder: &Folder) -> Result<Self, LocalError> {
        let paths = Self::files(folder)?;
        let shards = paths
            .into_iter()
            .map(Shard::open)
            .collect::<Result<_, _>>()?;
        Ok(Self { shards, prefix: "" })
    }

    /// The files that hold the folder's weights, in the order of their names.
    pub(super) fn files(folder: &Folder) -> Result<Vec<PathBuf>, LocalError> {
        let single = folder.path("model.safetensors");
        if single.is_file() {
            return Ok(vec![single]);
        }
        if let Some(index) = folder.json::<ShardIndex>("model.safetensors.index.json")? {
            let mut names: Vec<_> = index.weight_map.into_values().collect();
            names.sort();
            names.dedup();
            return Ok(names.iter().map(|name| folder.path(name)).collect());
        }
        let pickle = folder.path("pytorch_model.bin");
        if pickle.is_file() {
            return Err(LocalError::Pickle { path: pickle });
        }
        Err(folder.missing("model.safetensors"))
    }

    /// Looks names up behind the first of `prefixes` under which `name` exists. Checkpoints with a head put the encoder
    /// under its own name, those without do not.
    pub(super) fn below(mut self, prefixes: &[&'static str], name: &str) -> Self {
        let found = prefixes
            .iter()
            .find(|prefix| self.find(&format!("{prefix}{name}")).is_some());
        self.prefix = found.copied().unwrap_or("");
        self
    }

    /// The same tensors by their full names.
    pub(super) fn root(self) -> Self {
        Self { prefix: "", ..self }
    }

    /// Whether there is a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(&self.full(name)).is_some()
    }

    /// The shape of a tensor.
    pub(super) fn shape(&self, name: &str) -> Result<&[usize], LocalError> {
        self.entry(name).map(|(_, entry)| entry.shape.as_slice())
    }

    /// The tensor's values in row-major order, as 32-bit floats. Its shape has to be `expected`.
    pub(super) fn tensor(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>, LocalError> {
        let (shard, entry) = self.entry(name)?;
        if entry.shape != expected {
            return Err(shard.error(WeightsError::Shape {
                name: self.full(name),
                found: entry.shape.clone(),
                expected: expected.to_vec(),
            }));
        }
        let values = shard.values(&self.full(name), entry)?;
        if !values.iter().all(|value| value.is_finite()) {
            return Err(shard.error(WeightsError::NotFinite(self.full(name))));
        }
        Ok(values)
    }

    fn entry(&self, name: &str) -> Result<(&Shard, &Entry), LocalError> {
        let full = self.full(name);
        self.find(&full)
            .ok_or_else(|| self.shards[0].error(WeightsError::Missing(full)))
    }

    fn find(&self, full: &str) -> Option<(&Shard, &Entry)> {
        self.shards
            .iter()
            .find_map(|shard| shard.entries.get(full).map(|entry| (shard, entry)))
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Shard {
    fn open(path: PathBuf) -> Result<Self, LocalError> {
        let read = |source| LocalError::Read {
            path: path.clone(),
            source,
        };
        let mut file = File::open(&path).map_err(read)?;
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(read)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER {
            return Err(damaged(&path, format!("it claims {length} bytes")));
        }
        let mut header = Vec::new();
        (&file)
            .take(length)
            .read_to_end(&mut header)
            .map_err(read)?;
        let mut entries: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(&header).map_err(|error| damaged(&path, error.to_string()))?;
        entries.remove("__metadata__");
        let entries = entries
            .into_iter()
            .map(|(name, entry)| Ok((name, serde_json::from_value(entry)?)))
            .collect::<Result<_, serde_json::Error>>()
            .map_err(|error| damaged(&path, error.to_string()))?;
        Ok(Self {
            path,
            file: Mutex::new(file),
            data_start: 8 + length,
            entries,
        })
    }

    fn error(&self, source: WeightsError) -> LocalError {
        LocalError::Weights {
            path: self.path.clone(),
            source,
        }
    }

    fn values(&self, name: &str, entry: &Entry) -> Result<Vec<f32>, LocalError> {
        let width = match entry.dtype.as_str() {
            "F32" => 4,
            "F16" | "BF16" => 2,
            _ => {
                return Err(self.error(WeightsError::Dtype {
                    name: name.to_owned(),
                    dtype: entry.dtype.clone(),
                }));
            }
        };
        let (start, end) = entry.data_offsets;
        let count = entry.shape.iter().product::<usize>() as u64;
        if end.checked_sub(start) != Some(count * width) {
            return Err(self.error(WeightsError::Header(format!(
                "`{name}` lies at {start}..{end}, which is not its size"
            ))));
        }
        let bytes = self.bytes(start, end - start)?;
        Ok(match entry.dtype.as_str() {
            "F32" => of_width::<4>(&bytes, f32::from_le_bytes),
            "F16" => of_width::<2>(&bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
            _ => of_width::<2>(&bytes, |bytes| half::bf16::from_le_bytes(bytes).to_f32()),
        })
    }

    fn bytes(&self, start: u64, length: u64) -> Result<Vec<u8>, LocalError> {
        let read = |source| LocalError::Read {
            path: self.path.clone(),
            source,
        };
        let file = self
            .file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut file = &*file;
        file.seek(SeekFrom::Start(self.data_start + start))
            .map_err(read)?;
        let mut bytes = Vec::new();
        let found = file.take(length).read_to_end(&mut bytes).map_err(read)?;
        if found as u64 != length {
            return Err(self.error(WeightsError::Header("the file is too short".to_owned())));
        }
        Ok(bytes)
    }
}

fn of_width<const WIDTH: usize>(bytes: &[u8], read: impl Fn([u8; WIDTH]) -> f32) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<WIDTH>();
    values.iter().map(|value| read(*value)).collect()
}

fn damaged(path: &Path, what: String) -> LocalError {
    LocalError::Weights {
        path: path.to_owned(),
        source: WeightsError::Header(what),
    }
}
