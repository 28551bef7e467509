//! The weights of a model. Tensors are read one at a time, so that memory holds no more than one besides those that the model keeps.
//!
//! Each format has a file that locates the tensors; reading them is the same for all formats.

mod file;
#[cfg(test)]
mod fuzz;
mod located;
mod pytorch;
mod safetensors;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{LocalError, WeightsError};
use crate::folder::Folder;
use file::TensorFile;
use located::Located;

/// The formats of files of weights, the preferred one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WeightsFormat {
    Safetensors,
    PyTorch,
}

impl WeightsFormat {
    const ALL: [Self; 2] = [Self::Safetensors, Self::PyTorch];

    /// The file that holds all weights, unless they are in shards.
    fn single(self) -> &'static str {
        match self {
            Self::Safetensors => "model.safetensors",
            Self::PyTorch => "pytorch_model.bin",
        }
    }

    /// The files of this format in a folder, sorted by name. There may be none.
    fn files(self, folder: &Folder) -> Result<Vec<PathBuf>, LocalError> {
        let single = folder.path(self.single());
        if single.is_file() {
            return Ok(vec![single]);
        }
        // It states which shard holds which tensor.
        let file = format!("{}.index.json", self.single());
        let index: Option<ShardIndex> = folder.json(&file)?;
        let mut names: Vec<_> = index.unwrap_or_default().weight_map.into_values().collect();
        names.sort();
        names.dedup();
        let own = |name: &String| folder.own_path(&file, "weight_map", name);
        names.iter().map(own).collect()
    }

    fn locate(self, file: &TensorFile) -> Result<BTreeMap<String, Located>, LocalError> {
        match self {
            Self::Safetensors => safetensors::locate(file),
            Self::PyTorch => pytorch::locate(file),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
struct ShardIndex {
    weight_map: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Shard {
    file: TensorFile,
    tensors: BTreeMap<String, Located>,
}

/// The named tensors of one model, in one file or in several shards.
#[derive(Debug)]
pub(crate) struct Weights {
    shards: Vec<Shard>,
    prefix: &'static str,
}

impl Weights {
    /// Locates the tensors of a folder without reading them.
    pub(crate) fn open(folder: &Folder) -> Result<Self, LocalError> {
        let (format, paths) = Self::found(folder)?;
        let shards = paths
            .into_iter()
            .map(|path| Shard::open(path, format))
            .collect::<Result<_, _>>()?;
        Ok(Self { shards, prefix: "" })
    }

    /// The files that hold the weights of a folder, sorted by name.
    pub(crate) fn files(folder: &Folder) -> Result<Vec<PathBuf>, LocalError> {
        Ok(Self::found(folder)?.1)
    }

    fn found(folder: &Folder) -> Result<(WeightsFormat, Vec<PathBuf>), LocalError> {
        for format in WeightsFormat::ALL {
            let files = format.files(folder)?;
            if !files.is_empty() {
                return Ok((format, files));
            }
        }
        Err(folder.refused(
            "has no weights: neither `model.safetensors` nor `pytorch_model.bin`, nor the shards of either",
        ))
    }

    /// Puts the first of `prefixes` under which `name` exists before all names. Checkpoints with a head have a prefix for the encoder,
    /// others do not.
    pub(crate) fn below(mut self, prefixes: &[&'static str], name: &str) -> Self {
        let found = prefixes
            .iter()
            .find(|prefix| self.find(&format!("{prefix}{name}")).is_some());
        self.prefix = found.copied().unwrap_or("");
        self
    }

    /// The same tensors without a prefix.
    pub(crate) fn root(self) -> Self {
        Self { prefix: "", ..self }
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(&self.full(name)).is_some()
    }

    /// The shape of a tensor.
    pub(crate) fn shape(&self, name: &str) -> Result<&[usize], LocalError> {
        self.located(name)
            .map(|(_, tensor)| tensor.shape.as_slice())
    }

    /// The values of a tensor in row-major order, as 32-bit floats. Its shape must be `expected`.
    pub(crate) fn tensor(&self, name: &str, expected: &[usize]) -> Result<Vec<f32>, LocalError> {
        let (shard, tensor) = self.shaped(name, expected)?;
        self.values(name, shard, tensor)
    }

    /// One row of a matrix of the shape `expected`. Only this row is read.
    pub(crate) fn row(
        &self,
        name: &str,
        expected: [usize; 2],
        index: usize,
    ) -> Result<Vec<f32>, LocalError> {
        let (shard, tensor) = self.shaped(name, &expected)?;
        let truncated = || shard.file.error(WeightsError::Truncated(self.full(name)));
        let row = tensor.row(index).ok_or_else(truncated)?;
        self.values(name, shard, &row)
    }

    fn shaped(&self, name: &str, expected: &[usize]) -> Result<(&Shard, &Located), LocalError> {
        let (shard, tensor) = self.located(name)?;
        if tensor.shape == expected {
            return Ok((shard, tensor));
        }
        Err(shard.file.error(WeightsError::Shape {
            name: self.full(name),
            found: tensor.shape.clone(),
            expected: expected.to_vec(),
        }))
    }

    fn values(&self, name: &str, shard: &Shard, tensor: &Located) -> Result<Vec<f32>, LocalError> {
        let values = tensor.read(&self.full(name), &shard.file)?;
        if !values.iter().all(|value| value.is_finite()) {
            let error = WeightsError::NotFinite(self.full(name));
            return Err(shard.file.error(error));
        }
        Ok(values)
    }

    fn located(&self, name: &str) -> Result<(&Shard, &Located), LocalError> {
        let full = self.full(name);
        self.find(&full)
            .ok_or_else(|| self.shards[0].file.error(WeightsError::Missing(full)))
    }

    fn find(&self, full: &str) -> Option<(&Shard, &Located)> {
        self.shards
            .iter()
            .find_map(|shard| shard.tensors.get(full).map(|tensor| (shard, tensor)))
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl Shard {
    fn open(path: PathBuf, format: WeightsFormat) -> Result<Self, LocalError> {
        let file = TensorFile::open(path)?;
        let tensors = format.locate(&file)?;
        Ok(Self { file, tensors })
    }
}
