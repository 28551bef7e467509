//! A tensor of a pickle.

use std::rc::Rc;

/// A tensor as the pickle describes it, not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Tensor {
    pub(in super::super) storage: Storage,
    /// Number of values in the storage before the first value of the tensor.
    pub(in super::super) offset: i64,
    pub(in super::super) shape: Vec<i64>,
    pub(in super::super) strides: Vec<i64>,
}

/// The storage of the values of one or more tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Storage {
    /// The type of its values, as safetensors call it.
    pub(in super::super) number: &'static str,
    /// Bytes of one value.
    pub(in super::super) width: u64,
    /// The name of its record.
    pub(in super::super) key: Rc<str>,
}
